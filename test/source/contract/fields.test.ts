import { describe, expect, it } from 'vitest';
import { validate } from '../../../src/base/validate.js';
import { coverageEntrySchema } from '../../../src/source/contract/coverage.js';
import { urlReportSchema } from '../../../src/source/contract/report.js';
import { judgeReport } from '../../../src/source/report.js';

const URL = 'https://www.example.com/';

describe.each([
  ['coverage entry', coverageEntrySchema],
  ['URL report', urlReportSchema],
] as const)('a %s', (_, schema) => {
  const judge = (record: object) => validate<object>(schema, record);

  const fields = Object.keys(schema.shape).slice(1);

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
    const verdict = judge({ url: 1, ...Object.fromEntries(fields.map((field) => [field, { a: 1 }])) });
    expect(verdict).toMatchObject({ accepted: false });
    if (!verdict.accepted) expect(verdict.issues.length).toBeLessThanOrEqual(20);
  });
});

const PAGE = 'https://www.example.com/a';
const report = (url: string) => ({
  ...Object.fromEntries(Object.keys(urlReportSchema.shape).map((name) => [name, null])),
  url,
});

it('a report is of the page that was asked for, and of no other', () => {
  const text = JSON.stringify(report(PAGE), null, 1);
  expect(judgeReport(text, PAGE)).toMatchObject({ outcome: 'fetched', record: report(PAGE) });
  expect(judgeReport(text, `${PAGE}b`)).toMatchObject({ outcome: 'rejected', issues: [{ code: 'url_mismatch' }] });
});

it.each([
  ['https://www.example.com/caf%c3%a9', 'https://www.example.com/caf%C3%A9'],
  ['https://www.example.com/münchen', 'https://www.example.com/m%C3%BCnchen'],
  ['https://www.example.com', 'https://WWW.example.com:443/'],
])('a report in another spelling is that of the page: %s', (asked, answered) => {
  const judged = judgeReport(JSON.stringify(report(answered)), asked);
  expect(judged).toMatchObject({ outcome: 'fetched', record: { url: asked } });
});
