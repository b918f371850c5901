import { z } from 'zod';
import type { Engine } from '../../base/storage/engine.js';
import { sql } from '../../base/storage/sql.js';
import { THINNED_TABLES, type ThinnedTable } from '../log/folder/tables.js';
import type { Log } from '../log/log.js';
import { fileOf, filesOf, type Marker } from '../log/markers.js';

const MONTH_LENGTH = 7;

/**
 * Why a file stays, or that it goes:
 *
 * - `goes`: nothing needs it.
 * - `recent`: it is not old enough.
 * - `last_of_month`: the last complete snapshot of its calendar month that has rows of the table, as answers compare
 *   months; without a complete one, the last.
 * - `newest_listing`: the website's newest complete listing.
 * - `last_listings`: pages that are monitored were not listed since.
 * - `newest_reports`: it holds the newest report of a page, or what its newest inspection found.
 * - `newest_days`: it holds days of search analytics that were not fetched again.
 */
const FATES = [
  'goes',
  'recent',
  'last_of_month',
  'newest_listing',
  'last_listings',
  'newest_reports',
  'newest_days',
] as const;
export type Fate = (typeof FATES)[number];

/**
 * What the age of a website's files of one table decides. Those that go may still hold something that must stay.
 *
 * @param markers all of the website, oldest first
 * @param dailyFrom `YYYY-MM-DD`: snapshots of this date and later are all kept
 */
export function thin(markers: readonly Marker[], table: ThinnedTable, dailyFrom: string): Map<Marker, Fate> {
  const having = markers.filter((marker) => Object.hasOwn(marker.files, table));
  const newest = markers.findLast(({ listingComplete }) => listingComplete);
  const last = lastOfEachMonth(having);
  const fateOf = (marker: Marker): Fate => {
    if (marker.date >= dailyFrom) return 'recent';
    if (table === 'coverage' && marker === newest) return 'newest_listing';
    return last.has(marker) ? 'last_of_month' : 'goes';
  };
  return new Map(having.map((marker) => [marker, fateOf(marker)]));
}

function lastOfEachMonth(snapshots: readonly Marker[]): Set<Marker> {
  const last = new Map<string, Marker>();
  for (const marker of snapshots) {
    const month = marker.date.slice(0, MONTH_LENGTH);
    if (marker.listingComplete || !last.get(month)?.listingComplete) last.set(month, marker);
  }
  return new Set(last.values());
}

/** A Parquet file, and what is decided for it. */
export interface PlannedFile {
  marker: Marker;
  table: ThinnedTable;
  file: string;
  rows: number;
  bytes: number;
  fate: Fate;
}

export interface PlanInput {
  log: Log;
  engine: Engine;
  /** All of one website, oldest first. */
  markers: readonly Marker[];
  dailyFrom: string;
  /** The state after the newest of them. */
  state: string;
}

/** What happens to each file of one website, by table and oldest first. Nothing is written. */
export async function planFiles(input: PlanInput): Promise<PlannedFile[]> {
  const planned: PlannedFile[] = [];
  for (const table of THINNED_TABLES) {
    const fates = thin(input.markers, table, input.dailyFrom);
    const candidates = [...fates].flatMap(([marker, fate]) => (fate === 'goes' ? [marker] : []));
    const needed = await neededCommits(input, table, candidates);
    for (const [marker, fate] of fates) {
      const isNeeded = fate === 'goes' && needed.has(marker.snapshotId);
      const file = fileOf(input.log.path, marker, table);
      const { rows = 0, bytes = 0 } = marker.files[table] ?? {};
      planned.push({ marker, table, file, rows, bytes, fate: isNeeded ? NEEDED[table].fate : fate });
    }
  }
  return planned;
}

/** What must stay of a table, however old it is: the statement that finds it, and the name of that reason. */
const NEEDED = {
  coverage: { statement: 'warehouse/maintain/last_listings', fate: 'last_listings' },
  url_reports: { statement: 'warehouse/maintain/newest_reports', fate: 'newest_reports' },
  search_fresh: { statement: 'warehouse/maintain/newest_days', fate: 'newest_days' },
  rich_results: { statement: 'warehouse/maintain/newest_reports', fate: 'newest_reports' },
  referring_urls: { statement: 'warehouse/maintain/newest_reports', fate: 'newest_reports' },
} as const satisfies Record<ThinnedTable, { statement: string; fate: Fate }>;

async function neededCommits(
  { log, engine, markers, state }: PlanInput,
  table: ThinnedTable,
  candidates: Marker[],
): Promise<Set<string>> {
  if (candidates.length === 0) return new Set();
  const files = filesOf(log.path, candidates, table);
  const fetches = table === 'search_fresh' ? filesOf(log.path, markers, 'search_fetches') : [];
  const find = async () => {
    await engine.view('candidates', log.query(table, files));
    await engine.view('search_fetches', log.query('search_fetches', fetches));
    await engine.view('page_state', log.query('page_state', [state]));
    return engine.rows(z.object({ snapshot_id: z.string() }), sql(NEEDED[table].statement));
  };
  const rows = await log.needing('search_fetches', fetches, () => log.needing(table, files, find));
  return new Set(rows.map(({ snapshot_id }) => snapshot_id));
}

/** What happened to the files of one website, by table, as `maintain --json` prints it. */
export function thinnedTables(websiteId: string, planned: readonly PlannedFile[]) {
  return THINNED_TABLES.flatMap((table) => {
    const own = planned.filter((file) => file.table === table);
    if (own.length === 0) return [];
    const goes = own.filter(({ fate }) => fate === 'goes');
    const dates = goes.map(({ marker }) => marker.date).sort();
    const kept = FATES.flatMap((fate) => {
      const staying = own.filter((file) => file.fate === fate);
      return fate === 'goes' || staying.length === 0 ? [] : [{ reason: fate, ...sumOf(staying) }];
    });
    const ends = { first_date: dates.at(0) ?? null, last_date: dates.at(-1) ?? null };
    return [{ website_id: websiteId, table, ...sumOf(goes), ...ends, kept }];
  });
}

function sumOf(files: readonly PlannedFile[]) {
  return {
    files: files.length,
    rows: files.reduce((all, { rows }) => all + rows, 0),
    bytes: files.reduce((all, { bytes }) => all + bytes, 0),
  };
}
