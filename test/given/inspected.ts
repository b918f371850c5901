import { appendFileSync, mkdirSync } from 'node:fs';
import { JournalEngine } from '../../src/sync/stage/journal-views.js';
import { stageCommit } from '../../src/sync/stage/stage.js';
import { journalFolder } from '../../src/warehouse/journal/folder.js';
import { commitStaged } from '../../src/warehouse/log/commit.js';
import { stateFile } from '../../src/warehouse/log/folder/layout.js';
import { givenSchemas } from './warehouse.js';

export const SITE = 'sc-domain:w.example';
const FIRST_NIGHT_MS = Date.parse('2025-03-01T10:00:00.000Z');
const DAY_MS = 86_400_000;

/** One night of a website of Search Console; pages are named by their paths. */
interface InspectedNight {
  lists: readonly string[];
  partial?: boolean;
  /** The coverage state that the inspection of a page finds, with the reason for it behind a `|`: `oldest` by default. Empty: no verdict. */
  inspects?: Readonly<Record<string, string>>;
  /** What else the inspection of a page says, such as its rich results. */
  extra?: Readonly<Record<string, object>>;
  /** Clicks of the last day that is final, three days before. */
  clicks?: Readonly<Record<string, number>>;
  /** Rows of `listing_sources`. */
  sources?: readonly object[];
}

export function pageOf(path: string): string {
  return `https://w.example${path}`;
}

/** Commits nights as a sync of Search Console leaves them in its journal, one a day from March 1, 2025. */
export async function commitInspected(
  warehouse: string,
  nights: readonly InspectedNight[],
  site = SITE,
): Promise<void> {
  await givenSchemas(warehouse);
  const known: Known = new Map();
  for (const [night, given] of nights.entries()) {
    await commitNight(warehouse, night, { ...given, site, known });
    for (const [path, found] of Object.entries(given.inspects ?? {}))
      known.set(path, found.startsWith('Submitted and indexed') ? 'shown' : 'ended');
  }
}

/** What pages count as, by their paths. */
type Known = Map<string, 'shown' | 'ended'>;
type Given = InspectedNight & { site: string; known: Known };

async function commitNight(warehouse: string, night: number, given: Given): Promise<void> {
  const at = new Date(FIRST_NIGHT_MS + night * DAY_MS);
  const date = at.toISOString().slice(0, 10);
  const folder = journalFolder(warehouse, idOf(night, 1, given.site), given.site);
  const snapshot_id = idOf(night, 2, given.site);
  mkdirSync(folder.path, { recursive: true });
  write(folder.listing, listingLines(given, at));
  write(folder.reports, reportLines(given, at));
  write(folder.plan, planLines(given));
  write(folder.search, searchLines(given, at));
  const ids = { run_id: folder.runId, website_id: given.site, snapshot_id };
  const requests = { requests_sent: 1, requests_throttled: 0, requests_retried: 0 };
  const times = { finished_at: at.toISOString(), snapshot_date: date };
  const input = {
    warehouse,
    folder,
    facts: {
      ...{ snapshotId: snapshot_id, websiteId: given.site, snapshotAt: at, date },
      ...{ listingComplete: !given.partial, hadComplete: night > 0, byInspection: true },
    },
    previousState: night > 0 ? stateFile(warehouse, given.site, idOf(night - 1, 2, given.site)) : null,
    snapshot: {
      ...{ ...ids, ...requests, ...times, snapshot_at: at.toISOString(), source: 'google', version: 'test' },
      ...{
        website_name: 'w.example',
        listing_status: given.partial ? 'partial' : 'complete',
        reports_status: 'budget',
        walks: 1,
        resumed: false,
      },
      ...{ pages_expected: null, utilisation: null, reports_wanted: null, quotas: null, evidence: evidenceOf(given) },
    },
    run: { ...ids, ...requests, ...times, started_at: at.toISOString(), outcome: 'committed', error: null },
  };
  const journal = new JournalEngine(folder, { memoryLimit: 256e6, temporary: folder.temporary });
  const manifest = await journal.use(1, (engine) => stageCommit(engine, input));
  journal.close();
  await commitStaged(warehouse, folder, manifest);
}

function listingLines({ lists, sources = [] }: InspectedNight, at: Date): object[] {
  const entries = lists.map((path, position) => {
    return { kind: 'entry', walk: 1, window: 1, position, url: pageOf(path), entry: { url: pageOf(path) } };
  });
  const named = sources.map((source) => ({ kind: 'source', walk: 1, window: 1, position: 0, source }));
  return [
    ...entries,
    ...named,
    { kind: 'window', walk: 1, window: 1, keep: entries.length, at: at.toISOString(), drift: [] },
  ];
}

/** As the nights before inspected the pages. */
function evidenceOf({ lists, known }: Given): string {
  const count = (as: 'shown' | 'ended' | undefined) => lists.filter((path) => known.get(path) === as).length;
  const before = { shown: count('shown'), ended: count('ended'), others: count(undefined) };
  return JSON.stringify({ pages: lists.length, today: 0, today_indexed: 0, ...before, contradicted: 0 });
}

function planLines({ inspects = {}, known }: Given): object[] {
  return Object.entries(inspects).map(([path, found], at) => {
    return { url: pageOf(path), reason: found.split('|')[1] ?? 'oldest', counts_as: known.get(path), draw: at + 1 };
  });
}

/** The last final day of search analytics, and the day after it, which may still change. */
function searchLines({ clicks }: InspectedNight, at: Date): object[] {
  if (!clicks) return [];
  return [3, 2].flatMap((daysAgo) => {
    const date = new Date(at.getTime() - daysAgo * DAY_MS).toISOString().slice(0, 10);
    const day = { date, type: 'web', is_final: daysAgo === 3 };
    const rows = Object.entries(clicks).map(([path, clicks]) => {
      return { url: pageOf(path), clicks, impressions: clicks * 20, position: 3 };
    });
    const sums = { pages: rows.length, clicks: 0, impressions: 0, is_cut: false, at: at.toISOString() };
    return [
      { kind: 'rows', ...day, rows },
      { kind: 'day', ...day, ...sums },
    ];
  });
}

function reportLines({ inspects = {}, extra = {} }: InspectedNight, at: Date): object[] {
  return Object.entries(inspects).map(([path, found]) => {
    const [state, reason = 'oldest'] = found.split('|');
    const url = pageOf(path);
    const summary = state === 'Submitted and indexed' ? 'Indexed' : state ? 'Not Indexed' : null;
    const report = {
      ...{ url, index_summary: summary, index_coverage_state: state || null, page_fetch_status: 'Successful' },
      ...(summary === 'Indexed'
        ? { searchengine_selected_canonical: url, user_selected_canonical: url, last_crawl_time: at.toISOString() }
        : {}),
    };
    const more = extra[path] ? { extra: JSON.stringify(extra[path]) } : {};
    return { kind: 'fetched', url, reason, at: new Date(at.getTime() + 60_000).toISOString(), ...more, report };
  });
}

function write(file: string, lines: readonly object[]): void {
  appendFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

/** A UUIDv7: ids sort by time. */
function idOf(night: number, what: number, site: string): string {
  const milliseconds = (FIRST_NIGHT_MS + night * DAY_MS).toString(16).padStart(12, '0');
  return `${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}-7000-8000-${String(site.length).padStart(11, '0')}${what}`;
}
