import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../src/base/storage/durable.js';
import type { Engine, EngineOptions } from '../src/base/storage/engine.js';
import { packageFolder } from '../src/base/storage/sql.js';
import { setContract } from '../src/sync/stage/journal-views.js';
import type { StageInput } from '../src/sync/stage/stage.js';
import { type JournalFolder, journalFolder } from '../src/warehouse/journal/folder.js';
import { stateFile } from '../src/warehouse/log/folder/layout.js';

export const WEBSITE_ID = '645f2e5cd8cd9b7bd8b55ab1';
/** Bytes: what readers have with the default configuration, and what a sync has. */
export const MEMORY_LIMIT = 1e9;
export const SYNC_MEMORY_LIMIT = 256e6;
const FIRST_NIGHT_MS = Date.parse('2025-01-01T02:00:00Z');
const DAY_MS = 86_400_000;

/** Stand-ins for the views that staging takes from a journal. */
const JOURNAL_VIEWS = ['listed_entries', 'doubled_urls', 'journal_windows', 'journal_reports', 'journal_search'];

/** The nights of one website, of any of which is known how the service shows every page then. */
export interface GeneratedNights {
  warehouse: string;
  /** The number of the website, if there are several. Left out: the only one, `WEBSITE_ID`. */
  website?: number;
  pages: number;
  nights: number;
  /** A page's report is fetched every so many nights, and when it changes. */
  reportEvery: number;
}

/** Makes the website's pages, from which each night is made. */
export async function makePages(engine: Engine, { pages, nights, reportEvery }: GeneratedNights): Promise<void> {
  await engine.set({ pages, nights, report_every: reportEvery });
  await engine.run(benchSql('page_url'));
  await engine.run(benchSql('website_pages'));
}

/** Makes what the service shows on one night, as `night_listing` and `night_reports`. */
export async function makeNight(engine: Engine, night: number): Promise<void> {
  await engine.set({ night });
  await engine.setTimes({ snapshot_at: snapshotAt(night) });
  for (const name of ['night_pages', 'night_listing', 'night_reports']) await engine.run(benchSql(name));
}

/** Lets staging take the night as it takes a journal, without reading one. */
export async function viewNight(engine: Engine): Promise<void> {
  await setContract(engine);
  for (const name of JOURNAL_VIEWS) await engine.run(benchSql(name));
}

/** Writes the night into the journal of a run. */
export async function writeJournal(engine: Engine, folder: JournalFolder): Promise<void> {
  await makeFolder(folder.path);
  await engine.run(benchSql('listing_lines'), { file: folder.listing });
  await engine.run(benchSql('report_lines'), { file: folder.reports });
}

/** What a run of that night hands to staging; the state before it is that of the night before. */
export function stageInput({ warehouse, website = 0 }: GeneratedNights, night: number): StageInput {
  const websiteId = website === 0 ? WEBSITE_ID : `site-${website}`;
  const folder = journalFolder(warehouse, runId(night, website), websiteId);
  const at = snapshotAt(night);
  const [snapshot_id, date] = [snapshotId(night, website), at.toISOString().slice(0, 10)];
  const ids = { run_id: folder.runId, website_id: websiteId, snapshot_id };
  const requests = { requests_sent: 5_000, requests_throttled: 0, requests_retried: 0 };
  const finished_at = new Date(at.getTime() + 2 * 3_600_000).toISOString();
  return {
    warehouse,
    folder,
    facts: {
      snapshotId: snapshot_id,
      websiteId,
      snapshotAt: at,
      date,
      listingComplete: true,
      hadComplete: night > 0,
      byInspection: false,
    },
    previousState: night > 0 ? stateFile(warehouse, websiteId, snapshotId(night - 1, website)) : null,
    snapshot: {
      ...ids,
      ...requests,
      website_name: website === 0 ? 'example.com' : `${website}.example.com`,
      snapshot_at: at.toISOString(),
      snapshot_date: date,
      finished_at,
      listing_status: 'complete',
      reports_status: 'complete',
      pages_expected: null,
      walks: 1,
      resumed: false,
      version: 'bench',
      utilisation: null,
      reports_wanted: null,
      source: 'api',
      quotas: null,
      evidence: null,
    },
    run: {
      ...ids,
      ...requests,
      started_at: at.toISOString(),
      finished_at,
      outcome: 'committed',
      error: null,
      snapshot_date: date,
    },
  };
}

export function engineOptions(temporary: string): EngineOptions {
  return { memoryLimit: SYNC_MEMORY_LIMIT, temporary };
}

export function snapshotAt(night: number): Date {
  return new Date(FIRST_NIGHT_MS + night * DAY_MS);
}

export function snapshotId(night: number, website = 0): string {
  return idOf(snapshotAt(night), 2 * website + 1);
}

function runId(night: number, website: number): string {
  return idOf(snapshotAt(night), 2 * website);
}

/** A UUIDv7: ids sort by time. */
function idOf(at: Date, rest: number): string {
  const milliseconds = at.getTime().toString(16).padStart(12, '0');
  return `${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}-7000-8000-${rest.toString().padStart(12, '0')}`;
}

export function benchSql(name: string): string {
  return readFileSync(join(packageFolder(), 'bench', 'sql', `${name}.sql`), 'utf8');
}
