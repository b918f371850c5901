import { describe, expect, it } from 'vitest';
import { validate } from '../../../src/base/validate.js';
import { coverageEntrySchema } from '../../../src/source/contract/coverage.js';
import { urlReportSchema } from '../../../src/source/contract/report.js';
import { judgeReport } from '../../../src/source/source.js';

const URL = 'https://www.example.com/';

describe.each([
  ['coverage entry', coverageEntrySchema],
  ['URL report', urlReportSchema],
] as const)('a %s', (_, schema) => {
  const judge = (record: object) => validate<object>(schema, record);

  it('keeps unknown fields apart, whatever their names', () => {
    const text = `{"url":"${URL}","constructor":1,"URL":null,"":[{"a":1}],"toString":"x"}`;
    const extra = { constructor: 1, URL: null, '': [{ a: 1 }], toString: 'x' };
    expect(judge(JSON.parse(text))).toMatchObject({ accepted: true, extra });
    expect(judge({ url: URL })).toMatchObject({ accepted: true, extra: null });
  });

  it('is not led astray by a field named __proto__', () => {
    const verdict = judge(JSON.parse(`{"url":"${URL}","__proto__":{"index_summary":"Indexed","polluted":true}}`));
    expect(verdict).toMatchObject({ accepted: true, absent: expect.arrayContaining(['index_summary']) });
    expect({}).not.toHaveProperty('polluted');
    if (verdict.accepted) expect(verdict.record).not.toHaveProperty('index_summary', 'Indexed');
  });

  it('is an object and nothing else, and a hostile one gives few issues', () => {
    for (const value of [null, [], 'x']) expect(validate<object>(schema, value).accepted).toBe(false);
    const verdict = judge(Object.fromEntries(Object.keys(schema.shape).map((field) => [field, { a: 1 }])));
    expect(verdict.accepted ? [] : verdict.issues.length).toBeLessThanOrEqual(20);
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
