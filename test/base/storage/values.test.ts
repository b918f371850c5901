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
  ['9007199254740991::bigint', 9007199254740991],
  ['9007199254740993::bigint', '9007199254740993'],
  ["'170141183460469231731687303715884105727'::hugeint", '170141183460469231731687303715884105727'],
  ["'nan'::double", null],
  ["'2025-03-01 02:03:04.567899+00'::timestamptz", '2025-03-01T02:03:04.567Z'],
  ["'2025-03-01 04:00:00+02'::timestamptz", '2025-03-01T02:00:00.000Z'],
  ["'1969-12-31 23:59:59.9995'::timestamp", '1969-12-31T23:59:59.999Z'],
  ["'2025-03-01 02:00:00.123456789'::timestamp_ns", '2025-03-01T02:00:00.123Z'],
  ["'infinity'::timestamptz", null],
  ["'10000-01-01 00:00:00'::timestamp", '10000-01-01 00:00:00'],
  ["'2025-03-01'::date", '2025-03-01'],
  ["'44-03-15 (BC)'::date", '0044-03-15 (BC)'],
  ['\'{"a": [1]}\'::json', '{"a": [1]}'],
  ["{'at': '2025-03-01 02:00:00+00'::timestamptz, n: 3::bigint}", { at: '2025-03-01T02:00:00.000Z', n: 3 }],
  ["map {'a': 1.5, 'b': null}", { a: 1.5, b: null }],
  ["'\\xAA'::blob", '\\xAA'],
])('%s', async (expression, value) => {
  expect(await engine.rows(z.unknown(), `select ${expression} as value`)).toEqual([{ value }]);
});
