import { beforeAll, describe, expect, test } from 'vitest';
import { describeAtLength, once } from '../../given/at-length.js';
import { type MadeChange, type MadeNight, MadeNights, simulatedNights } from './made-nights.js';

const CRAWLED = 'Crawled - currently not indexed';
const SUBMITTED = 'Submitted and indexed';
const ALL_TIME = { since: '2025-01-01' };

let warehouse: MadeNights;

beforeAll(async () => {
  warehouse = await MadeNights.open();
});

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
  const rows = await warehouse.ask(nightsOf(nights), 'events', { ...ALL_TIME, ...given });
  return rows.map(({ snapshot_date, what, name, change }) =>
    [snapshot_date, what, ...(name ? [name] : []), change].join(' '),
  );
}

function isSoonAfter(date: unknown, since: string): boolean {
  const days = (Date.parse(String(date)) - Date.parse(since)) / 86_400_000;
  return days > 0 && days <= 7;
}

once('the first event is one of the ninth listing', async () => {
  expect(await found([[], ...quietNights(6), fall])).toEqual([]);
  expect(await found([[], ...quietNights(7), fall])).toContainEqual(expect.stringMatching(/^2025-01-09 website/));
});

describeAtLength('a simulated year', () => {
  const worlds: [number, number, number][] = [
    [500, 1, 365],
    [5_000, 1, 150],
  ];

  test.each(worlds)('of %i pages (seed %i) shows its incident and few quiet nights', async (pages, seed, nights) => {
    const deindexing = { night: nights - 100, directory: '/blog/', share: 0.5 };
    const simulated = simulatedNights(nights, { seed, websites: [{ id: 'w', pages, deindexing }] });
    const rows = await warehouse.ask(simulated, 'events', ALL_TIME);
    const { date } = simulated[deindexing.night - 1] ?? { date: '' };
    const [incident] = rows.filter((row) => row['snapshot_date'] === date);
    expect(incident).toMatchObject({ what: 'website', directory: '/blog/', state: CRAWLED, direction: 'left' });
    // In the nights after it, pages come back into what had fallen.
    const others = rows.filter(({ snapshot_date }) => snapshot_date !== date);
    const back = others.filter((row) => row['direction'] === 'came' && isSoonAfter(row['snapshot_date'], date));
    expect(back.filter((row) => row['directory'] !== '/blog/')).toEqual([]);
    expect(others.length - back.length).toBeLessThanOrEqual(2);
  });
});

describe('an event', () => {
  once('is found by website, or by what a wider event does not cover', async () => {
    const nights = [...quietNights(20), fall];
    expect(await found(nights)).toEqual(['2025-01-21 website -30']);
    expect(await found(nights, { all_scopes: 'true' })).toEqual([
      '2025-01-21 website -30',
      '2025-01-21 directory /b/ -29',
      '2025-01-21 state Submitted and indexed -30',
      '2025-01-21 state Soft 404 29',
    ]);
  });

  once('holds what a sentence needs', async () => {
    const [row] = await warehouse.ask(nightsOf([...quietNights(20), fall]), 'events', ALL_TIME);
    expect(row).toMatchObject({
      nights: 1,
      change: -30,
      direction: 'left',
      moved: 32,
      directory: '/b/',
      directory_pages: 30,
      state: 'Soft 404',
      state_pages: 30,
      url: 'https://w.example/b/0',
      sentence: '−30 indexed: 32 left, 30 of them in /b/, 30 to Soft 404 (usually +0)',
    });
  });

  once('of which hardly any page was crawled since says so', async () => {
    const sentenceOf = async (crawled: number) => {
      const changes = fall.map((made) => ({ ...made, uncrawled: Number(made.url.split('/').at(-1)) >= crawled }));
      const [row] = await warehouse.ask(nightsOf([...quietNights(20), changes]), 'events', ALL_TIME);
      return row?.['sentence'];
    };
    expect(await sentenceOf(0)).toContain(', 30 to Soft 404; none of the 32 was crawled since (usually');
    expect(await sentenceOf(1)).toContain('; 30 of the 32 were not crawled since (');
    expect(await sentenceOf(2)).not.toContain('crawled since');
  });

  once('is one of a directory alone where others make up for it, and of a state where the index stays', async () => {
    const traded = [...moving('/a/', 30, 0), ...moving('/b/', 0, 30)];
    expect(await found([...quietNights(20), traded])).toEqual([
      '2025-01-21 directory /a/ -30',
      '2025-01-21 directory /b/ 30',
    ]);
    const resubmitted = Array.from({ length: 30 }, (_, page) => ({
      url: `https://w.example/a/${page}`,
      change: 'coverage_state',
      from: SUBMITTED,
      to: 'Indexed, not submitted in sitemap',
    }));
    expect(await found([...quietNights(20), resubmitted])).toEqual([
      '2025-01-21 state Indexed, not submitted in sitemap 30',
    ]);
  });

  once('needs seven nights before it', async () => {
    expect(await found([...quietNights(7), fall])).toEqual([]);
    expect(await found([...quietNights(8), fall])).toEqual(['2025-01-09 website -30']);
  });

  once('is not what happens every week', async () => {
    const nights = Array.from({ length: 60 }, (_, night) => (night % 7 === 0 ? moving('/a/', 40, 0) : quiet(night)));
    const rows = await found(nights);
    expect(rows.filter((row) => row > '2025-02-01')).toEqual([]);
    // A far larger one of those is.
    expect(
      await found([...nights, quiet(1), quiet(2), quiet(3), moving('/a/', 150, 0)], { since: '2025-02-01' }),
    ).toEqual(['2025-03-05 website -150']);
  });

  once('is not what several nights without a listing add up to, and a partial one counts in the next', async () => {
    const falling = Array.from({ length: 20 }, () => moving('/a/', 10, 0));
    expect(await found([...falling, null, null, null, [...moving('/a/', 40, 0)]])).toEqual([]);
    expect(await found([...falling, [...moving('/a/', 40, 0)]])).toEqual(['2025-01-21 website -40']);
    expect(await found([...falling, 'partial', moving('/a/', 10, 0)])).toEqual([]);
  });

  once('is not that new pages arrive unindexed and get their first data', async () => {
    const urls = Array.from({ length: 500 }, (_, page) => `https://w.example/new/${page}`);
    const appeared = urls.map((url) => ({ url, change: 'appeared', from: null, to: null }));
    const data = urls.map((url) => ({ url, change: 'coverage_state', from: null, to: 'URL is unknown' }));
    expect(await found([...quietNights(20), appeared, data])).toEqual([]);
    const indexed = appeared.map((change) => ({ ...change, to: 'Indexed' }));
    expect(await found([...quietNights(20), indexed])).toEqual(['2025-01-21 website 500']);
  });

  once('is not that fewer pages are inspected for the first time', async () => {
    const inspected = (pages: number, night: number) =>
      Array.from({ length: pages }, (_, page) => {
        const url = `https://w.example/a/inspected-${night}-${page}`;
        return { url, change: 'first_data', from: null, to: 'Indexed' };
      });
    const first = quietNights(21).map((changes, night) => [...changes, ...inspected(night < 20 ? 300 : 5, night)]);
    expect(await found(first)).toEqual([]);
  });

  once('is that something stops, and is found again only until it is usual', async () => {
    const growing = Array.from({ length: 20 }, () => moving('/a/', 0, 40));
    const rows = await found([...growing, ...quietNights(20)]);
    expect(rows[rows.length - 1]).toMatch(/^2025-01-21 website/);
    expect(rows.length).toBeLessThanOrEqual(5);
  });
});
