import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { Engine } from '../../../src/base/storage/engine.js';
import type { Value } from '../../../src/base/storage/values.js';
import { atEnd, temporaryFolder } from '../../given/folder.js';

let engine: Engine;

beforeAll(async () => {
  engine = await Engine.open({ memoryLimit: 256e6, temporary: temporaryFolder() });
  atEnd(() => engine.close());
});

it.each<[string, Value]>([
  ['null', null],
  ['true', true],
  ["'text'", 'text'],
  ['42::integer', 42],
  ['9007199254740991::bigint', 9007199254740991],
  ['9007199254740993::bigint', '9007199254740993'],
  ['(-9223372036854775808)::bigint', '-9223372036854775808'],
  ['sum(7::bigint)', 7],
  ["'170141183460469231731687303715884105727'::hugeint", '170141183460469231731687303715884105727'],
  ['1.5', 1.5],
  ['-0.25::decimal(4, 3)', -0.25],
  ['12345678901234567890.123::decimal(38, 3)', '12345678901234567890.123'],
  ['0.1::double', 0.1],
  ["'nan'::double", null],
  ["'-infinity'::double", null],
  ["'2025-03-01 02:03:04.567899+00'::timestamptz", '2025-03-01T02:03:04.567Z'],
  ["'2025-03-01 04:00:00+02'::timestamptz", '2025-03-01T02:00:00.000Z'],
  ["'1969-12-31 23:59:59.9995'::timestamp", '1969-12-31T23:59:59.999Z'],
  ["'2025-03-01 02:00:00.123456789'::timestamp_ns", '2025-03-01T02:00:00.123Z'],
  ["'2025-03-01 02:00:00.123'::timestamp_ms", '2025-03-01T02:00:00.123Z'],
  ["'2025-03-01 02:00:00'::timestamp_s", '2025-03-01T02:00:00.000Z'],
  ["'infinity'::timestamptz", null],
  ["'0001-01-01 00:00:00'::timestamp", '0001-01-01T00:00:00.000Z'],
  ["'10000-01-01 00:00:00'::timestamp", '10000-01-01 00:00:00'],
  ["'2025-03-01'::date", '2025-03-01'],
  ["'5881580-07-10'::date", '5881580-07-10'],
  ["'44-03-15 (BC)'::date", '0044-03-15 (BC)'],
  ["'infinity'::date", null],
  ["'02:03:04'::time", '02:03:04'],
  ['\'{"a": [1]}\'::json', '{"a": [1]}'],
  ["['a', null]", ['a', null]],
  ["[['2025-03-01'::date]]", [['2025-03-01']]],
  ['[1, 2]::integer[2]', [1, 2]],
  ["{'at': '2025-03-01 02:00:00+00'::timestamptz, n: 3::bigint}", { at: '2025-03-01T02:00:00.000Z', n: 3 }],
  ["map {'a': 1.5, 'b': null}", { a: 1.5, b: null }],
  ["map {1: 'x'}", { '1': 'x' }],
  ["union_value(k := 'v')", 'v'],
  ["'6a0e4a1c-0b3b-4a69-9d6f-5f7c9a5d1c11'::uuid", '6a0e4a1c-0b3b-4a69-9d6f-5f7c9a5d1c11'],
  ["'a'::enum('a', 'b')", 'a'],
  ["'\\xAA'::blob", '\\xAA'],
])('%s', async (expression, value) => {
  expect(await engine.rows(z.unknown(), `select ${expression} as value`)).toEqual([{ value }]);
});
