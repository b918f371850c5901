import { beforeAll, describe, expect, test } from 'vitest';
import type { Reader } from '../../../src/answers/query/reader.js';
import { seeds } from '../../given/at-length.js';
import { type Row, readTable } from '../../given/parquet.js';
import { randomWarehouse } from '../../given/random-world.js';
import type { BuiltWarehouse } from '../../given/warehouse.js';
import { movedIn, snapshotsOf } from '../index-truth.js';
import { analysisRows, openReader } from './given.js';

const NIGHTS = 16;
const DAY_MS = 86_400_000;
const ALL = { since: '2025-01-01' };
const DIMENSIONS = new Set(['coverage_state', 'canonical', 'fetch_status', 'blocked_by_robots', 'sitemap']);

/** A complete listing that stands for its date, from the bare files, with the changes of the snapshots since the one before. */
interface Listing {
  date: string;
  /** Days since the one before. */
  nights: number;
  before: Map<string, Row>;
  now: Map<string, Row>;
  between: Row[];
}

describe.each(seeds(1, 0.04))('in world %i', (seed) => {
  let warehouse: BuiltWarehouse;
  let reader: Reader;
  let listings: Listing[];

  beforeAll(async () => {
    warehouse = await randomWarehouse(seed + 100, NIGHTS, 25);
    reader = await openReader(warehouse.path);
    listings = await listingsOf(warehouse.path);
  });

  test('events are what the bare changes give', async () => {
    const rows = await analysisRows(reader, 'events', { ...ALL, min_z: '0', min_pages: '1', all_scopes: 'true' });
    expect(rows.length).toBeGreaterThan(2);
    const between = rows.map(({ what, name, snapshot_date, change, pages_after, expected_change, z }) => {
      return [what, name, snapshot_date, change, pages_after, expected_change, z].join(' ');
    });
    expect(between.sort()).toEqual(recomputedEvents(listings).sort());
  });

  test('deindexed_in_common is what the listing and the reports before the falls give', async () => {
    const since = listings[3]?.date ?? '';
    const given = { since, min_pages: '1', min_share: '0', min_lift: '0', limit: 'none' };
    const rows = await analysisRows(reader, 'deindexed_in_common', given);
    const between = rows
      .filter(({ dimension }) => DIMENSIONS.has(String(dimension)))
      .map(({ dimension, value, pages, fell_out }) => [dimension, value, pages, fell_out].join(' '));
    expect(between.length).toBeGreaterThan(8);
    expect(between.sort()).toEqual((await recomputedCauses(since)).sort());
  });

  /** Pages with a value and fallen pages with it, of the dimensions that come from listings and reports. */
  async function recomputedCauses(since: string): Promise<string[]> {
    const [coverage = [], reports = []] = await Promise.all(
      (['coverage', 'url_reports'] as const).map((table) => readTable(warehouse.path, table)),
    );
    const period = movedIn(await snapshotsOf(warehouse.path), since, '2026-01-01');
    if (!period) throw new Error(`no listing before ${since}`);
    const { before, indexedBefore, fellOut } = period;
    const population = indexedBefore.flatMap((url) => {
      const own = (row: Row) => urlOf(row) === url;
      const listing = coverage.find((row) => own(row) && row['snapshot_id'] === before.snapshotId);
      const report = reports
        .filter((row) => own(row) && String(row['snapshot_id']) <= before.snapshotId)
        .sort((one, other) => Number(one['fetched_at']) - Number(other['fetched_at']))
        .at(-1);
      const sitemaps = [...new Set((report?.['sitemaps'] ?? []) as string[])];
      const canonical = listing?.['searchengine_selected_canonical'] ?? null;
      const kind = canonical === url ? 'self' : canonical === null ? 'none' : 'other page, same host';
      const of = (field: string) => (report ? (report[field] ?? '(none)') : '(no report)');
      const traits = [
        `coverage_state ${listing ? (listing['index_coverage_state'] ?? '(none)') : '(not kept)'}`,
        `canonical ${listing ? kind : '(not kept)'}`,
        `fetch_status ${of('page_fetch_status')}`,
        `blocked_by_robots ${of('blocked_by_robots_txt')}`,
        ...(sitemaps.length > 0 ? sitemaps : [report ? '(none)' : '(no report)']).map((one) => `sitemap ${one}`),
      ];
      return traits.map((trait) => ({ trait, fell: fellOut.includes(url) }));
    });
    return [...new Set(population.map(({ trait }) => trait))].flatMap((trait) => {
      const pages = population.filter((one) => one.trait === trait);
      const fell = pages.filter((one) => one.fell).length;
      return fell === 0 ? [] : [`${trait} ${pages.length} ${fell}`];
    });
  }
});

async function listingsOf(warehouse: string): Promise<Listing[]> {
  const changes = await readTable(warehouse, 'page_changes');
  const complete = (await snapshotsOf(warehouse)).filter(({ isComplete }) => isComplete);
  const last = new Map(complete.map((snapshot) => [snapshot.date, snapshot]));
  return [...last.values()].flatMap((now, at, all) => {
    const before = all[at - 1];
    if (!before) return [];
    const between = changes.filter(({ snapshot_id: id }) => {
      return String(id) > before.snapshotId && String(id) <= now.snapshotId;
    });
    const nights = (Date.parse(now.date) - Date.parse(before.date)) / DAY_MS;
    return [{ date: now.date, nights, before: before.pages, now: now.pages, between }];
  });
}

function urlOf(row: Row): string {
  return String(row['url']);
}

function isIndexed(row: Row | undefined): number {
  return row?.['index_summary'] === 'Indexed' ? 1 : 0;
}

/** What a change does to the number of indexed pages. */
function stepOf({ change, from_value: from, to_value: to }: Row): number {
  if (change === 'indexed' || change === 'appeared') return to === 'Indexed' ? 1 : 0;
  return ['deindexed', 'data_lost', 'disappeared'].includes(String(change)) && from === 'Indexed' ? -1 : 0;
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** The steps of each scope that a row of `page_changes` is part of: `website `, `directory /a/`, `state Soft 404`. */
function scopesOf(row: Row): [scope: string, step: number][] {
  const { change, from_value: from, to_value: to } = row;
  if (change === 'coverage_state' && from && to)
    return [
      [`state ${from}`, -1],
      [`state ${to}`, 1],
    ];
  const step = stepOf(row);
  const directory = /^https:\/\/[^/]+(\/(?:[^/]+\/)?)/.exec(urlOf(row))?.[1];
  return step === 0
    ? []
    : [
        ['website ', step],
        [`directory ${directory}`, step],
      ];
}

function recomputedEvents(listings: Listing[]): string[] {
  const steps = listings.map(({ between }) => between.flatMap(scopesOf));
  const scopes = [...new Set(steps.flatMap((night) => night.map(([scope]) => scope)))];
  return scopes.flatMap((scope) => {
    const moved = steps.map((night) => night.filter(([one]) => one === scope).map(([, step]) => step));
    const series = listings.map(({ nights }, at) => {
      const own = moved[at] ?? [];
      return { nights, change: sum(own), rate: sum(own) / nights, moves: own.length / nights };
    });
    if (!series.some(({ change }) => change !== 0)) return [];
    return series.flatMap(({ nights, change }, at) => {
      const past = series.slice(Math.max(0, at - 28), at);
      if (past.length < 7) return [];
      const rates = past.map(({ rate }) => rate);
      const moves = past.map((night) => night.moves);
      const usual = quantile(rates, 0.5);
      const off = rates.map((rate) => Math.abs(rate - usual));
      const least = Math.max(Math.sqrt(quantile(moves, 0.5)), 1);
      const perNight = Math.max(1.4826 * quantile(off, 0.5), 0.4 * quantile(off, 0.9), least);
      const deviation = perNight * Math.sqrt(nights * (1 + (1.6 * nights) / past.length));
      const beyond = change - usual * nights;
      if (Math.abs(beyond) < 1) return [];
      const date = listings[at]?.date;
      const after = [...(listings[at]?.now.values() ?? [])].filter((row) => isOf(scope, row)).length;
      return [[scope, date, change, after, rounded(usual * nights), rounded(beyond / deviation)].join(' ')];
    });
  });
}

function isOf(scope: string, row: Row): boolean {
  if (scope.startsWith('state ')) return scope === `state ${row['index_coverage_state']}`;
  const directory = /^https:\/\/[^/]+(\/(?:[^/]+\/)?)/.exec(urlOf(row))?.[1];
  return isIndexed(row) === 1 && (scope === 'website ' || scope === `directory ${directory}`);
}

function quantile(numbers: number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)] ?? 0, sorted[Math.ceil(at)] ?? 0];
  return low + (high - low) * (at - Math.floor(at));
}

/** To one decimal, half away from zero as SQL does. */
function rounded(number: number): number {
  const tenths = Math.round(Math.abs(number) * 10) / 10;
  return tenths === 0 ? 0 : Math.sign(number) * tenths;
}
