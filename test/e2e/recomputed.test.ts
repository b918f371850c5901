import { describe, test } from 'vitest';
import type { FaultRates } from '../../src/app/demo/simulator/faults.js';
import type { CoverageEntry } from '../../src/source/contract/coverage.js';
import { listTableFiles, stateFile } from '../../src/warehouse/log/folder/layout.js';
import type { Table } from '../../src/warehouse/log/folder/tables.js';
import { atLength, seeds } from '../given/at-length.js';
import { startSimulator } from '../given/client-clock.js';
import { temporaryFolder } from '../given/folder.js';
import { NASTY_PATHS } from '../given/nasty-paths.js';
import { changesOf, type Row, readParquet } from '../given/parquet.js';
import { findingsOf } from '../given/verified.js';
import { noFollowers, syncWebsite } from '../given/warehouse.js';
import { asTaken, ObservedWorld, ODD_STATE } from './observed.js';
import { type PageKnown, Recomputed } from './recompute.js';

const NIGHTS = atLength(3, 5);
const PAGES = 40;
const API = { concurrency: 6 };
const WINDOW = 12;
/** Every kind that a night survives. */
const RATES: FaultRates = {
  429: 0.03,
  500: 0.03,
  503: 0.03,
  reset: 0.03,
  html: 0.02,
  invalid_json: 0.02,
  slow: 0.03,
  truncated: 0.03,
  violation: 0.04,
  wrong_url: 0.03,
};

describe('nights of faults and of pages that come, go and stand in the listing twice', () => {
  test.concurrent.for(seeds(1))('end up as the contract says (series %i)', async (seed, { expect, onTestFinished }) => {
    const websites = [{ id: 'w', pages: PAGES, paths: NASTY_PATHS, recrawled: 0.3 }];
    const simulator = await startSimulator({ seed, websites, slowBodyMs: 5, maxLimit: WINDOW }, onTestFinished);
    const warehouse = `${temporaryFolder(onTestFinished)}/warehouse`;
    const world = new ObservedWorld(simulator, seed, RATES, WINDOW);
    const recomputed = new Recomputed();
    const snapshots: string[] = [];
    for (let night = 1; night <= NIGHTS; night++) {
      world.dawn();
      const at = `2026-01-${String(night + 1).padStart(2, '0')}T02:00:00Z`;
      const { receipt } = await syncWebsite({
        baseUrl: simulator.url,
        warehouse,
        at,
        sections: { api: API },
        follow: noFollowers,
      });
      expect(receipt.reports_status).toBe('complete');
      const snapshot = receipt.snapshot_id ?? '';
      snapshots.push(snapshot);
      const rows = (table: Table) => rowsOf(warehouse, table, snapshot);
      const listed = new Map((await rows('coverage')).map((row) => [String(row['url']), asTaken(row)]));
      const refused = (await rows('rejected_records')).filter(({ source, url }) => source === 'coverage' && url);
      const taken = { listed, refused: new Set(refused.map(({ url }) => String(url))) };
      const observed = world.dusk(night, receipt.listing_status === 'complete', taken);
      expect(sorted(listed)).toEqual(sorted(observed.night.listed));

      const nightOf = (id: unknown) => (id ? snapshots.indexOf(String(id)) + 1 : null);
      const changes = recomputed.live(observed.night);
      const found = (await rows('page_versions')).flatMap(changesOf).map((row) => changeOf(row, nightOf));
      expect(found.map((change) => JSON.stringify(change)).sort()).toEqual(
        changes.map(({ url, change, from, to, since }) => JSON.stringify({ url, change, from, to, since })).sort(),
      );
      const state = await readParquet(stateFile(warehouse, 'w', snapshot));
      expect(sorted(new Map(state.map((row) => [String(row['url']), stateOf(row, nightOf)])))).toEqual(
        sorted(new Map([...recomputed.pages].map(([url, page]) => [url, expectedState(page)]))),
      );
      const { doubled_url: doubled = 0, ...drift } = driftOf(await rows('drift_observations'));
      expect(drift).toEqual(expectedDrift(observed.entries));
      expect(doubled).toBeGreaterThanOrEqual(observed.doubled.least);
      expect(doubled).toBeLessThanOrEqual(observed.doubled.most);
    }
    const wrong = (await findingsOf(warehouse)).filter(({ level }) => level !== 'lag');
    expect(wrong).toEqual([]);
  });
});

async function rowsOf(warehouse: string, table: Table, snapshot: string): Promise<Row[]> {
  const files = (await listTableFiles(warehouse, table)).filter((file) => file.includes(snapshot));
  return (await Promise.all(files.map(readParquet))).flat();
}

function sorted(rows: ReadonlyMap<string, Row>): [string, Row][] {
  return [...rows].sort(([one], [other]) => (one < other ? -1 : 1));
}

function changeOf(row: Row, nightOf: (id: unknown) => number | null): Row {
  const { url, change, from_value: from = null, to_value: to = null, from_snapshot_id: since } = row;
  return { url, change, from, to, since: nightOf(since) };
}

const LISTED = [
  'index_summary',
  'index_coverage_state',
  'canonicals_match',
  'canonicals_match_present',
  'searchengine_selected_canonical',
  'user_selected_canonical',
  'last_crawl_time',
];
const REPORTED = [
  'index_summary',
  'index_coverage_state',
  'indexing_allowed',
  'searchenginebot_primary_crawler',
  'last_crawl_time',
  'page_fetch_status',
  'blocked_by_robots_txt',
  'ever_blocked_by_robots_txt',
  'sitemaps',
  'inspection_date',
  'page_detection',
];

/** A row of `page_state`, its own moments as nights. */
function stateOf(row: Row, nightOf: (id: unknown) => number | null): Row {
  const plain = (value: unknown) => (value instanceof Date ? value.toISOString() : (value ?? null));
  const night = (time: unknown) => (time instanceof Date ? time.getUTCDate() - 1 : null);
  return {
    first: night(row['first_seen_at']),
    last: night(row['last_seen_at']),
    listedIn: nightOf(row['listed_snapshot_id']),
    listed: LISTED.map((field) => plain(row[field])),
    reportIn: nightOf(row['report_snapshot_id']),
    report: REPORTED.map((field) => plain(row[`report_${field}`])),
    wanted: row['report_wanted'] ?? null,
    absences: Number(row['absences']),
    failures: Number(row['consecutive_failures']),
    failedLast: night(row['last_failure_at']),
    gone: night(row['disappeared_at']),
    unlistedSince: night(row['unlisted_since']),
  };
}

function expectedState({ listed, report, ...page }: PageKnown): Row {
  return {
    ...page,
    listed: LISTED.map((field) => listed[field] ?? null),
    report: REPORTED.map((field) => report[field] ?? null),
  };
}

function driftOf(rows: Row[]): Record<string, number> {
  const nameOf = ({ kind, field, value }: Row) =>
    kind === 'doubled_url' ? kind : [kind, field, value].join(' ').trim();
  return Object.fromEntries(rows.map((row) => [nameOf(row), Number(row['occurrences'])]));
}

function expectedDrift(entries: CoverageEntry[]): Record<string, number> {
  const has = (field: string) => (entry: CoverageEntry) => Object.hasOwn(entry, field);
  const counts = {
    'absent_field service_link': entries.filter((entry) => !has('service_link')(entry)).length,
    'absent_field canonicals_match': entries.filter((entry) => entry.index_summary && !has('canonicals_match')(entry))
      .length,
    'unknown_field color': entries.filter(has('color')).length,
    [`new_value index_coverage_state ${ODD_STATE}`]: entries.filter((entry) => entry.index_coverage_state === ODD_STATE)
      .length,
  };
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
