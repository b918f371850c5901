import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reader } from '../../../src/answers/query/reader.js';
import { seeds } from '../../given/at-length.js';
import { type Row, readTable } from '../../given/parquet.js';
import { randomWarehouse } from '../../given/random-world.js';
import { findingsOf } from '../../given/verified.js';
import type { BuiltWarehouse } from '../../given/warehouse.js';
import { analysisRows, openReader, rowsOf } from './given.js';

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

  afterAll(() => {
    reader.close();
    warehouse.remove();
  });

  test('index_balance is what the pages themselves give, one by one', async () => {
    const expected = listings.map(({ date, before, now, between }) => {
      const urls = new Set([...before.keys(), ...now.keys(), ...between.map(urlOf)]);
      const pages = [...urls].map((url) => {
        const [a, b] = [isIndexed(before.get(url)), isIndexed(now.get(url))];
        const step = sum(between.filter((row) => urlOf(row) === url).map(stepOf));
        return { missing: !before.has(url) || !now.has(url), left: a + step - b };
      });
      // A page that both listings hold has all of its changes.
      expect(pages.filter(({ missing, left }) => !missing && left !== 0)).toEqual([]);
      const count = (change: string) => between.filter((row) => row['change'] === change && stepOf(row) !== 0).length;
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
    const between = rows.map(({ what, name, snapshot_date, change, pages_after, expected_change, z }) => {
      return [what, name, snapshot_date, change, pages_after, expected_change, z].join(' ');
    });
    expect(between.sort()).toEqual(recomputedEvents(listings).sort());
  });

  test('deindexed_in_common is what the listings and reports before the falls give', async () => {
    const given = { ...ALL, min_pages: '1', max_p: '1', limit: 'none', reindexed: 'true' };
    const rows = await analysisRows(reader, 'deindexed_in_common', given);
    const between = rows
      .filter(({ dimension }) => DIMENSIONS.has(String(dimension)))
      .map(({ dimension, value, pages, deindexed }) => [dimension, value, pages, deindexed].join(' '));
    const monitored = await rowsOf(reader, 'select url from pages where is_monitored');
    expect(between.length).toBeGreaterThan(8);
    expect(between.sort()).toEqual((await recomputedCauses(new Set(monitored.map(urlOf)))).sort());
    const tests = rows.filter(({ dimension }) => !String(dimension).includes('+')).length;
    for (const row of rows.filter(({ dimension }) => dimension === 'directory')) {
      const all = {
        fallen: Number(row['deindexed']) / Number(row['share']),
        pages: Number(row['pages']) / Number(row['overall_share']),
      };
      const [fallen, pages] = [Math.round(all.fallen), Math.round(all.pages)];
      const exact = Math.min(1, tests * hypergeometric(Number(row['deindexed']), Number(row['pages']), fallen, pages));
      expect(Number(row['p_value'])).toBeGreaterThanOrEqual(exact * 0.999_999);
      if (exact < 0.05) expect(Number(row['p_value'])).toBeLessThan(exact * 1.5);
    }
  });

  /** Pages with a value and fallen pages with it, of the dimensions that come from listings and reports. */
  async function recomputedCauses(monitored: ReadonlySet<string>): Promise<string[]> {
    const [coverage, reports, changes] = await Promise.all(
      (['coverage', 'url_reports', 'page_changes'] as const).map((table) => readTable(warehouse.path, table)),
    );
    const lastOf = (rows: Row[], url: string, time: string, before = Number.POSITIVE_INFINITY) => {
      const at = (row: Row) => (row[time] as Date).getTime();
      const own = rows.filter((row) => urlOf(row) === url && at(row) < before);
      return own.sort((one, other) => at(one) - at(other)).at(-1);
    };
    const falls = (changes ?? []).filter(({ change }) => change === 'deindexed');
    const population = [...new Set((coverage ?? []).map(urlOf))].flatMap((url) => {
      const fall = lastOf(falls, url, 'observed_at');
      const fellAt = fall ? (fall['observed_at'] as Date).getTime() : undefined;
      const listing = lastOf(coverage ?? [], url, 'listed_at', fellAt);
      if (!fall && !(monitored.has(url) && isIndexed(listing))) return [];
      const report = lastOf(reports ?? [], url, 'fetched_at', fellAt);
      const sitemaps = [...new Set((report?.['sitemaps'] ?? []) as string[])];
      const canonical = listing?.['searchengine_selected_canonical'] ?? null;
      const kind = canonical === url ? 'self' : canonical === null ? 'none' : 'other page, same host';
      const of = (field: string) => (report ? (report[field] ?? '(none)') : '(no report)');
      const traits = [
        `coverage_state ${listing?.['index_coverage_state'] ?? '(none)'}`,
        `canonical ${kind}`,
        `fetch_status ${of('page_fetch_status')}`,
        `blocked_by_robots ${of('blocked_by_robots_txt')}`,
        ...(sitemaps.length > 0 ? sitemaps : [report ? '(none)' : '(no report)']).map((one) => `sitemap ${one}`),
      ];
      return traits.map((trait) => ({ trait, fell: fall !== undefined }));
    });
    return [...new Set(population.map(({ trait }) => trait))].flatMap((trait) => {
      const pages = population.filter((one) => one.trait === trait);
      const fell = pages.filter((one) => one.fell).length;
      return fell === 0 ? [] : [`${trait} ${pages.length} ${fell}`];
    });
  }
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
    const between = (changes ?? []).filter((row) => timeOf(row) > timeOf(before) && timeOf(row) <= timeOf(now));
    const nights = (Date.parse(dateOf(now)) - Date.parse(dateOf(before))) / DAY_MS;
    return [{ date: dateOf(now), nights, before: pagesOf(before), now: pagesOf(now), between }];
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

/** How likely so many or more of the drawn ones are among those with a value. */
function hypergeometric(least: number, having: number, drawn: number, all: number): number {
  let chance = 0;
  for (let k = least; k <= Math.min(having, drawn); k++)
    chance += (choose(having, k) * choose(all - having, drawn - k)) / choose(all, drawn);
  return chance;
}

function choose(from: number, some: number): number {
  let ways = 1;
  for (let k = 1; k <= some; k++) ways *= (from - some + k) / k;
  return some > from ? 0 : ways;
}

/** To one decimal, half away from zero as SQL does. */
function rounded(number: number): number {
  const tenths = Math.round(Math.abs(number) * 10) / 10;
  return tenths === 0 ? 0 : Math.sign(number) * tenths;
}
