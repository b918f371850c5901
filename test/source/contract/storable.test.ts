import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { withEngine } from '../../../src/base/storage/engine.js';
import { jsonOf } from '../../../src/base/validate.js';
import { coverageEntrySchema } from '../../../src/source/contract/coverage.js';
import { sqlType } from '../../../src/source/contract/fields.js';
import { urlReportSchema } from '../../../src/source/contract/report.js';
import { temporaryFolder } from '../../given/folder.js';

const NUMBERS = ['0', '1.0', '1.5', '-1', '1e-400', '1e308', '1e999', '2147483647', '2147483648'];
const LARGE = ['9007199254740991', '9007199254740992', '9223372036854775807', '9223372036854775808', '1e40'];
const TIME = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
  .map((date) => date.toISOString());
const URL = fc.string({ maxLength: 20 }).map((path) => `https://shop.example/${path}`);
const VALUE = fc.oneof(
  fc.constantFrom(...NUMBERS, ...LARGE, 'null', 'true', '[]', '{}'),
  fc.oneof(TIME, URL, fc.string()).map((text) => JSON.stringify(text)),
  URL.map((url) => JSON.stringify([url])),
);

it.each([
  ['entry', coverageEntrySchema],
  ['report', urlReportSchema],
] as const)('whatever is accepted as an %s, DuckDB reads in full', async (_, schema) => {
  const names = Object.keys(schema.shape);
  const fields = Object.fromEntries(names.map((name) => [name, VALUE]));
  const texts = fc.record({ ...fields, url: URL.map((url) => JSON.stringify(url)) });
  const records = fc.sample(texts, { numRuns: 1_000, seed: 1 }).flatMap((record) => {
    const values = Object.entries(record).map(([name, text]) => [name, jsonOf(text)] as const);
    const parts: Record<string, z.ZodType> = schema.shape;
    const good = values.filter(([name, value]) => parts[name]?.safeParse(value).success);
    return z.record(z.string(), z.unknown()).safeParse(schema.safeParse(Object.fromEntries(good)).data).data ?? [];
  });
  expect(records.length).toBeGreaterThan(100);
  const folder = temporaryFolder();
  const file = join(folder, 'lines.json');
  writeFileSync(file, records.map((record) => `${JSON.stringify({ record })}\n`).join(''));
  const counts = names.map((name) => `count(record.${name})::integer as ${name}`);
  const columns = `columns = {record: '${sqlType(schema)}'}`;
  const statement = `select ${counts} from read_json('${file}', format = 'newline_delimited', ${columns})`;
  const read = await withEngine({ memoryLimit: 256e6, temporary: folder }, (engine) =>
    engine.rows(z.record(z.string(), z.number()), statement),
  );
  const written: Record<string, unknown>[] = records.map((record) => JSON.parse(JSON.stringify(record)));
  const count = (name: string) => written.filter((record) => record[name] != null).length;
  expect(read).toEqual([Object.fromEntries(names.map((name) => [name, count(name)]))]);
});
