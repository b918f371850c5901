import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { askAnalysis } from '../../../src/answers/query/ask-rows.js';
import { analyses } from '../../../src/answers/query/catalog.js';
import { ask } from '../../../src/answers/query/question.js';
import { Reader } from '../../../src/answers/query/reader.js';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import { TABLES } from '../../../src/warehouse/log/folder/tables.js';
import { updateIndex } from '../../../src/warehouse/log/update-index.js';
import { temporaryFolder } from '../../given/folder.js';
import { type BuiltWarehouse, buildWarehouse } from '../../given/warehouse.js';
import { NIGHTS, NOW, pages } from './given.js';

const LIMITS = { memoryLimit: 256_000_000 };
const anyRow = z.record(z.string(), z.unknown());
const CATALOGS = [
  ...['from duckdb_views()', 'from duckdb_functions() where not internal', 'from information_schema.tables'],
  ...['from sqlite_master', 'show all tables', 'pragma database_list'],
];

/** What nobody but the owner of `other` may see. */
const OF_OTHERS = /other\.example|"other"|shop2/;

const scratch = temporaryFolder();
const indexed = join(scratch, 'warehouse');
let built: BuiltWarehouse;
beforeAll(async () => {
  // The folder of `shop` is the beginning of another's.
  const [first, ...later] = NIGHTS;
  const lists = { ...first?.lists, shop2: pages('shop2', 3) };
  built = await buildWarehouse([{ at: first?.at ?? '', lists }, ...later]);
  cpSync(built.path, indexed, { recursive: true });
  await updateIndex(indexed, { ...LIMITS, temporary: scratch }, NOW + 86_400_000 * 5, 1);
});

async function opened(warehouse: string, websites?: string[]): Promise<Reader> {
  const reader = await Reader.open({ warehouse, ...LIMITS, websites });
  onTestFinished(() => reader.close());
  return reader;
}

async function answer(reader: Reader, sql: string): Promise<string> {
  const { columns, parts } = await ask(reader, { name: 'test', sql, parameters: {} });
  const rows: unknown[] = [columns];
  for await (const part of parts) rows.push(...part);
  return JSON.stringify(rows);
}

describe('a warehouse with an index of old markers, of one website', () => {
  test('has the rows of that one in every table, and all of them', async () => {
    const own = await opened(indexed, ['shop']);
    const whole = await opened(indexed);
    for (const table of TABLES.filter((name) => name !== 'tombstones')) {
      const all = await whole.rows(anyRow, `from ${table} where website_id = 'shop' order by all`);
      expect([table, await own.rows(anyRow, `from ${table} order by all`)]).toEqual([table, all]);
    }
    expect((await own.rows(anyRow, 'from snapshots')).length).toBe(3);
    await own.loadMarkers();
    expect(own.markers).toHaveLength(3);
    expect(own.today).toBe('2025-03-03');
  });

  test('has nothing of others in any analysis, name or table of the system', async () => {
    const own = await opened(indexed, ['shop']);
    expect((await own.websites()).map(({ id }) => id)).toEqual(['shop', 'shop', 'shop']);
    for (const { name, parameters } of analyses()) {
      const all = { since: '2025-01-01', url: 'https://shop.example/blog/000' };
      const given = Object.entries(all).filter(([key]) => parameters.some((one) => one.name === key));
      const { rows } = await askAnalysis(own, name, Object.fromEntries(given));
      expect([name, JSON.stringify(rows)]).toEqual([name, expect.not.stringMatching(OF_OTHERS)]);
    }
    for (const sql of CATALOGS)
      expect([sql, await answer(own, sql)]).toEqual([sql, expect.not.stringMatching(OF_OTHERS)]);
    const names = "select schema_name || '.' || view_name as name from duckdb_views() where internal";
    for (const { name } of await own.engine.rows(z.object({ name: z.string() }), names)) {
      const found = await answer(own, `from ${name}`).catch((error: unknown) => String(error));
      expect([name, found]).toEqual([name, expect.not.stringMatching(OF_OTHERS)]);
      expect([name, found]).toEqual([name, expect.not.stringContaining(indexed)]);
    }
  });

  test('has an engine that cannot open a file of others', async () => {
    const own = await opened(indexed, ['shop']);
    const files = (await listTableFiles(indexed, 'coverage')).filter((file) => /website=(other|shop2)/.test(file));
    expect(files.length).toBeGreaterThan(2);
    for (const file of [...files, join(indexed, 'index', 'index.json'), join(indexed, 'parquet', 'snapshots', '*/*/*')])
      await expect(own.engine.rows(anyRow, 'from read_blob($file)', { file })).rejects.toThrow('Permission Error');
  });

  test('may have no website, or one that is not there', async () => {
    for (const websites of [[], ['nobody']]) {
      const own = await opened(indexed, websites);
      for (const table of TABLES) expect([table, await own.rows(anyRow, `from ${table}`)]).toEqual([table, []]);
      expect(await own.websites()).toEqual([]);
    }
  });
});
