import { describe, expect, it } from 'vitest';
import { validate } from '../../../src/base/validate.js';
import { coverageEntrySchema } from '../../../src/source/contract/coverage.js';
import { urlReportSchema } from '../../../src/source/contract/report.js';

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
