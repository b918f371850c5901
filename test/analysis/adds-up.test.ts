import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reader } from '../../src/analysis/reader.js';
import { atLength, seeds } from '../given/at-length.js';
import { type Row, readTable } from '../given/parquet.js';
import { randomWarehouse } from '../given/random-world.js';
import { findingsOf } from '../given/verified.js';
import type { BuiltWarehouse } from '../given/warehouse.js';
import { analysisRows, openReader } from './given.js';

const NIGHTS = atLength(12, 30);
const DAY_MS = 86_400_000;
const ALL = { since: '2025-01-01' };

/** A complete listing that stands for its date, from the bare files, with what the snapshots since the one before told. */
interface Listing {
  date: string;
  /** Days since the one before. */
  nights: number;
  before: Map<string, Row>;
  now: Map<string, Row>;
  told: Row[];
}

describe.each(seeds(1))('in world %i', (seed) => {
  let warehouse: BuiltWarehouse;
  let reader: Reader;
  let listings: Listing[];

  beforeAll(async () => {
    warehouse = await randomWarehouse(seed + 100, NIGHTS, 25);
    reader = await openReader(warehouse.path);
    listings = await listingsOf(warehouse.path);
  });

  afterAll(() => {
    reader.close();
    warehouse.remove();
  });

  test('index_balance is what the pages themselves give, one by one', async () => {
    const expected = listings.map(({ date, before, now, told }) => {
      const urls = new Set([...before.keys(), ...now.keys(), ...told.map(urlOf)]);
      const pages = [...urls].map((url) => {
        const [a, b] = [isIndexed(before.get(url)), isIndexed(now.get(url))];
        const step = sum(told.filter((row) => urlOf(row) === url).map(stepOf));
        return { missing: !before.has(url) || !now.has(url), left: a + step - b };
      });
      // A page that both listings hold is told about completely.
      expect(pages.filter(({ missing, left }) => !missing && left !== 0)).toEqual([]);
      const count = (change: string) => told.filter((row) => row['change'] === change && stepOf(row) !== 0).length;
      return {
        snapshot_date: date,
        indexed_before: [...before.values()].filter(isIndexed).length,
        newly_indexed: count('indexed'),
        appeared_indexed: count('appeared'),
        deindexed: count('deindexed'),
        data_lost: count('data_lost'),
        gone: count('disappeared'),
        unlisted: sum(pages.map(({ left }) => left)),
        indexed: [...now.values()].filter(isIndexed).length,
      };
    });
    const rows = await analysisRows(reader, 'index_balance', ALL);
    expect(rows).toEqual(expected.map((row) => expect.objectContaining(row)));
    for (const key of ['newly_indexed', 'appeared_indexed', 'deindexed', 'data_lost', 'gone'] as const)
      expect([key, sum(expected.map((row) => row[key]))]).not.toEqual([key, 0]);
    expect(expected.filter(({ unlisted }) => unlisted !== 0).length).toBeGreaterThan(0);

    const [total] = await analysisRows(reader, 'index_balance', { ...ALL, total: 'true' });
    const whole = (key: 'newly_indexed' | 'unlisted') => sum(expected.map((row) => row[key]));
    expect(total).toMatchObject({
      before_date: rows[0]?.['before_date'],
      indexed_before: expected[0]?.indexed_before,
      newly_indexed: whole('newly_indexed'),
      unlisted: whole('unlisted'),
      indexed: expected.at(-1)?.indexed,
    });
  });

  test('verify finds that it adds up', async () => {
    const findings = await findingsOf(warehouse.path);
    expect(findings.filter(({ level }) => level === 'difference')).toEqual([]);
  });

  test('events are what the bare changes give', async () => {
    const rows = await analysisRows(reader, 'events', { ...ALL, min_z: '0', min_pages: '1', all_scopes: 'true' });
    expect(rows.length).toBeGreaterThan(2);
    const told = rows.map(({ what, name, snapshot_date, change, pages_after, expected_change, z }) => {
      return [what, name, snapshot_date, change, pages_after, expected_change, z].join(' ');
    });
    expect(told.sort()).toEqual(recomputedEvents(listings).sort());
  });
});

async function listingsOf(warehouse: string): Promise<Listing[]> {
  const [snapshots, coverage, changes] = await Promise.all(
    (['snapshots', 'coverage', 'page_changes'] as const).map((table) => readTable(warehouse, table)),
  );
  const timeOf = (row: Row) => (row['snapshot_at'] as Date).getTime();
  const dateOf = (row: Row) => new Date(timeOf(row)).toISOString().slice(0, 10);
  const complete = (snapshots ?? []).filter((row) => row['listing_status'] === 'complete');
  const last = new Map(complete.sort((a, b) => timeOf(a) - timeOf(b)).map((row) => [dateOf(row), row]));
  const pagesOf = ({ snapshot_id: id }: Row) =>
    new Map((coverage ?? []).filter((row) => row['snapshot_id'] === id).map((row) => [urlOf(row), row]));
  return [...last.values()].flatMap((now, at, all) => {
    const before = all[at - 1];
    if (!before) return [];
    const told = (changes ?? []).filter((row) => timeOf(row) > timeOf(before) && timeOf(row) <= timeOf(now));
    const nights = (Date.parse(dateOf(now)) - Date.parse(dateOf(before))) / DAY_MS;
    return [{ date: dateOf(now), nights, before: pagesOf(before), now: pagesOf(now), told }];
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
  const steps = listings.map(({ told }) => told.flatMap(scopesOf));
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
      const usual = quantile(
        past.map(({ rate }) => rate),
        0.5,
      );
      const off = past.map(({ rate }) => Math.abs(rate - usual));
      const perNight = Math.max(
        1.4826 * quantile(off, 0.5),
        Math.sqrt(
          quantile(
            past.map(({ moves }) => moves),
            0.5,
          ),
        ),
        0.4 * quantile(off, 0.9),
        1,
      );
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
