import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { withEngine } from '../../../src/base/storage/engine.js';
import { sql } from '../../../src/base/storage/sql.js';
import { jsonOf } from '../../../src/base/validate.js';
import { coverageEntrySchema } from '../../../src/source/contract/coverage.js';
import { sqlType } from '../../../src/source/contract/fields.js';
import { urlReportSchema } from '../../../src/source/contract/report.js';
import { rowSchema } from '../../../src/source/search-console/search-analytics.js';
import { temporaryFolder } from '../../given/folder.js';

const NUMBERS = ['0', '1.0', '1.5', '-1', '1e3', '1e-400', '1e308', '1e999', '2147483647', '2147483648'];
const LARGE = ['9007199254740991', '9007199254740992', '9223372036854775807', '9223372036854775808', '1e19', '1e40'];
const NUMBER = fc.oneof(
  fc.constantFrom(...NUMBERS, ...LARGE),
  fc.double({ max: 1e12 }).map((number) => String(Math.round(number * 10) / 10 + 0)),
  fc.maxSafeNat().map(String),
);
const TIME = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
  .map((date) => date.toISOString());
const URL = fc.string({ maxLength: 20 }).map((path) => `https://shop.example/${path}`);
const TEXT = fc.oneof(TIME, URL, fc.string()).map((text) => JSON.stringify(text));
const VALUE = fc.oneof(
  NUMBER,
  TEXT,
  fc.constantFrom('null', 'true', '[]', '{}'),
  URL.map((url) => JSON.stringify([url])),
);

/** Records of any values that a schema accepts, field by field, as they come after they were judged. */
function accepted<T>(schema: z.ZodType<T>, fields: Record<string, fc.Arbitrary<string>>): T[] {
  const texts = fc.sample(fc.record(fields), { numRuns: 1_000, seed: 1 });
  const values = texts.map((record) =>
    Object.fromEntries(
      Object.entries(record).flatMap(([name, text]) => {
        const value = jsonOf(text);
        return schema instanceof z.ZodObject && !schema.shape[name].safeParse(value).success ? [] : [[name, value]];
      }),
    ),
  );
  return values.flatMap((value) => schema.safeParse(value).data ?? []);
}

/** @param before statements that run first */
async function read(
  lines: readonly object[],
  statement: (file: string) => string,
  before: readonly string[] = [],
): Promise<Record<string, unknown>[]> {
  const folder = temporaryFolder();
  const file = join(folder, 'lines.json');
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return withEngine({ memoryLimit: 256e6, temporary: folder }, async (engine) => {
    await engine.set({ search_file: file });
    for (const one of before) await engine.run(one);
    return engine.rows(z.record(z.string(), z.unknown()), statement(file));
  });
}

it.each([
  ['entry', coverageEntrySchema],
  ['report', urlReportSchema],
] as const)('whatever is accepted as an %s, DuckDB reads in full', async (_, schema) => {
  const fields = Object.fromEntries(Object.keys(schema.shape).map((name) => [name, VALUE]));
  const records = accepted<object>(schema, { ...fields, url: URL.map((url) => JSON.stringify(url)) });
  expect(records.length).toBeGreaterThan(100);
  const columns = `columns = {record: '${sqlType(schema)}'}`;
  const counts = Object.keys(fields).map((name) => `count(record.${name})::integer as ${name}`);
  const statement = (file: string) =>
    `select ${counts} from read_json('${file}', format = 'newline_delimited', ${columns})`;
  const count = (name: string) =>
    records.filter((one) => (jsonOf(JSON.stringify(one)) as Record<string, unknown>)[name] != null).length;
  expect(
    await read(
      records.map((record) => ({ record })),
      statement,
    ),
  ).toEqual([Object.fromEntries(Object.keys(fields).map((name) => [name, count(name)]))]);
});

it('whatever is accepted as a row of search analytics is stored as Google gave it', async () => {
  const row = z.preprocess(({ url, ...row }: Record<string, unknown>) => ({ keys: [url], ...row }), rowSchema);
  const fields = { url: URL.map((url) => JSON.stringify(url)), clicks: NUMBER, impressions: NUMBER, position: NUMBER };
  const rows = accepted(row, fields).map(({ key: _, ...figures }, at) => {
    return { url: `https://shop.example/${String(at).padStart(5, '0')}`, ...figures };
  });
  expect(rows.length).toBeGreaterThan(100);
  const day = { kind: 'rows', date: '2026-11-01', type: 'web', is_final: true };
  const views = ['journal_search', 'search_pages'].map((name) => sql(`sync/stage/${name}`));
  const stored = await read([{ ...day, rows }], () => `from (${sql('sync/stage/search_final')}) order by url`, views);
  const counts = (row: Record<string, unknown>) => [row['url'], Number(row['clicks']), Number(row['impressions'])];
  expect(stored.map(counts)).toEqual(rows.map(counts));
  const positions = stored.map(({ position }) => (position === null ? null : Number(position)));
  expect(positions).toEqual(rows.map(({ position }) => position));
});
