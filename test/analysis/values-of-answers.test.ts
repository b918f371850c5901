import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { toRows, type Value } from '../../src/analysis/values.js';
import { literal } from '../../src/storage/sql.js';
import { plainValue } from './plain-values.js';

const SECOND = { micros: 1_000_000n, nanos: 1_000_000_000n };
/** Where the text of a time changes its form, in seconds since 1970. */
const EDGES = ['0000-01-01', '1970-01-01', '2024-02-29', '9999-12-31', '+010000-01-01'].map((date) => {
  return BigInt(Date.parse(`${date}T00:00:00Z`)) / 1000n;
});

let instance: DuckDBInstance;
let connection: DuckDBConnection;

beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
  await connection.run("set TimeZone = 'UTC'");
});

afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

/** Counts of so many a second since 1970 and up to `most`: anywhere, of our time, at whole days, and around edges. */
function counts(perSecond: bigint, most: bigint): fc.Arbitrary<bigint> {
  const edges = [2n ** 53n, -(2n ** 53n), ...EDGES.map((second) => second * perSecond)];
  const around = fc.tuple(fc.constantFrom(...edges), fc.bigInt(-2000n, 2000n)).map(([edge, off]) => edge + off);
  const days = fc.bigInt(-800_000n, 3_000_000n).map((day) => day * 86_400n * perSecond);
  const ours = fc.bigInt(0n, 2_000_000_000n * perSecond);
  return fc.oneof(fc.bigInt(-most, most), ours, days, around).filter((count) => count >= -most && count <= most);
}

const quoted = (value: unknown) => `'${value}'`;
/** Without a byte order mark in front, which the plain way loses. */
const text = fc
  .oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', 'exactly-12-b', 'a'.repeat(5000), '\u{1F600}'.repeat(9)))
  .filter((one) => one.isWellFormed() && !one.includes('\0') && !one.startsWith('\uFEFF'))
  .map(literal);
const date = fc
  .oneof(fc.integer({ min: -1_000_000, max: 4_000_000 }), fc.integer({ min: -2e9, max: 2e9 }))
  .map((days) => `'1970-01-01'::date + (${days})`);
const time = counts(SECOND.micros, 9_223_372_022_399_999_999n).map((count) => `make_timestamp(${count}::bigint)`);
const infinite = fc.constantFrom("'infinity'", "'-infinity'");

/** SQL expressions of values, by the type of their column. */
const VALUES: Record<string, fc.Arbitrary<string>> = {
  varchar: text,
  json: fc.json().map(literal),
  boolean: fc.boolean().map(String),
  integer: fc.integer().map(String),
  bigint: fc.oneof(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), fc.bigInt(2n ** 53n - 9n, 2n ** 53n + 9n)).map(quoted),
  hugeint: fc.bigInt(-(2n ** 126n), 2n ** 126n).map(quoted),
  double: fc.oneof(fc.double(), fc.constantFrom(Number.NaN, -0, Number.POSITIVE_INFINITY)).map(quoted),
  'decimal(18, 3)': fc
    .tuple(fc.bigInt(-(10n ** 14n), 10n ** 14n), fc.nat(999))
    .map(([whole, rest]) => `${whole}.${rest}`),
  'decimal(38, 10)': fc.bigInt(-(10n ** 27n), 10n ** 27n).map((whole) => quoted(`${whole}.0000000001`)),
  date: fc.oneof(date, infinite),
  timestamptz: fc.oneof(time, infinite),
  timestamp: fc.oneof(time, infinite),
  timestamp_s: fc.oneof(time, infinite),
  timestamp_ms: fc.oneof(time, infinite),
  timestamp_ns: fc.oneof(
    counts(SECOND.nanos, 9_223_286_400_000_000_000n).map((count) => `make_timestamp_ns(${count}::bigint)`),
    infinite,
  ),
  'varchar[]': fc.array(fc.oneof(text, fc.constant('null')), { maxLength: 4 }).map((all) => `[${all}]`),
  'timestamptz[]': fc.array(time, { maxLength: 3 }).map((all) => `[${all}]`),
};

/** The rows of an answer, as they are told and as they are when each value is told by itself. */
async function bothWays(query: string): Promise<{ rows: Value[][]; plain: Value[][] }> {
  const [rows, plain]: [Value[][], Value[][]] = [[], []];
  for await (const chunk of await connection.stream(query)) {
    rows.push(...toRows(chunk));
    plain.push(...chunk.convertRows<Value>((value) => plainValue(value)));
  }
  return { rows, plain };
}

it.each(Object.entries(VALUES))('every %s is told as its class has it', async (type, values) => {
  const column = fc.array(fc.option(values, { nil: 'null' }), { minLength: 1, maxLength: 200 });
  await fc.assert(
    fc.asyncProperty(column, async (given) => {
      const { rows, plain } = await bothWays(`values ${given.map((value) => `((${value})::${type})`)}`);
      expect(rows).toHaveLength(given.length);
      expect(rows).toEqual(plain);
    }),
    { numRuns: 10 },
  );
});

it('rows keep their columns, over many parts of an answer', async () => {
  const { rows, plain } = await bothWays(
    `select range as n, if(range % 3 = 0, null, 'row ' || range) as told, if(range % 7 = 0, null, ['a', told]) as list,
       if(range % 5 = 0, null, make_timestamp((range - 3000) * 86399999999)) as at
     from range(7000)`,
  );
  expect(rows).toEqual(plain);
  expect(rows.map(([n]) => n)).toEqual(Array.from({ length: 7000 }, (_, n) => n));
  expect(rows[3001]).toEqual([3001, 'row 3001', ['a', 'row 3001'], '1970-01-01T23:59:59.999Z']);
});
