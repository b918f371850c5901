import fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { World } from '../../../src/app/demo/simulator/world.js';
import { absoluteUrl, integer, text, timestamp } from '../../../src/source/contract/fields.js';
import { plainTextOf } from '../../../src/source/contract/plain.js';
import { urlReportSchema } from '../../../src/source/contract/report.js';

/** JSON text of single values: what each form takes, and what only looks like it. */
const anyValue = fc.oneof(
  fc.constantFrom('null', '""', '"text"', '"\\u0041"', '"\\""', '"a\u0001"', '"\ud83d\ude00"', '"ä"', '"\u2028"'),
  fc.constantFrom('0', '-0', '3', '03', '-', '1.5', '1e3', '2147483647', '2147483648', '999999999', '-999999999'),
  fc.constantFrom('true', 'false', '[]', '{}', '[null]', '["https://a"]', '["https://a","a"]', '["https://a",]'),
  fc.constantFrom('"https://www.example.com/ä?q=1#x"', '"HTTP://a"', '"/a"', '"https://"', '"https://a b"'),
  fc.constantFrom('"https://a/\u007f"', '"https://a","index_summary":"b"', '"2024-02-29T23:59:59.123456Z"'),
  fc
    .tuple(fc.nat(13), fc.nat(32), fc.nat(25), fc.constantFrom('', '.1', '.1234567'))
    .map(([month, day, hour, rest]) => `"2026-${two(month)}-${two(day)}T${two(hour)}:00:00${rest}Z"`),
  fc.constantFrom('"2023-02-29T00:00:00Z"', '"0000-01-01T00:00:00Z"', '"2026-01-01T00:00:00Z"'),
);

function two(number: number): string {
  return String(number).padStart(2, '0');
}

function reports(): string[] {
  const world = new World({ websites: [{ id: 'w', pages: 300 }] });
  return [...world.pages('w')].map(({ report }) => JSON.stringify(report));
}

/** The object's text with some of its members' values replaced, one left out or doubled, or spaces put in. */
function spoilt(members: [string, string][], change: { at: number; how: string; value: string }[]): string {
  const changed = members.map(([name, value]) => [name, value] as const);
  for (const { at, how, value } of change) {
    const place = at % changed.length;
    const [name] = changed[place] ?? ['url'];
    if (how === 'value') changed[place] = [name, value];
    else if (how === 'drop') changed.splice(place, 1);
    else if (how === 'double') changed.splice(place, 0, [name, value]);
    else if (how === 'unknown') changed.splice(place, 0, ['unknown', value]);
    else changed[place] = [`${name} `, value];
    if (changed.length === 0) break;
  }
  return `{${changed.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

it('the text of a report that is recognised as plain is one that the contract accepts as it is', () => {
  const isPlain = plainTextOf(urlReportSchema);
  const whole = reports().filter(isPlain).slice(0, 50);
  const change = fc.record({
    at: fc.nat(40),
    how: fc.constantFrom('value', 'value', 'value', 'value', 'drop', 'double', 'unknown', 'space'),
    value: anyValue,
  });
  let [recognised, left] = [0, 0];
  fc.assert(
    fc.property(fc.constantFrom(...whole), fc.array(change, { minLength: 1, maxLength: 3 }), (good, changes) => {
      const given = z.record(z.string(), z.unknown()).parse(JSON.parse(good));
      const members = Object.entries(given).map(([name, value]): [string, string] => [name, JSON.stringify(value)]);
      const candidate = spoilt(members, changes);
      if (!isPlain(candidate)) {
        left++;
        return;
      }
      recognised++;
      const record: unknown = JSON.parse(candidate);
      expect(urlReportSchema.parse(record)).toEqual(record);
      expect(Object.keys(Object(record))).toEqual(Object.keys(urlReportSchema.shape));
      // Nothing in it is written in another way than JavaScript would: any reader of JSON reads the same.
      expect(JSON.stringify(record)).toBe(candidate);
    }),
    { numRuns: 3000 },
  );
  expect(recognised).toBeGreaterThan(100);
  expect(left).toBeGreaterThan(100);
});

it('nearly every report of a service is recognised', () => {
  const isPlain = plainTextOf(urlReportSchema);
  expect(reports().filter((each) => !isPlain(each)).length).toBeLessThan(5);
});

it('a text beyond all measure is left to the library, and refused soon', () => {
  const isPlain = plainTextOf(z.looseObject({ a: text, b: z.array(absoluteUrl) }));
  expect(isPlain('{"a":"x","b":["https://a"]}')).toBe(true);
  expect(isPlain(`{"a":"${'x'.repeat(100_000)}","b":[]}`)).toBe(false);
  expect(isPlain(`{"a":"","b":[${'"https://a",'.repeat(8000)}`)).toBe(false);
});

it.each<[string, z.ZodType<object> & { shape: Record<string, unknown> }, string]>([
  ['a field of another form', z.looseObject({ a: z.email() }), '{"a":"a@example.com"}'],
  ['a refined field', z.looseObject({ a: text.min(2) }), '{"a":"aa"}'],
  ['a refined list', z.looseObject({ a: z.array(absoluteUrl).max(1) }), '{"a":["https://a"]}'],
  ['a refined nullable', z.looseObject({ a: integer.nullish().refine((value) => value !== 3) }), '{"a":1}'],
  ['a refined record', z.looseObject({ a: timestamp }).refine(() => true), '{"a":"2026-01-01T00:00:00Z"}'],
  ['a name that a pattern reads otherwise', z.looseObject({ 'a.b': text }), '{"a.b":"c"}'],
])('a schema with %s is left to the library', (_, schema, given) => {
  expect(schema.safeParse(JSON.parse(given)).success).toBe(true);
  expect(plainTextOf(schema)(given)).toBe(false);
});
