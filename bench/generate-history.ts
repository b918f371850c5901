import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Engine, type EngineOptions, withEngine } from '../src/base/storage/engine.js';
import { packageFolder } from '../src/base/storage/sql.js';
import { DAY_MS, HOUR_MS } from '../src/base/time.js';
import { contractVariables } from '../src/sync/stage/journal-views.js';
import { type StageInput, stageCommit } from '../src/sync/stage/stage.js';
import { journalFolder } from '../src/warehouse/journal/folder.js';
import { commitStaged } from '../src/warehouse/log/commit.js';
import { scratchFolder, stateFile, tableFile } from '../src/warehouse/log/folder/layout.js';
import { prepareWarehouse } from '../src/warehouse/log/folder/prepare.js';

export const WEBSITE_ID = '645f2e5cd8cd9b7bd8b55ab1';
/** Bytes: what readers have with the default configuration, and what a sync has. */
export const MEMORY_LIMIT = 1e9;
const SYNC_MEMORY_LIMIT = 256e6;
const FIRST_NIGHT_MS = Date.parse('2025-01-01T02:00:00Z');
/** Make what the service shows on one night. */
const NIGHT = ['night_pages', 'night_listing', 'night_reports'];
/** Stand-ins for the views that staging takes from a journal. */
const JOURNAL_VIEWS = ['listed_entries', 'doubled_urls', 'journal_windows', 'journal_reports', 'journal_search'];

/** The nights of one website, of any of which is known how the service shows every page then. */
export interface GeneratedNights {
  warehouse: string;
  /** The number of the website, if there are several. Left out: the only one, `WEBSITE_ID`. */
  website?: number;
  pages: number;
  nights: number;
  /** How many of them are made; all, if left out. */
  made?: number;
  /** A page's report is fetched every so many nights, and when it changes. */
  reportEvery: number;
}

/**
 * Makes a warehouse of so many nights with the project's own staging and commit; only the journals are left out. Nights
 * that are there already are kept.
 */
export async function generateHistory(history: GeneratedNights): Promise<void> {
  const { warehouse, pages, nights, made = nights, reportEvery } = history;
  await prepareWarehouse(warehouse, 'UTC');
  await withEngine(engineOptions(scratchFolder(warehouse)), async (engine) => {
    await engine.set({ pages, nights, report_every: reportEvery });
    for (const name of ['page_url', 'website_pages']) await engine.run(benchSql(name));
    for (let night = 0; night < made; night++) {
      if (!existsSync(markerOf(history, night))) await commitNight(engine, history, night);
    }
  });
}

async function commitNight(engine: Engine, history: GeneratedNights, night: number): Promise<void> {
  const input = stageInput(history, night);
  await engine.set({ night, snapshot_at: snapshotAt(night), ...contractVariables() });
  for (const name of [...NIGHT, ...JOURNAL_VIEWS]) await engine.run(benchSql(name));
  await commitStaged(history.warehouse, input.folder, await stageCommit(engine, input));
  // It would be kept for an hour, and so the state of every night.
  if (input.previousState) rmSync(input.previousState);
}

function markerOf(history: GeneratedNights, night: number): string {
  const { snapshotId: id, websiteId, date } = stageInput(history, night).facts;
  return tableFile(history.warehouse, 'snapshots', { websiteId, date, id });
}

/** What a run of that night hands to staging; the state before it is that of the night before. */
function stageInput({ warehouse, website = 0 }: GeneratedNights, night: number): StageInput {
  const websiteId = website === 0 ? WEBSITE_ID : `site-${website}`;
  const run_id = idOf(night, 2 * website);
  const at = snapshotAt(night);
  const [snapshot_id, date] = [snapshotId(night, website), at.toISOString().slice(0, 10)];
  const ids = { run_id, website_id: websiteId, snapshot_id };
  const requests = { requests_sent: 5_000, requests_throttled: 0, requests_retried: 0 };
  const finished_at = new Date(at.getTime() + 2 * HOUR_MS).toISOString();
  return {
    folder: journalFolder(warehouse, run_id, websiteId),
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

function snapshotAt(night: number): Date {
  return new Date(FIRST_NIGHT_MS + night * DAY_MS);
}

export function snapshotId(night: number, website = 0): string {
  return idOf(night, 2 * website + 1);
}

/** A UUIDv7: ids sort by time. */
function idOf(night: number, rest: number): string {
  const milliseconds = snapshotAt(night).getTime().toString(16).padStart(12, '0');
  return `${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}-7000-8000-${rest.toString().padStart(12, '0')}`;
}

export function benchSql(name: string): string {
  return readFileSync(join(packageFolder(), 'bench', 'sql', `${name}.sql`), 'utf8');
}
