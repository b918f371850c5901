import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askAnalysis } from '../../src/analysis/ask-rows.js';
import { type Analysis, analyses } from '../../src/analysis/catalog.js';
import type { Reader } from '../../src/analysis/reader.js';
import { UsageError } from '../../src/exit.js';
import { listTableFiles, tableFile } from '../../src/warehouse/layout.js';
import { prepareWarehouse } from '../../src/warehouse/prepare.js';
import { temporaryFolder } from '../given/folder.js';
import { rewrite } from '../given/tamper.js';
import { type BuiltWarehouse, buildWarehouse } from '../given/warehouse.js';
import { openReader } from './given.js';

const DAY = '2025-03-20';
const A = 'https://shop.example/a';

const clean: (() => void | Promise<void>)[] = [];
let warehouse: BuiltWarehouse;
let reader: Reader;
let empty: Reader;

/** Of the 20th: a listing of shop, and a run of blog that came to nothing. */
beforeAll(async () => {
  warehouse = await buildWarehouse([{ at: `${DAY}T02:00:00Z`, lists: { shop: [{ url: A }] } }]);
  const [run = ''] = await listTableFiles(warehouse.path, 'runs');
  const folder = dirname(tableFile(warehouse.path, 'runs', { websiteId: 'blog', date: DAY, id: '' }));
  mkdirSync(folder, { recursive: true });
  const failed = join(folder, 'failed.parquet');
  copyFileSync(run, failed);
  await rewrite(failed, "select * replace ('blog' as website_id, null as snapshot_id, 'failed' as outcome) from self");
  reader = await openReader(warehouse.path);
});

beforeAll(async () => {
  const path = join(
    temporaryFolder((each) => void clean.push(each)),
    'warehouse',
  );
  await prepareWarehouse(path, 'UTC', 256e6);
  empty = await openReader(path);
});

afterAll(async () => {
  reader.close();
  empty.close();
  warehouse.remove();
  for (const each of clean) await each();
});

/** This, and the page that some analyses must be given. */
function givenTo({ parameters }: Analysis, more: Record<string, string>): Record<string, string> {
  return parameters.some(({ name }) => name === 'url') ? { url: A, ...more } : more;
}

const rowsOf = async (from: Reader, name: string, given: Record<string, string>) =>
  (await askAnalysis(from, name, given)).rows.length;

describe('the website that an analysis is asked about', () => {
  it.each(analyses().map((analysis) => [analysis.name, analysis] as const))(
    '%s: must be one of the warehouse, which are told',
    async (name, analysis) => {
      const asked = askAnalysis(reader, name, givenTo(analysis, { website: 'typo.example' }));
      await expect(asked).rejects.toThrow(
        new UsageError('no website "typo.example" in the warehouse. It has:\n  shop  https://shop.example\n  blog'),
      );
      expect(await rowsOf(empty, name, givenTo(analysis, { website: 'typo.example' }))).toBe(0);
    },
  );

  it('is known by its id, by its name, and by runs that came to nothing', async () => {
    expect(await rowsOf(reader, 'indexing_trend', { website: 'shop' })).toBe(1);
    expect(await rowsOf(reader, 'indexing_trend', { website: 'https://shop.example' })).toBe(1);
    expect(await rowsOf(reader, 'indexing_trend', { website: 'blog' })).toBe(0);
    expect(await rowsOf(reader, 'api_usage', { website: 'blog' })).toBe(1);
    expect(await rowsOf(reader, 'indexing_trend', { website: 'all' })).toBe(1);
  });
});

describe('the period that an analysis is asked about', () => {
  const limited = analyses().filter(({ parameters }) => parameters.some(({ name }) => name === 'until'));

  it.each(limited.map(({ name }) => name))('%s: must not end before it begins', async (name) => {
    const given = { since: DAY, until: '2025-03-01' };
    const refused = `${name}: since (2025-03-20) lies after until (2025-03-01).\nIts parameters are:\n`;
    for (const from of [reader, empty]) await expect(askAnalysis(from, name, given)).rejects.toThrow(refused);
  });

  it('may begin where the newest snapshot lies before, and is a day at least', async () => {
    expect(await rowsOf(reader, 'api_usage', { since: '2025-03-21' })).toBe(0);
    expect(await rowsOf(reader, 'api_usage', { since: DAY, until: DAY })).toBe(2);
  });

  it('must not end before its default begins, unless there is no snapshot to count that from', async () => {
    const given = { until: '2025-03-01' };
    await expect(askAnalysis(reader, 'deindexed_pages', given)).rejects.toThrow(
      'deindexed_pages: since (2025-03-14) lies after until (2025-03-01).',
    );
    expect(await rowsOf(empty, 'deindexed_pages', given)).toBe(0);
  });
});

describe('the limit of a list', () => {
  it('can be taken away from all', async () => {
    for (const analysis of analyses().filter(({ parameters }) => parameters.some(({ name }) => name === 'limit'))) {
      await expect(askAnalysis(reader, analysis.name, givenTo(analysis, { limit: 'none' }))).resolves.toBeDefined();
      await expect(askAnalysis(reader, analysis.name, givenTo(analysis, { limit: '-1' }))).rejects.toThrow(
        `${analysis.name}: limit is not a whole number from 0, or none (given: -1)`,
      );
    }
  });
});
