import { describe, expect, it } from 'vitest';
import { validate } from '../../../src/base/validate.js';
import { coverageEntrySchema, coverageWindowSchema, paginationSchema } from '../../../src/source/contract/coverage.js';
import { urlReportSchema } from '../../../src/source/contract/report.js';
import { holdsHalfAPair, poolFor } from '../../given/poison.js';

const URL = 'https://www.example.com/';

describe.each([
  ['coverage entry', coverageEntrySchema],
  ['URL report', urlReportSchema],
] as const)('a %s', (_, schema) => {
  const judge = (record: object) => validate<object>(schema, record);

  const fields = Object.keys(schema.shape).slice(1);
  // Half of a surrogate pair is looked for in the whole record.
  const formsOf = (field: string) =>
    poolFor(field).flatMap(({ text, good }) => (holdsHalfAPair(text) ? [] : [{ value: JSON.parse(text), good }]));

  it.each(fields)('takes and refuses forms of %s', (field) => {
    for (const { value, good } of formsOf(field)) {
      const verdict = judge({ url: URL, [field]: value });
      expect({ value, accepted: verdict.accepted }).toEqual({ value, accepted: good });
      if (verdict.accepted) expect(verdict).toMatchObject({ record: { [field]: value }, extra: null });
    }
  });

  it('cannot do without a usable url', () => {
    expect(judge({}).accepted).toBe(false);
    for (const { value: url, good } of formsOf('service_link')) {
      expect({ url, accepted: judge({ url }).accepted }).toEqual({ url, accepted: good && url !== null });
    }
  });

  it('lists which known fields are absent, and null is not absent', () => {
    expect(judge({ url: URL })).toMatchObject({ accepted: true, absent: fields });
    const nulls = Object.fromEntries(fields.map((field) => [field, null]));
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
    const verdict = judge({ url: 1, ...Object.fromEntries(fields.map((field) => [field, { a: 1 }])) });
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
