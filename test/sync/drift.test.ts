import { expect, test } from 'vitest';
import { openReader, rowsOf } from '../answers/query/given.js';
import { givenNights } from '../given/nights.js';

const LINK = 'https://service.example/x';
/** Everything that the specification lists, as it has it. */
const ENTRY = {
  index_summary: 'Indexed',
  index_coverage_state: 'Submitted and indexed',
  canonicals_match: true,
  searchengine_selected_canonical: LINK,
  user_selected_canonical: LINK,
  last_crawl_time: '2025-02-01T00:00:00.000Z',
  days_since_last_crawl: 28,
  inspection_link: LINK,
  service_link: LINK,
};
const { canonicals_match: _, ...WITHOUT_MATCH } = ENTRY;
const NO_DATA = {
  ...Object.fromEntries(Object.keys(WITHOUT_MATCH).map((field) => [field, null])),
  service_link: LINK,
};
const REPORT = {
  ...WITHOUT_MATCH,
  indexing_allowed: 'Yes',
  searchenginebot_primary_crawler: 'MOBILE',
  page_fetch_status: 'Successful',
  blocked_by_robots_txt: 'No',
  sitemaps: [],
  inspection_date: null,
  page_detection: null,
  previously_indexed: 'Yes',
  previously_indexed_timestamp: null,
  previously_indexed_link: null,
  canonical_changed: 'No',
  canonical_changed_searchengine_canonical: null,
  canonical_changed_user_canonical: null,
  canonical_changed_timestamp: null,
  canonical_changed_link: null,
  ever_blocked_by_robots_txt: 'No',
  ever_blocked_by_robots_txt_timestamp: null,
  ever_blocked_by_robots_txt_link: null,
};
const HONEST = { prev_page: null, limit: 1000, current_page: 1, total_page: 1 };

function without(record: object, field: string): object {
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== field));
}

function sorted(rows: Record<string, unknown>[]): unknown[][] {
  const observations = rows.map(({ source, kind, field, value, occurrences, sample }) => [
    source,
    kind,
    field,
    value ?? null,
    Number(occurrences),
    typeof sample === 'string' ? sample.slice('https://w.example/'.length) : null,
  ]);
  return observations.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

test('the drift diary says what is unknown, absent, new or doubled, where, and how often', async () => {
  const given = await givenNights();
  // Where the interface is as it is specified, it is empty.
  await given.night({
    list: { a: ENTRY, b: { ...ENTRY, canonicals_match: null }, none: NO_DATA },
    pagination: HONEST,
    reports: { a: REPORT, b: REPORT, none: { ...REPORT, index_summary: null, index_coverage_state: null } },
  });
  expect(await given.rows('drift_observations')).toEqual([]);

  const night = {
    list: {
      a: { ...ENTRY, color: 'red', shape: null },
      b: { ...ENTRY, color: { hue: 7 }, index_coverage_state: 'Indexed by magic' },
      c: without(ENTRY, 'service_link'),
      d: without(ENTRY, 'canonicals_match'),
      e: { ...NO_DATA, index_coverage_state: 'Indexed by magic' },
      f: { ...ENTRY, index_summary: 'Maybe' },
      // What is refused says nothing about the interface.
      refused: { ...ENTRY, index_summary: 7, size: 1 },
      'again-1': { ...ENTRY, url: 'https://w.example/again' },
      'again-2': { ...ENTRY, url: 'https://w.example/again', index_summary: 'Not Indexed' },
    },
    pagination: { ...HONEST, total_page: 3, cursor: 'x' },
    body: { generated_at: 'now' },
    reports: {
      a: { ...REPORT, score: 1, page_fetch_status: 'Timeout' },
      b: without(REPORT, 'sitemaps'),
      c: { ...REPORT, indexing_allowed: 'Perhaps', searchenginebot_primary_crawler: 'WATCH' },
      d: { ...REPORT, score: 2, blocked_by_robots_txt: 'Partly' },
      e: REPORT,
      f: { ...REPORT, sitemaps: 'none', score: 3 },
      refused: REPORT,
      again: REPORT,
    },
  };
  await given.night(night);
  const expected = [
    ['coverage', 'absent_field', 'canonicals_match', null, 1, 'd'],
    ['coverage', 'absent_field', 'service_link', null, 1, 'c'],
    ['coverage', 'doubled_url', 'url', null, 1, 'again'],
    ['coverage', 'new_value', 'index_coverage_state', 'Indexed by magic', 2, 'b'],
    ['coverage', 'new_value', 'index_summary', 'Maybe', 1, 'f'],
    ['coverage', 'pagination', 'pagination.total_page', '3', 1, null],
    ['coverage', 'unknown_field', 'body.generated_at', null, 1, null],
    ['coverage', 'unknown_field', 'color', null, 2, 'a'],
    ['coverage', 'unknown_field', 'pagination.cursor', null, 1, null],
    ['coverage', 'unknown_field', 'shape', null, 1, 'a'],
    ['url_report', 'absent_field', 'sitemaps', null, 1, 'b'],
    ['url_report', 'new_value', 'blocked_by_robots_txt', 'Partly', 1, 'd'],
    ['url_report', 'new_value', 'indexing_allowed', 'Perhaps', 1, 'c'],
    ['url_report', 'new_value', 'page_fetch_status', 'Timeout', 1, 'a'],
    ['url_report', 'new_value', 'searchenginebot_primary_crawler', 'WATCH', 1, 'c'],
    ['url_report', 'unknown_field', 'score', null, 2, 'a'],
  ];
  expect(sorted(await given.rows('drift_observations'))).toEqual(expected);
  // A page that is listed twice counts as it stands in the listing last.
  const again = (await given.rows('coverage')).filter(({ url }) => url === 'https://w.example/again');
  expect(again).toMatchObject([{ index_summary: 'Not Indexed' }]);

  await given.night({
    ...night,
    list: { a: { ...ENTRY, color: 'red' } },
    pagination: { ...HONEST, end: false },
    body: {},
  });
  const [row, ...others] = (await given.rows('drift_observations')).filter(({ field }) => field === 'pagination.end');
  expect([row, others]).toMatchObject([{ source: 'coverage', kind: 'pagination', value: 'false' }, []]);
  const reader = await openReader(given.warehouse);
  const diary = await rowsOf(reader, 'select * from api_drift');
  const of = (source: string, field: string) => diary.find((row) => row['source'] === source && row['field'] === field);
  expect(of('coverage', 'color')).toMatchObject({ kind: 'unknown_field', occurrences: 3, snapshots: 2 });
  expect(of('coverage', 'service_link')).toMatchObject({ kind: 'absent_field', occurrences: 1, snapshots: 1 });
  expect(diary).toHaveLength(expected.length + 1);
});
