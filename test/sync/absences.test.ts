import { beforeAll, describe, expect, it } from 'vitest';
import { once, testAtLength } from '../given/at-length.js';
import { givenNights, type NightEnd, type Nights } from '../given/nights.js';
import type { Row } from '../given/parquet.js';

const LISTING_ONLY = { reports: { max_per_run: 0 } };
const INDEXED = { index_summary: 'Indexed' };
const CRAWLED = { ...INDEXED, last_crawl_time: '2025-02-01T00:00:00.000Z' };
const BACK = { index_summary: 'Not Indexed', last_crawl_time: '2025-03-01T00:00:00.000Z' };
/** An entry that breaks the contract and still says which page it is. */
const BROKEN = { index_summary: 5 };

/** Some columns of a page's state. */
function pick(row: Row | undefined, ...columns: string[]): unknown[] {
  return columns.map((column) => row?.[column] ?? null);
}

/** Five nights with complete listings: what each page is then, in the listing and in its report. */
const STORIES: Record<string, { listed: (object | null)[]; reports?: (object | number)[] }> = {
  stays: { listed: [INDEXED, INDEXED, INDEXED, INDEXED, INDEXED] },
  unasked: { listed: [INDEXED, null, null, null, null], reports: [{}, 400, 400, 400, 400] },
  denied: { listed: [INDEXED, null, null, null, null], reports: [{}, 404, 404, 404, 404] },
  hidden: { listed: [INDEXED, null, null, null, INDEXED], reports: [{}, {}, {}, {}, {}] },
  once: { listed: [CRAWLED, null, BACK, BACK, BACK], reports: [{}, 400, {}, {}, {}] },
  twice: { listed: [CRAWLED, null, null, BACK, INDEXED], reports: [{}, 400, 400, {}, {}] },
  refused: { listed: [INDEXED, BROKEN, BROKEN, BROKEN, BACK] },
  newcomer: { listed: [null, null, null, CRAWLED, CRAWLED] },
  latecomer: { listed: [null, BROKEN, BROKEN, INDEXED, BACK] },
  returned: { listed: [CRAWLED, null, null, BROKEN, BACK], reports: [{}, 400, 400, {}, {}] },
  flicker: { listed: [CRAWLED, null, BROKEN, BACK, BACK], reports: [{}, 400, {}, {}, {}] },
  unreadable: { listed: [BROKEN, INDEXED, INDEXED, INDEXED, INDEXED] },
};

describe('a page that complete listings lack', () => {
  const ends: NightEnd[] = [];
  let given: Nights;
  beforeAll(async () => {
    given = await givenNights();
    for (const night of [0, 1, 2, 3, 4]) {
      const stories = Object.entries(STORIES);
      const listed = stories.flatMap(([name, { listed }]) => (listed[night] ? [[name, listed[night]]] : []));
      const reports = stories.flatMap(([name, story]) => (story.reports ? [[name, story.reports[night]]] : []));
      ends.push(
        await given.night({
          list: Object.fromEntries(listed),
          reports: Object.fromEntries(reports),
        }),
      );
    }
  });

  /** The changes of a page, by night. */
  const changesOf = (name: string) =>
    ends.map(({ changes }) => changes.filter((change) => change.startsWith(`${name} `)));
  /** Some columns of its state, by night; from the second on. */
  const state = (name: string, ...columns: string[]) =>
    ends.map((end) => pick(end.state.get(name), ...columns)).slice(1);

  once('disappears with the first of them, and is given up when two in a row lack it', () => {
    expect(changesOf('unasked')).toEqual([[], ['unasked disappeared: Indexed → – (since night 1)'], [], [], []]);
    const columns = ['absences', 'disappeared_at', 'last_seen_at', 'consecutive_failures', 'index_summary'];
    expect(state('unasked', ...columns)).toEqual([
      [1, null, given.at(1), 1, 'Indexed'],
      [2, given.at(3), given.at(1), 2, 'Indexed'],
      [3, given.at(3), given.at(1), 2, 'Indexed'],
      [4, given.at(3), given.at(1), 2, 'Indexed'],
    ]);
  });

  once('is given up that night where its report says so too', () => {
    expect(changesOf('denied')).toEqual([[], ['denied disappeared: Indexed → – (since night 1)'], [], [], []]);
    expect(state('denied', 'disappeared_at')).toEqual(Array(4).fill([given.at(2)]));
  });

  once('is asked for first, until it is given up', () => {
    const asked = (night: number, name: string) => ends[night - 1]?.asked.includes(name);
    expect([2, 3, 4].map((night) => [asked(night, 'unasked'), asked(night, 'denied'), asked(night, 'hidden')])).toEqual(
      [
        [true, true, true],
        [true, false, true],
        [false, false, true],
      ],
    );
  });

  once('is not given up while its report answers', () => {
    expect(changesOf('hidden')).toEqual([
      [],
      ['hidden disappeared: Indexed → – (since night 1)'],
      [],
      [],
      ['hidden appeared: – → Indexed (since night 1)'],
    ]);
    expect(state('hidden', 'absences', 'last_seen_at', 'report_fetched_at')).toEqual([
      [0, given.at(1), given.at(2)],
      [0, given.at(1), given.at(3)],
      [0, given.at(1), given.at(4)],
      [0, given.at(5), given.at(5)],
    ]);
  });

  once('appears alone when it comes back, whatever else is new about it, and is then compared with that', () => {
    expect(changesOf('once')).toEqual([
      [],
      ['once disappeared: Indexed → – (since night 1)'],
      ['once appeared: – → Not Indexed (since night 1)'],
      [],
      [],
    ]);
    expect(changesOf('twice')).toEqual([
      [],
      ['twice disappeared: Indexed → – (since night 1)'],
      [],
      ['twice appeared: – → Not Indexed (since night 1)'],
      ['twice indexed: Not Indexed → Indexed (since night 4)'],
    ]);
    expect(state('twice', 'absences', 'disappeared_at', 'first_seen_at', 'last_seen_at')).toEqual([
      [1, null, given.at(1), given.at(1)],
      [2, given.at(3), given.at(1), given.at(1)],
      [0, null, given.at(1), given.at(4)],
      [0, null, given.at(1), given.at(5)],
    ]);
  });

  once('appears where it is new, but for the first snapshot', () => {
    expect(changesOf('newcomer')).toEqual([[], [], [], ['newcomer appeared: – → Indexed (since never)'], []]);
    expect(changesOf('stays')).toEqual([[], [], [], [], []]);
    expect(state('newcomer', 'first_seen_at', 'listed_snapshot_id', 'absences')).toEqual([
      [null, null, null],
      [null, null, null],
      [given.at(4), given.snapshot(4), 0],
      [given.at(4), given.snapshot(5), 0],
    ]);
  });

  once('is present in quarantine, and is compared with its own last listing when it is accepted again', () => {
    expect(changesOf('refused')).toEqual([
      [],
      [],
      [],
      [],
      [
        'refused crawled: – → 2025-03-01T00:00:00.000Z (since night 1)',
        'refused deindexed: Indexed → Not Indexed (since night 1)',
      ],
    ]);
    expect(state('refused', 'absences', 'last_seen_at', 'listed_snapshot_id', 'index_summary')).toEqual([
      [0, given.at(2), given.snapshot(1), 'Indexed'],
      [0, given.at(3), given.snapshot(1), 'Indexed'],
      [0, given.at(4), given.snapshot(1), 'Indexed'],
      [0, given.at(5), given.snapshot(5), 'Not Indexed'],
    ]);
    expect(changesOf('unreadable')).toEqual([[], [], [], [], []]);
    expect(state('unreadable', 'first_seen_at', 'index_summary')[0]).toEqual([given.at(1), 'Indexed']);
  });

  once('that comes, or comes back, in quarantine appears with its first entry that is accepted', () => {
    expect(changesOf('latecomer').slice(1)).toEqual([
      [],
      [],
      ['latecomer appeared: – → Indexed (since never)'],
      [
        'latecomer crawled: – → 2025-03-01T00:00:00.000Z (since night 4)',
        'latecomer deindexed: Indexed → Not Indexed (since night 4)',
      ],
    ]);
    expect(changesOf('returned').slice(1)).toEqual([
      ['returned disappeared: Indexed → – (since night 1)'],
      [],
      [],
      ['returned appeared: – → Not Indexed (since night 1)'],
    ]);
    expect(changesOf('flicker').slice(1)).toEqual([
      ['flicker disappeared: Indexed → – (since night 1)'],
      [],
      ['flicker appeared: – → Not Indexed (since night 1)'],
      [],
    ]);
    expect(state('latecomer', 'unlisted_since', 'first_seen_at')).toEqual([
      [given.at(2), given.at(2)],
      [given.at(2), given.at(2)],
      [null, given.at(2)],
      [null, given.at(2)],
    ]);
    expect(state('returned', 'unlisted_since', 'disappeared_at', 'last_seen_at')).toEqual([
      [given.at(2), null, given.at(1)],
      [given.at(2), given.at(3), given.at(1)],
      [given.at(2), null, given.at(4)],
      [null, null, given.at(5)],
    ]);
  });
});

describe('a page that was only not seen', () => {
  it.concurrent('by a partial listing is no absence', async (test) => {
    const given = await givenNights(test.onTestFinished);
    await given.night({ list: { a: INDEXED, b: INDEXED }, sections: LISTING_ONLY });
    const list = { a: { index_summary: 'Not Indexed' } };
    const { receipt, changes, state } = await given.night({ list, partial: true, sections: LISTING_ONLY });
    expect(receipt.listing_status).toBe('partial');
    expect(changes.map((change) => change.split(':')[0])).toEqual(['a deindexed']);
    expect(pick(state.get('b'), 'absences', 'disappeared_at', 'last_seen_at')).toEqual([0, null, given.at(1)]);
  });
});

testAtLength('reports that all fail on a night change nothing, and are fetched later', async () => {
  const given = await givenNights();
  const blocked = (value: string) => ({ blocked_by_robots_txt: value });
  await given.night({ list: { a: INDEXED, b: INDEXED }, reports: { a: blocked('No'), b: blocked('No') } });
  for (const failures of [1, 2]) {
    const { receipt, changes, state } = await given.night({ list: { a: INDEXED }, reports: () => 500 });
    const nothing = { planned: 2, fetched: 0, reused: 0, missing: 0, failed: 2, rejected: 0, left: 0 };
    expect(receipt).toMatchObject({ reports_status: 'complete', reports: nothing });
    // That b is lacking is what the listing says, whatever its report does.
    expect(changes).toEqual(failures === 1 ? ['b disappeared: Indexed → – (since night 1)'] : []);
    expect(pick(state.get('a'), 'consecutive_failures', 'report_fetched_at', 'report_blocked_by_robots_txt')).toEqual([
      failures,
      given.at(1),
      'No',
    ]);
  }
  const fourth = await given.night({ list: { a: INDEXED }, reports: { a: blocked('Yes') } });
  expect(fourth.changes).toEqual(['a robots_blocked: No → Yes (since night 1)']);
  expect(pick(fourth.state.get('a'), 'consecutive_failures', 'last_failure_at')).toEqual([0, null]);
});
