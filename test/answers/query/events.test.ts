import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { findAnalysis } from '../../../src/answers/query/catalog.js';
import { valuesOf } from '../../../src/answers/query/parameters.js';
import { Engine } from '../../../src/base/storage/engine.js';
import { createTables, viewScript } from '../../../src/warehouse/log/folder/tables.js';
import { atEnd, temporaryFolder } from '../../given/folder.js';

const CRAWLED = 'Crawled - currently not indexed';
const SUBMITTED = 'Submitted and indexed';
const ALL_TIME = { since: '2025-01-01' };

interface MadeChange {
  url: string;
  change: string;
  from: string | null;
  to: string | null;
  /** Whether the page was not crawled since the night before. */
  uncrawled?: boolean;
}

/** What changed in a snapshot, without the listing itself: enough for what is made of changes and counts alone. */
interface MadeNight {
  date: string;
  partial?: boolean;
  changes: MadeChange[];
}

/** The versions of pages that such changes come with. */
const VERSIONS = `create view page_versions as
  select
    snapshot_id,
    website_id,
    snapshot_date,
    observed_at,
    url,
    null::timestamptz as last_crawl_time,
    case
      when bool_or(change = 'disappeared') then 'gone'
      else if(bool_or(index_step(change, from_value, to_value) = 1), 'indexed', 'not_indexed')
    end as status,
    case
      when bool_or(change = 'appeared') then null
      else if(bool_or(index_step(change, from_value, to_value) = -1), 'indexed', 'not_indexed')
    end as was_status,
    any_value(from_value) filter (change = 'coverage_state') as was_index_coverage_state,
    any_value(to_value) filter (change = 'coverage_state') as index_coverage_state,
    list_concat(list(change), if(any_value(is_uncrawled), [], ['crawled'])) as changes
  from changes_made
  group by all`;

const folder = temporaryFolder();
let engine: Engine;

/** An engine of its own, in which a test makes up the nights: a year of them takes a second. */
beforeAll(async () => {
  engine = await Engine.open({ memoryLimit: 512e6, temporary: folder });
  atEnd(() => engine.close());
  await createTables(engine);
  for (const statement of [
    // The views stand on tables whose rows need not have all columns.
    'create or replace table snapshots as select * from snapshots',
    viewScript('UTC'),
    'create table changes_made as select * from page_changes',
    'create or replace view page_changes as from changes_made',
    'drop table page_versions',
    VERSIONS,
  ])
    await engine.run(statement);
});

/** The rows of an analysis over these nights. */
async function ask(nights: readonly MadeNight[], name: string, given: Record<string, string> = {}) {
  const idsOf = (date: string) => {
    return { snapshot_id: date, website_id: 'w', snapshot_at: `${date}T02:00:00Z`, snapshot_date: date };
  };
  const snapshots = nights.map(({ date, partial }) => {
    return { ...idsOf(date), listing_status: partial ? 'partial' : 'complete', files: '{"coverage_summary": {}}' };
  });
  const changes = nights.flatMap(({ date, changes }) =>
    changes.map(({ url, change, from, to, uncrawled = false }) => {
      const values = { change, from_value: from, to_value: to, is_uncrawled: uncrawled };
      return { ...idsOf(date), observed_at: `${date}T02:00:00Z`, url, ...values };
    }),
  );
  for (const [table, rows] of Object.entries<object[]>({ snapshots, changes_made: changes })) {
    const file = join(folder, `${table}.json`);
    writeFileSync(file, rows.map((row) => JSON.stringify(row)).join('\n'));
    await engine.run(`delete from ${table}`);
    await engine.run(`insert into ${table} by name from read_json('${file}', format = 'newline_delimited')`);
  }
  const analysis = findAnalysis(name);
  const values = valuesOf(analysis, new Map(Object.entries(given)), nights.at(-1)?.date ?? '');
  return engine.rows(z.record(z.string(), z.unknown()), analysis.sql, values);
}

/** So many pages of a directory leave the index on a night, and so many come in. */
function moving(directory: string, out: number, into: number, state = CRAWLED): MadeChange[] {
  return Array.from({ length: out + into }, (_, page) => {
    const url = `https://w.example${directory}${page}`;
    const [from, to] = page < out ? ['Indexed', 'Not Indexed'] : ['Not Indexed', 'Indexed'];
    const [stateBefore, stateNow] = page < out ? [SUBMITTED, state] : [state, SUBMITTED];
    return [
      { url, change: page < out ? 'deindexed' : 'indexed', from, to },
      { url, change: 'coverage_state', from: stateBefore, to: stateNow },
    ];
  }).flat();
}

/** Nights from 2025-01-01 on; null where there was none. The first listing has no changes. */
function nightsOf(found: (MadeChange[] | 'partial' | null)[]): MadeNight[] {
  return found.flatMap((changes, night) => {
    if (changes === null) return [];
    const date = new Date(Date.UTC(2025, 0, 1 + night)).toISOString().slice(0, 10);
    return changes === 'partial'
      ? [{ date, partial: true, changes: moving('/a/', 10, 0) }]
      : [{ date, changes: night === 0 ? [] : changes }];
  });
}

/** Three out and two to four in, so that their number varies as counts do. */
const quiet = (night: number) => [...moving('/a/', 2, (night * 7) % 4), ...moving('/b/', 1, 1 + (night % 2))];
const quietNights = (number: number) => Array.from({ length: number }, (_, night) => quiet(night));
const fall = [...moving('/a/', 2, 1), ...moving('/b/', 30, 1, 'Soft 404')];

async function found(nights: (MadeChange[] | 'partial' | null)[], given: Record<string, string> = {}) {
  const rows = await ask(nightsOf(nights), 'events', { ...ALL_TIME, ...given });
  return rows.map(({ snapshot_date, what, name, change }) =>
    [snapshot_date, what, ...(name ? [name] : []), change].join(' '),
  );
}

describe('an event', () => {
  test('is found by website, or by what a wider event does not cover', async () => {
    const nights = [...quietNights(20), fall];
    expect(await found(nights)).toEqual(['2025-01-21 website -30']);
    expect(await found(nights, { all_scopes: 'true' })).toEqual([
      '2025-01-21 website -30',
      '2025-01-21 directory /b/ -29',
      '2025-01-21 state Submitted and indexed -30',
      '2025-01-21 state Soft 404 29',
    ]);
  });

  test('holds what a sentence needs, and that hardly any page was crawled since', async () => {
    const eventOf = async (crawled: number) => {
      const changes = fall.map((made) => ({ ...made, uncrawled: Number(made.url.split('/').at(-1)) >= crawled }));
      return (await ask(nightsOf([...quietNights(20), changes]), 'events', ALL_TIME))[0];
    };
    expect(await eventOf(100)).toMatchObject({
      ...{ nights: 1, change: -30, direction: 'left', moved: 32, directory: '/b/', directory_pages: 30 },
      ...{ state: 'Soft 404', state_pages: 30, url: 'https://w.example/b/0' },
      sentence: '−30 indexed: 32 left, 30 of them in /b/, 30 to Soft 404 (usually +0)',
    });
    const sentenceOf = async (crawled: number) => (await eventOf(crawled))?.['sentence'];
    expect(await sentenceOf(0)).toContain(', 30 to Soft 404; none of the 32 was crawled since (usually');
    expect(await sentenceOf(1)).toContain('; 30 of the 32 were not crawled since (');
    expect(await sentenceOf(2)).not.toContain('crawled since');
  });

  test('is one of a directory alone where others make up for it', async () => {
    const traded = [...moving('/a/', 30, 0), ...moving('/b/', 0, 30)];
    expect(await found([...quietNights(20), traded])).toEqual([
      '2025-01-21 directory /a/ -30',
      '2025-01-21 directory /b/ 30',
    ]);
  });

  test('needs seven nights before it', async () => {
    expect(await found([...quietNights(7), fall])).toEqual([]);
    expect(await found([...quietNights(8), fall])).toEqual(['2025-01-09 website -30']);
  });

  test('is not what happens every week', async () => {
    const nights = Array.from({ length: 60 }, (_, night) => (night % 7 === 0 ? moving('/a/', 40, 0) : quiet(night)));
    const rows = await found(nights);
    expect(rows.filter((row) => row > '2025-02-01')).toEqual([]);
    // A far larger one of those is.
    expect(
      await found([...nights, quiet(1), quiet(2), quiet(3), moving('/a/', 150, 0)], { since: '2025-02-01' }),
    ).toEqual(['2025-03-05 website -150']);
  });

  test('is not what several nights without a listing add up to, and a partial one counts in the next', async () => {
    const falling = Array.from({ length: 20 }, () => moving('/a/', 10, 0));
    expect(await found([...falling, null, null, null, [...moving('/a/', 40, 0)]])).toEqual([]);
    expect(await found([...falling, [...moving('/a/', 40, 0)]])).toEqual(['2025-01-21 website -40']);
    expect(await found([...falling, 'partial', moving('/a/', 10, 0)])).toEqual([]);
  });

  test('is not that new pages arrive unindexed and get their first data', async () => {
    const urls = Array.from({ length: 500 }, (_, page) => `https://w.example/new/${page}`);
    const appeared = urls.map((url) => ({ url, change: 'appeared', from: null, to: null }));
    const data = urls.map((url) => ({ url, change: 'coverage_state', from: null, to: 'URL is unknown' }));
    expect(await found([...quietNights(20), appeared, data])).toEqual([]);
    const indexed = appeared.map((change) => ({ ...change, to: 'Indexed' }));
    expect(await found([...quietNights(20), indexed])).toEqual(['2025-01-21 website 500']);
  });

  test('is not that fewer pages are inspected for the first time', async () => {
    const inspected = (pages: number, night: number): MadeChange[] =>
      Array.from({ length: pages }, (_, page) => {
        return { url: `https://w.example/a/${night}-${page}`, change: 'first_data', from: null, to: 'Indexed' };
      });
    const first = quietNights(21).map((changes, night) => [...changes, ...inspected(night < 20 ? 300 : 5, night)]);
    expect(await found(first)).toEqual([]);
  });
});

const DAY_MS = 86_400_000;
const FIRST = Date.parse('2025-01-06');
const dateOf = (day: number) => new Date(FIRST + day * DAY_MS).toISOString().slice(0, 10);

/** Nights of so many days; each page appears on the second one, a Tuesday, and is indexed so many days later, if ever. */
function waitingNights(days: number, waits: (number | null)[]): MadeNight[] {
  return Array.from({ length: days }, (_, day) => ({
    date: dateOf(day),
    changes: waits.flatMap((wait, page): MadeChange[] => {
      const url = `https://w.example/${page}`;
      if (day === 1) return [{ url, change: 'appeared', from: null, to: wait === 0 ? 'Indexed' : 'Not Indexed' }];
      return wait !== null && day === 1 + wait ? [{ url, change: 'indexed', from: 'Not Indexed', to: 'Indexed' }] : [];
    }),
  }));
}

async function funnel(days: number, waits: (number | null)[]) {
  const [row] = await ask(waitingNights(days, waits), 'index_funnel', { since: '2025-01-01' });
  return row;
}

const waiting = (number: number) => Array<null>(number).fill(null);

test('the median wait is unknown until half of the pages are indexed', async () => {
  expect(await funnel(20, [5, ...waiting(18)])).toMatchObject({ indexed: 1, median_days_to_index: null });
  const nine = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  expect(await funnel(20, [...nine, ...waiting(10)])).toMatchObject({ indexed: 9, median_days_to_index: null });
  expect(await funnel(20, [...nine, 12, ...waiting(9)])).toMatchObject({ indexed: 10, median_days_to_index: 12 });
});

test('shares are of all pages, and known once the whole week is old enough', async () => {
  const waits = [0, 6, 7, 13, 14, 27, 28, ...waiting(3)];
  const known = { indexed_in_7_days: 0.3, indexed_in_14_days: 0.5, indexed_in_28_days: 0.7 };
  expect(await funnel(36, waits)).toMatchObject(known);
  expect(await funnel(22, waits)).toMatchObject({ ...known, indexed_in_28_days: null });
  expect(await funnel(13, waits)).toMatchObject({ indexed: 3, indexed_in_7_days: null, indexed_in_14_days: null });
});
