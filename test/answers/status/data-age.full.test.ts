import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withReader } from '../../../src/answers/query/reader.js';
import type { AgeRule } from '../../../src/answers/query/reader-options.js';
import { ageText, dataAgeOf } from '../../../src/answers/status/data-age.js';
import { DAY_MS } from '../../../src/base/time.js';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { buildWarehouse, syncAt } from '../../given/warehouse.js';
import { indexed } from '../report/given.js';

const NEWEST = Date.parse('2025-03-03T02:00:00Z');
const SHOP = 'https://shop.example/';
const NO_RUN = 'as of 2025-03-03 02:00 UTC: no run since 2025-03-03 02:00 UTC; check that `indexhouse sync` runs';

const { path } = await buildWarehouse([
  { at: '2025-03-01T02:00:00Z', lists: { shop: [indexed(SHOP)], other: [indexed('https://other.example/')] } },
  { at: '2025-03-03T02:00:00Z', lists: { shop: [indexed(SHOP)] } },
]);
await syncAt({ baseUrl: 'http://127.0.0.1:1', warehouse: path, at: '2025-03-03T03:00:00Z', websites: ['other'] });

/** What is said of a website, or of all, so many days after the newest snapshot. */
function said(days: number, website: string | null, ageRule?: AgeRule, warehouse = path) {
  return withReader({ warehouse, memoryLimit: 256e6, ageRule }, async (reader) => {
    const age = await dataAgeOf(reader, await reader.newest(website), NEWEST + days * DAY_MS);
    return age && ageText(age);
  });
}

test('data that is too old is said to be, with the reason; of several websites, that of the oldest', async () => {
  expect([await said(2, 'shop'), await said(10, 'none')]).toEqual(['as of 2025-03-03 02:00 UTC', null]);
  expect(await said(10, 'shop')).toBe(`this data is 10 days old, ${NO_RUN}`);
  // The run of the second night failed.
  expect(await said(10, null)).toMatch(
    /^the data of https:\/\/other\.example is 12 days old, as of 2025-03-01 02:00 UTC: the last run got no snapshot: /,
  );
  const rule = { maxAge: 30 * DAY_MS, websites: [] };
  expect(await said(10, null, rule)).toBe('as of 2025-03-01 02:00 UTC (https://other.example, the oldest)');
  expect(await said(10, null, { ...rule, websites: [{ id: 'shop' }] })).toBe('as of 2025-03-03 02:00 UTC');
  const copy = copyOf(path);
  mkdirSync(join(copy, 'runs', '01955a2b-1400-7000-8000-000000000000', 'shop'), { recursive: true });
  expect(await said(10, 'shop', undefined, copy)).toMatch(/: the run of 2025-03-03 04:02 UTC is not finished$/);
});

test('query says so on stderr, and of fresh data only as of when it is', async () => {
  const sql = ['query', '--sql', 'select 1 as one', '--format', 'csv', '--log-level', 'warn'];
  const stderr = expect.stringMatching(/^indexhouse: the data of https:\/\/other\.example is \d+ days old[^\n]*\n$/);
  expect(await run([...sql, '--warehouse', path])).toMatchObject({ code: 0, stdout: 'one\r\n1\r\n', stderr });
  const sections = { warehouse: { path }, status: { max_age: '3650d' } };
  const config = ['-c', writeConfig(temporaryFolder(), { baseUrl: 'http://127.0.0.1:1', sections })];
  const fresh = await run(['query', 'indexing_trend', 'website=shop', '--format', 'json', ...config]);
  expect(fresh).toMatchObject({ code: 0, stderr: 'indexhouse: as of 2025-03-03 02:00 UTC\n' });
  expect(await run([...sql, ...config])).toMatchObject({ stdout: 'one\r\n1\r\n', stderr: '' });
});
