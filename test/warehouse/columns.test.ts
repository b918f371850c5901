import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { migrate } from '../../src/followers/duckdb.js';
import { withEngine } from '../../src/storage/engine.js';
import { packageFolder, sqlNames } from '../../src/storage/sql.js';
import { createTables, TABLES } from '../../src/warehouse/tables.js';

const FILE = join(packageFolder(), 'sql', 'columns.json');

it.each(['tables', 'macros'])('numbers the statements of sql/%s in their order, each once', (folder) => {
  const numbers = sqlNames(folder).map((name) => Number(basename(name).slice(0, 3)));
  expect(numbers).toEqual(numbers.map((_, at) => at + 1));
});

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

it('adds a field of the contract to a file from before it, and shows it in the views', async () => {
  const options = { memoryLimit: 256e6, temporary: join(tmpdir(), 'indexhouse-test') };
  await withEngine(options, async (engine) => {
    await migrate(engine);
    await engine.run('alter table coverage drop column service_link');
    await engine.run("update schema_migrations set name = 'views of before' where name like 'views %'");
    await migrate(engine);
    await engine.run('select service_link from coverage_daily');
    const [views, ...more] = await engine.rows(
      z.object({ name: z.string() }),
      "select name from schema_migrations where name like 'views %'",
    );
    expect([views?.name, more]).toEqual([expect.stringMatching(/^views [0-9a-f]{64}$/), []]);
  });
});
