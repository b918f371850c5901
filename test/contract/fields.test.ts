import { describe, expect, it } from 'vitest';
import { coverageEntrySchema, coverageWindowSchema, paginationSchema } from '../../src/contract/coverage.js';
import { urlReportSchema } from '../../src/contract/report.js';
import { validate } from '../../src/contract/validate.js';

const URL = 'https://www.example.com/';

const ADDRESSES = {
  good: [
    URL,
    'http://a',
    'HTTPS://EXAMPLE.COM/ä?q=%2F&b=#c',
    'https://www.example.com/a b'.replace(' ', '%20'),
    'https://[::1]:8080/x',
    'android-app://com.example/x',
    'https://www.example.com/\u2028',
  ],
  bad: [
    '',
    '/a',
    '//www.example.com/',
    'www.example.com',
    'https:///a',
    'https://?q',
    'https://#',
    'https:/a',
    ' https://a',
    'https://a b',
    'https://a/\n',
    'https://a/\u0000',
    'https://a/\u007f',
    1,
    true,
    {},
    [],
  ],
};
const TIMES = {
  good: [
    '2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00.1Z',
    '2026-01-01T00:00:00.123Z',
    '2026-01-01T00:00:00.123456Z',
    '2024-02-29T23:59:59.999Z',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999999Z',
  ],
  bad: [
    '',
    '2026-01-01',
    '2026-01-01T00:00Z',
    '2026-01-01T00:00:00',
    '2026-01-01T00:00:00+00:00',
    '2026-01-01T00:00:00.000+02:00',
    '2026-01-01 00:00:00Z',
    '2026-01-01T00:00:00z',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00.1234567Z',
    '0000-01-01T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:60Z',
    '10000-01-01T00:00:00Z',
    '-0001-01-01T00:00:00Z',
    '+012026-01-01T00:00:00Z',
    ' 2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z\n',
    1767225600000,
    true,
  ],
};
const INTEGERS = {
  good: [0, -0, 1, -1, 2 ** 31 - 1, -(2 ** 31), 1e2],
  bad: [2 ** 31, -(2 ** 31) - 1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '3', '', true, [1], 1n],
};
const TEXTS = { good: ['', 'Yes', 'No', ' ', 'Indexed', 'ä\u0000😀'], bad: [true, false, 0, 1, [], {}, ['Yes']] };
const BOOLEANS = { good: [true, false], bad: ['true', 'Yes', 'No', 0, 1, ''] };
const ADDRESS_LISTS = { good: [[], [URL], [URL, URL]], bad: ['', URL, [null], [URL, '/relative'], [1], { 0: URL }] };

const COVERAGE = {
  index_summary: TEXTS,
  index_coverage_state: TEXTS,
  canonicals_match: BOOLEANS,
  searchengine_selected_canonical: ADDRESSES,
  user_selected_canonical: ADDRESSES,
  last_crawl_time: TIMES,
  days_since_last_crawl: INTEGERS,
  inspection_link: ADDRESSES,
  service_link: ADDRESSES,
};
const REPORT = {
  index_summary: TEXTS,
  index_coverage_state: TEXTS,
  indexing_allowed: TEXTS,
  searchengine_selected_canonical: ADDRESSES,
  user_selected_canonical: ADDRESSES,
  searchenginebot_primary_crawler: TEXTS,
  last_crawl_time: TIMES,
  days_since_last_crawl: INTEGERS,
  page_fetch_status: TEXTS,
  blocked_by_robots_txt: TEXTS,
  sitemaps: ADDRESS_LISTS,
  inspection_date: TIMES,
  page_detection: TIMES,
  inspection_link: ADDRESSES,
  service_link: ADDRESSES,
  previously_indexed: TEXTS,
  previously_indexed_timestamp: TIMES,
  previously_indexed_link: ADDRESSES,
  canonical_changed: TEXTS,
  canonical_changed_searchengine_canonical: ADDRESSES,
  canonical_changed_user_canonical: ADDRESSES,
  canonical_changed_timestamp: TIMES,
  canonical_changed_link: ADDRESSES,
  ever_blocked_by_robots_txt: TEXTS,
  ever_blocked_by_robots_txt_timestamp: TIMES,
  ever_blocked_by_robots_txt_link: ADDRESSES,
};

describe.each([
  ['coverage entry', coverageEntrySchema, COVERAGE],
  ['URL report', urlReportSchema, REPORT],
] as const)('a %s', (_, schema, fields) => {
  const judge = (record: object) => validate<object>(schema, record);

  it('has these fields and no others', () => {
    expect(Object.keys(schema.shape).sort()).toEqual([...Object.keys(fields), 'url'].sort());
  });

  it.each(Object.entries(fields))('takes and refuses forms of %s', (field, { good, bad }) => {
    for (const value of [...good, null]) {
      expect({ value, verdict: judge({ url: URL, [field]: value }) }).toMatchObject({
        verdict: { accepted: true, record: { [field]: value }, extra: null },
      });
    }
    for (const value of bad) {
      const verdict = judge({ url: URL, [field]: value });
      expect({ value, accepted: verdict.accepted }).toEqual({ value, accepted: false });
      if (!verdict.accepted) expect(verdict.issues.every(({ path }) => path.split('.')[0] === field)).toBe(true);
    }
  });

  it('cannot do without a usable url', () => {
    expect(judge({}).accepted).toBe(false);
    for (const url of [null, undefined, ...ADDRESSES.bad]) expect(judge({ url }).accepted).toBe(false);
    for (const url of ADDRESSES.good) expect(judge({ url }).accepted).toBe(true);
  });

  it('lists which known fields are absent, and null is not absent', () => {
    expect(judge({ url: URL })).toMatchObject({ accepted: true, absent: Object.keys(schema.shape).slice(1) });
    const nulls = Object.fromEntries(Object.keys(fields).map((field) => [field, null]));
    expect(judge({ url: URL, ...nulls })).toMatchObject({ accepted: true, absent: [] });
  });

  it('keeps unknown fields apart, whatever their names', () => {
    const text = `{"url":"${URL}","constructor":1,"hasOwnProperty":2,"URL":null,"":[{"a":1}],"toString":"x"}`;
    expect(judge(JSON.parse(text))).toMatchObject({
      accepted: true,
      extra: { constructor: 1, hasOwnProperty: 2, URL: null, '': [{ a: 1 }], toString: 'x' },
    });
    expect(judge({ url: URL })).toMatchObject({ accepted: true, extra: null });
  });

  it('is not led astray by a field named __proto__', () => {
    const verdict = judge(JSON.parse(`{"url":"${URL}","__proto__":{"index_summary":"Indexed","polluted":true}}`));
    expect(verdict).toMatchObject({ accepted: true, absent: expect.arrayContaining(['index_summary']) });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    if (verdict.accepted) expect((verdict.record as Record<string, unknown>)['index_summary']).toBeUndefined();
  });

  it('is an object and nothing else, and a hostile one gives few issues', () => {
    for (const value of [null, [], 'x', 1, undefined, true]) expect(judge(value as object).accepted).toBe(false);
    const verdict = judge({ url: 1, ...Object.fromEntries(Object.keys(fields).map((field) => [field, { a: 1 }])) });
    expect(verdict).toMatchObject({ accepted: false });
    if (!verdict.accepted) expect(verdict.issues.length).toBeLessThanOrEqual(20);
  });
});

describe('canonicals_match', () => {
  it.each([
    [{}, ['canonicals_match'], undefined],
    [{ canonicals_match: null }, [], null],
    [{ canonicals_match: false }, [], false],
  ])('%j keeps omitted and null apart', (field, absent, value) => {
    const verdict = validate(coverageEntrySchema, { url: URL, ...field });
    expect(verdict.accepted && verdict.record.canonicals_match).toBe(value);
    expect(verdict.accepted && verdict.absent.filter((name) => name === 'canonicals_match')).toEqual(absent);
  });
});

describe('a window', () => {
  it('needs urls and pagination, and judges no entry by another', () => {
    expect(coverageWindowSchema.safeParse({ urls: [null, 1, { url: URL }], pagination: {} }).success).toBe(true);
    for (const body of [
      {},
      { urls: [] },
      { pagination: {} },
      { urls: {}, pagination: {} },
      { urls: null, pagination: {} },
      [],
      null,
    ]) {
      expect(coverageWindowSchema.safeParse(body).success).toBe(false);
    }
  });

  it.each(['count', 'skip', 'limit'])('refuses a %s that is none', (field) => {
    for (const value of [-1, 1.5, '3', 2 ** 31, true])
      expect(paginationSchema.safeParse({ [field]: value }).success).toBe(false);
    for (const value of [0, 7, null, undefined])
      expect(paginationSchema.safeParse({ [field]: value }).success).toBe(true);
  });
});
