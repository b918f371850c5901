import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { withEngine } from '../../../src/base/storage/engine.js';
import { packageFolder } from '../../../src/base/storage/sql.js';
import { attachForWriting, createDatabase, createViews } from '../../../src/warehouse/copies/duckdb.js';
import { createTables, TABLES } from '../../../src/warehouse/log/folder/tables.js';
import { temporaryFolder } from '../../given/folder.js';

const FILE = join(packageFolder(), 'sql', 'warehouse', 'columns.json');

it('holds the columns that the statements make; UPDATE_GENERATED=1 rewrites it', async () => {
  const lines = await withEngine(
    { memoryLimit: 256e6, temporary: join(tmpdir(), 'indexhouse-test') },
    async (engine) => {
      await createTables(engine);
      const row = z.object({ column_name: z.string(), column_type: z.string() });
      const columnsOf = async (table: string) => engine.rows(row, `describe ${table}`);
      return Promise.all(
        TABLES.map(async (table) => {
          const columns = (await columnsOf(table)).map(({ column_name, column_type }) => [column_name, column_type]);
          return `  ${JSON.stringify(table)}: ${JSON.stringify(Object.fromEntries(columns))}`;
        }),
      );
    },
  );
  const text = `{\n${lines.join(',\n')}\n}\n`;
  if (process.env['UPDATE_GENERATED']) writeFileSync(FILE, text);
  expect(readFileSync(FILE, 'utf8')).toBe(text);
});

it('the views of indexhouse.duckdb are made again if their text changes', async () => {
  const folder = temporaryFolder();
  await withEngine({ memoryLimit: 256e6, temporary: folder }, async (engine) => {
    await createDatabase(engine, join(folder, 'native.duckdb'), 'UTC');
    await attachForWriting(engine, join(folder, 'native.duckdb'), 'native');
    await createViews(engine, 'UTC');
    await engine.run('create or replace view coverage_daily as select 1 as one');
    await engine.run("update views_of set text_sha256 = 'of before'");
    await createViews(engine, 'UTC');
    await engine.run('select service_link from coverage_daily');
  });
});
