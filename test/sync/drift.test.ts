import { expect, test } from 'vitest';
import { coverageEntrySchema } from '../../src/source/contract/coverage.js';
import { urlReportSchema } from '../../src/source/contract/report.js';
import { openReader, rowsOf } from '../answers/query/given.js';
import { givenNights } from '../given/nights.js';

const LINK = 'https://service.example/x';
/** Every field of the specification, without a value. */
const empty = (fields: object) => Object.fromEntries(Object.keys(fields).map((field) => [field, null]));
const { url: _, ...ENTRY_FIELDS } = coverageEntrySchema.shape;
const { url: __, ...REPORT_FIELDS } = urlReportSchema.shape;
const INDEXED = { index_summary: 'Indexed', index_coverage_state: 'Submitted and indexed' };
const ENTRY = { ...empty(ENTRY_FIELDS), ...INDEXED, canonicals_match: true, service_link: LINK };
/** An entry of a page without data has no `canonicals_match`. */
const NO_DATA = without({ ...empty(ENTRY_FIELDS), service_link: LINK }, 'canonicals_match');
const REPORT = {
  ...empty(REPORT_FIELDS),
  ...INDEXED,
  ...{ indexing_allowed: 'Yes', searchenginebot_primary_crawler: 'MOBILE', page_fetch_status: 'Successful' },
  ...{ blocked_by_robots_txt: 'No', previously_indexed: 'Yes', canonical_changed: 'No', sitemaps: [] },
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

  await given.night({
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
  });
  expect(sorted(await given.rows('drift_observations'))).toEqual([
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
  ]);
  // A page that is listed twice counts as it stands in the listing last.
  const again = (await given.rows('coverage')).filter(({ url }) => url === 'https://w.example/again');
  expect(again).toMatchObject([{ index_summary: 'Not Indexed' }]);

  const reader = await openReader(given.warehouse);
  const diary = await rowsOf(reader, "from api_drift where field in ('color', 'score') order by field");
  expect(diary).toMatchObject([
    { source: 'coverage', kind: 'unknown_field', occurrences: 2, snapshots: 1 },
    { source: 'url_report', kind: 'unknown_field', occurrences: 2, snapshots: 1 },
  ]);
});
