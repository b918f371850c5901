import { beforeAll, expect, test } from 'vitest';
import { givenNights, type NightEnd, type Nights, type Report } from '../given/nights.js';

const CRAWLED = '2025-02-01T00:00:00.000Z';
const INDEXED = { index_summary: 'Indexed' };
const SEEN = { ...INDEXED, last_crawl_time: CRAWLED };
const BACK = { index_summary: 'Not Indexed', last_crawl_time: '2025-03-01T00:00:00.000Z' };
/** An entry that breaks the contract and still says which page it is. */
const BROKEN = { index_summary: 5 };
const ENTRY = {
  index_summary: 'Indexed',
  index_coverage_state: 'Submitted and indexed',
  canonicals_match: true,
  searchengine_selected_canonical: 'https://w.example/c',
  user_selected_canonical: 'https://w.example/c',
  last_crawl_time: CRAWLED,
  days_since_last_crawl: 1,
};
const REPORT = {
  blocked_by_robots_txt: 'No',
  page_fetch_status: 'Successful',
  indexing_allowed: 'Yes',
  sitemaps: ['https://w.example/1.xml', 'https://w.example/2.xml'],
  searchenginebot_primary_crawler: 'MOBILE',
};
const OTHER = 'https://w.example/other';

/** The nights with complete listings. The listing of night 3 breaks off behind one page, and no report is fetched then. */
const COMPLETE = [1, 2, 4, 5, 6];

interface Story {
  /** What the page is in each complete listing, and what its report is then. */
  listed: (object | null)[];
  reports?: Report[];
  /** By night. */
  changes: Record<number, string[]>;
  /** Columns of its state after each complete listing but the first; moments and snapshots as nights. */
  state?: Record<string, unknown[]>;
}

const STORIES: Record<string, Story> = {
  // Absent pages disappear with the first complete listing that lacks them, and are given up with the second one.
  unasked: {
    listed: [INDEXED, null, null, null, null],
    reports: [{}, 400, 400, 400, 400],
    changes: { 2: ['disappeared: Indexed → – (since night 1)'] },
    state: {
      absences: [1, 2, 3, 4],
      disappeared_at: [null, 4, 4, 4],
      last_seen_at: [1, 1, 1, 1],
      consecutive_failures: [1, 2, 2, 2],
      index_summary: Array(4).fill('Indexed'),
    },
  },
  // The report says so, too.
  denied: {
    listed: [INDEXED, null, null, null, null],
    reports: [{}, 404, 404, 404, 404],
    changes: { 2: ['disappeared: Indexed → – (since night 1)'] },
    state: { disappeared_at: [2, 2, 2, 2] },
  },
  // A page is not given up while its report answers.
  hidden: {
    listed: [INDEXED, null, null, null, INDEXED],
    reports: Array(5).fill({}),
    changes: { 2: ['disappeared: Indexed → – (since night 1)'], 6: ['appeared: – → Indexed (since night 1)'] },
    state: { absences: [0, 0, 0, 0], last_seen_at: [1, 1, 1, 6], report_fetched_at: [2, 4, 5, 6] },
  },
  // A page that comes back appears, and is then compared with that.
  twice: {
    listed: [SEEN, null, null, BACK, INDEXED],
    reports: [{}, 400, 400, {}, {}],
    changes: {
      2: ['disappeared: Indexed → – (since night 1)'],
      5: ['appeared: – → Not Indexed (since night 1)'],
      6: ['indexed: Not Indexed → Indexed (since night 5)'],
    },
    state: {
      absences: [1, 2, 0, 0],
      disappeared_at: [null, 4, null, null],
      first_seen_at: [1, 1, 1, 1],
      last_seen_at: [1, 1, 5, 6],
      first_indexed_at: [1, 1, 1, 1],
      index_since: [null, null, null, 6],
    },
  },
  // A page in quarantine is present, and is compared with its own last listing.
  refused: {
    listed: [INDEXED, BROKEN, BROKEN, BROKEN, BACK],
    changes: {
      6: ['crawled: – → 2025-03-01T00:00:00.000Z (since night 1)', 'deindexed: Indexed → Not Indexed (since night 1)'],
    },
    state: { absences: [0, 0, 0, 0], last_seen_at: [2, 4, 5, 6], listed_snapshot_id: [1, 1, 1, 6] },
  },
  // One that comes in quarantine appears with its first entry that is accepted.
  latecomer: {
    listed: [null, BROKEN, BROKEN, INDEXED, BACK],
    changes: {
      5: ['appeared: – → Indexed (since never)'],
      6: ['crawled: – → 2025-03-01T00:00:00.000Z (since night 5)', 'deindexed: Indexed → Not Indexed (since night 5)'],
    },
    state: { unlisted_since: [2, 2, null, null], first_seen_at: [2, 2, 2, 2] },
  },
};

/** Each page differs from the night before in one thing. */
const LISTING: Record<string, { now: object; yields: string[] }> = {
  same: { now: { days_since_last_crawl: 2, inspection_link: OTHER, service_link: OTHER }, yields: [] },
  deindexed: { now: { index_summary: 'Not Indexed' }, yields: ['deindexed: Indexed → Not Indexed'] },
  lost: { now: { index_summary: null }, yields: ['data_lost: Indexed → –'] },
  state: {
    now: { index_coverage_state: 'Soft 404' },
    yields: ['coverage_state: Submitted and indexed → Soft 404'],
  },
  engine: {
    now: { searchengine_selected_canonical: OTHER },
    yields: [`searchengine_canonical: https://w.example/c → ${OTHER}`],
  },
  user: { now: { user_selected_canonical: null }, yields: ['user_canonical: https://w.example/c → –'] },
  matchless: { now: { canonicals_match: null }, yields: ['canonicals_match: true → –'] },
  crawled: {
    now: { last_crawl_time: '2025-02-28T01:02:03.004Z' },
    yields: ['crawled: 2025-02-01T00:00:00.000Z → 2025-02-28T01:02:03.004Z'],
  },
  uncrawled: { now: { last_crawl_time: null, days_since_last_crawl: null }, yields: [] },
};

/** And in one thing of its report. */
const REPORTS: Record<string, { was?: object; now: object; yields: string[] }> = {
  same: { now: { sitemaps: [...REPORT.sitemaps].reverse(), page_detection: CRAWLED }, yields: [] },
  blocked: { now: { blocked_by_robots_txt: 'Yes' }, yields: ['robots_blocked: No → Yes'] },
  unblocked: {
    was: { blocked_by_robots_txt: 'Yes' },
    now: { blocked_by_robots_txt: 'No' },
    yields: ['robots_unblocked: Yes → No'],
  },
  unknown: { was: { blocked_by_robots_txt: null }, now: { blocked_by_robots_txt: 'Yes' }, yields: [] },
  fetch: { now: { page_fetch_status: 'Soft 404' }, yields: ['fetch_status: Successful → Soft 404'] },
  disallowed: { now: { indexing_allowed: 'No' }, yields: ['indexing_allowed: Yes → No'] },
  crawler: { now: { searchenginebot_primary_crawler: null }, yields: ['crawler: MOBILE → –'] },
  sitemap: {
    now: { sitemaps: ['https://w.example/2.xml'] },
    yields: ['sitemaps: ["https://w.example/1.xml","https://w.example/2.xml"] → ["https://w.example/2.xml"]'],
  },
};

const DIFFERENT = { ...LISTING, ...Object.fromEntries(Object.keys(REPORTS).map((name) => [name, { now: {} }])) };
/** What is wrong with the reports of the second night: it says nothing about the page. */
const WRONG: Report[] = [{ sitemaps: 'none' }, 400, 404];

/** The entries of the pages of `DIFFERENT`: as they were, broken, and as they are now. */
function entriesAt(night: number): Record<string, object> {
  const entries = Object.entries(DIFFERENT).map(([name, { now }]) => {
    const entry = night === 4 && name !== 'same' ? BROKEN : { ...ENTRY, ...(night > 4 ? now : {}) };
    return [name, entry];
  });
  return Object.fromEntries(entries);
}

function reportOf(name: string, night: number): Report | undefined {
  const story = STORIES[name];
  if (story) return story.reports?.[COMPLETE.indexOf(night)];
  if (night === 2 || night === 4) return night === 2 ? WRONG[name.length % 3] : 400;
  const { was = {}, now = {} } = REPORTS[name] ?? {};
  return { ...REPORT, ...was, ...(night > 4 ? now : {}) };
}

const ends: NightEnd[] = [];
let given: Nights;

beforeAll(async () => {
  given = await givenNights();
  for (let night = 1; night <= 6; night++) {
    const stories = Object.entries(STORIES).map(([name, { listed }]) => [name, listed[COMPLETE.indexOf(night)]]);
    const there = Object.fromEntries(stories.filter(([, entry]) => entry));
    const isPartial = night === 3;
    ends.push(
      await given.night({
        list: isPartial ? { same: ENTRY } : { ...entriesAt(night), ...there },
        partial: isPartial,
        reports: (name) => reportOf(name, night),
        sections: { api: { concurrency: 1 }, reports: isPartial ? { max_per_run: 0 } : {} },
      }),
    );
  }
});

/** A moment or a snapshot as its night. */
function nightOf(value: unknown): unknown {
  const is = (night: number) =>
    String(value) === String(value instanceof Date ? given.at(night) : given.snapshot(night));
  return [1, 2, 3, 4, 5, 6].find(is) ?? value ?? null;
}

test.each(Object.entries(STORIES))('the story of a page: %s', (name, { changes, state = {} }) => {
  const found = ends.map((end) => end.changes.filter((change) => change.startsWith(`${name} `)));
  expect(found).toEqual(ends.map((_, at) => (changes[at + 1] ?? []).map((change) => `${name} ${change}`)));
  for (const [column, expected] of Object.entries(state)) {
    const values = COMPLETE.slice(1).map((night) => nightOf(ends[night - 1]?.state.get(name)?.[column]));
    expect([column, values]).toEqual([column, expected]);
  }
});

test('a partial listing is no absence, and changes nothing', () => {
  const [, second, third] = ends;
  expect([third?.receipt.listing_status, third?.changes]).toEqual(['partial', []]);
  const absences = (end?: NightEnd) => [...(end?.state ?? [])].map(([name, row]) => [name, row['absences']]);
  expect(absences(third)).toEqual(absences(second));
});

test('a page that was missed is asked for first, until it is given up', () => {
  const asked = (name: string) => [2, 4, 5].map((night) => ends[night - 1]?.asked.includes(name));
  expect([asked('unasked'), asked('denied'), asked('hidden')]).toEqual([
    [true, true, false],
    [true, false, false],
    [true, true, true],
  ]);
  expect(ends[1]?.asked.slice(0, 4).sort()).toEqual(['denied', 'hidden', 'twice', 'unasked']);
});

test('what is different about a page is recorded once, against its own last listing and report', () => {
  const different = ({ changes }: NightEnd) => changes.filter((change) => !STORIES[change.split(' ')[0] ?? '']);
  const yields = [changesOf(LISTING, 'night 2'), changesOf(REPORTS, 'night 1')].flat();
  expect(ends.map(different)).toEqual([[], [], [], [], yields.sort(), []]);
  // All but one of them, and that of a story.
  expect(ends[3]?.receipt.pages.rejected).toBe(Object.keys(DIFFERENT).length + 1);
  expect(ends[4]?.state.get('blocked')).toMatchObject({
    report_blocked_by_robots_txt: 'Yes',
    report_snapshot_id: given.snapshot(5),
    consecutive_failures: 0,
  });
});

function changesOf(pages: Record<string, { yields: string[] }>, since: string): string[] {
  return Object.entries(pages).flatMap(([name, { yields }]) =>
    yields.map((change) => `${name} ${change} (since ${since})`),
  );
}
