import fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { coverageEntrySchema } from '../../src/contract/coverage.js';
import { absoluteUrl, integer, text, timestamp } from '../../src/contract/fields.js';
import { isPlainRecord } from '../../src/contract/plain.js';
import { urlReportSchema } from '../../src/contract/report.js';
import { World } from '../../src/simulator/world.js';

const anyValue = fc.oneof(
  fc.constantFrom<unknown>(null, '', 'text', 0, -0, 3, 1.5, 2 ** 31, -(2 ** 31), true, [], {}),
  fc.constantFrom('https://www.example.com/ä?q=1#x', 'HTTP://a', '/a', 'https://', 'https://a b', 'https://a/\u007f'),
  fc.constantFrom(
    '2026-01-01T00:00:00Z',
    '2024-02-29T23:59:59.123456Z',
    '2023-02-29T00:00:00Z',
    '0000-01-01T00:00:00Z',
  ),
  fc
    .tuple(fc.nat(13), fc.nat(32), fc.nat(25), fc.constantFrom('', '.1', '.1234567'))
    .map(([month, day, hour, rest]) => `2026-${two(month)}-${two(day)}T${two(hour)}:00:00${rest}Z`),
  fc.array(fc.constantFrom<unknown>('https://a', 'a', null, 1), { maxLength: 2 }),
);

function two(number: number): string {
  return String(number).padStart(2, '0');
}

it.each([
  ['report', urlReportSchema],
  ['entry', coverageEntrySchema],
])('a %s that is recognised as plain is one that the contract accepts as it is', (_, schema) => {
  const names = fc.constantFrom(...Object.keys(schema.shape), 'unknown', '__proto__', 'toString');
  const members = fc.array(fc.tuple(names, anyValue), { maxLength: 6 });
  let recognised = 0;
  fc.assert(
    fc.property(members, fc.boolean(), (given, hasUrl) => {
      const all = hasUrl ? [...given, ['url', 'https://www.example.com/']] : given;
      const record: unknown = JSON.parse(
        `{${all.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)}}`,
      );
      if (!isPlainRecord(schema, record)) return;
      recognised++;
      expect(schema.parse(record)).toEqual(record);
    }),
    { numRuns: 2000 },
  );
  expect(recognised).toBeGreaterThan(20);
});

it('nearly every record of a service is recognised', () => {
  const world = new World({ websites: [{ id: 'w', pages: 500 }] });
  const pages = [...world.pages('w')];
  expect(pages.filter(({ report }) => !isPlainRecord(urlReportSchema, report)).length).toBeLessThan(5);
  expect(pages.filter(({ coverage }) => !isPlainRecord(coverageEntrySchema, coverage)).length).toBeLessThan(5);
});

it.each<[string, z.ZodType<object> & { shape: Record<string, unknown> }, object]>([
  ['a field of another form', z.looseObject({ a: z.email() }), { a: 'a@example.com' }],
  ['a refined field', z.looseObject({ a: text.min(2) }), { a: 'aa' }],
  ['a refined list', z.looseObject({ a: z.array(absoluteUrl).max(1) }), { a: ['https://a'] }],
  ['a refined nullable', z.looseObject({ a: integer.nullish().refine((value) => value !== 3) }), { a: 1 }],
  ['a refined record', z.looseObject({ a: timestamp }).refine(() => true), { a: '2026-01-01T00:00:00Z' }],
])('a schema with %s is left to the library', (_, schema, record) => {
  expect(schema.safeParse(record).success).toBe(true);
  expect(isPlainRecord(schema, record)).toBe(false);
});
