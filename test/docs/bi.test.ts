import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Engine } from '../../src/storage/engine.js';
import { literal, packageFolder } from '../../src/storage/sql.js';
import { givenEveryTable } from '../given/every-table.js';
import { temporaryFolder } from '../given/folder.js';

const GUIDES = join(packageFolder(), 'docs', 'bi');
const FILES = readdirSync(GUIDES);
const clean: (() => void | Promise<void>)[] = [];

let views: Engine;

/** The statements of a guide's SQL blocks. */
function statementsOf(file: string): string[] {
  const blocks = [...readFileSync(join(GUIDES, file), 'utf8').matchAll(/^ *```sql\n([\s\S]*?)```/gm)];
  return blocks.flatMap(([, block]) => (block ?? '').split(/;\s*$/m)).filter((statement) => statement.trim() !== '');
}

/** What a statement about pages counts on each date. */
function byDay(statement = ''): Promise<{ date: string; pages: number }[]> {
  return views.rows(
    z.object({ date: z.string(), pages: z.number() }),
    `select snapshot_date::varchar as date, sum(pages)::integer as pages
     from (${statement}\n) group by all order by all`,
  );
}

describe('the guides in docs/bi', () => {
  beforeAll(async () => {
    const onFinished = (each: () => void | Promise<void>) => void clean.push(each);
    const warehouse = await givenEveryTable('zstd', onFinished);
    const file = join(warehouse, 'analytics.duckdb');
    views = await Engine.open({ file, readOnly: true, memoryLimit: 256e6, temporary: temporaryFolder(onFinished) });
    await views.run(`set file_search_path = ${literal(dirname(warehouse))}`);
  });

  afterAll(async () => {
    views.close();
    for (const each of clean.reverse()) await each();
  });

  test.each(FILES)('%s holds SQL that runs as it stands there', async (file) => {
    const statements = statementsOf(file);
    expect(statements.length).toBeGreaterThan(0);
    for (const statement of statements) {
      const rows = await views.rows(z.record(z.string(), z.unknown()), statement);
      // A setting, and the nights that are not whole, of which there are none here.
      if (!/^\s*set |listing_status <>/.test(statement)) expect([statement, rows.length]).not.toEqual([statement, 0]);
    }
  });

  test('count bare files as the views do, while what is out of use is still there', async () => {
    // Of the first night, whose listing is out of use, no row counts; of the second, two are of a replay.
    expect(await byDay(statementsOf('parquet.md')[0])).toEqual([{ date: '2025-03-02', pages: 4 }]);
    expect(await byDay(statementsOf('power-bi.md')[0])).toEqual([{ date: '2025-03-02', pages: 2 }]);
    expect(await byDay('select snapshot_date, count(*) as pages from coverage group by all')).toEqual([
      { date: '2025-03-02', pages: 4 },
    ]);
  });

  test('count every day, one that retention has thinned, too', async () => {
    const notebook = /seo\.sql\("""([\s\S]*?)"""\)/.exec(readFileSync(join(GUIDES, 'notebooks.md'), 'utf8'))?.[1];
    const trends = ['README.md', 'evidence.md', 'superset.md'].map((file) => statementsOf(file)[0]);
    for (const statement of [...trends, notebook]) {
      expect([statement, await byDay(statement)]).toEqual([
        statement,
        [
          { date: '2025-03-01', pages: 10 },
          { date: '2025-03-02', pages: 4 },
        ],
      ]);
    }
  });

  test('are all named by README.md and by the overview, and name no file that is not there', () => {
    const overview = readFileSync(join(GUIDES, 'README.md'), 'utf8');
    const readme = readFileSync(join(packageFolder(), 'README.md'), 'utf8');
    for (const file of FILES) {
      if (file !== 'README.md') expect(overview).toContain(`](${file})`);
      expect(readme).toContain(`](docs/bi/${file})`);
      const links = [...readFileSync(join(GUIDES, file), 'utf8').matchAll(/\]\((?!https:)([^)#]+)/g)];
      for (const [, link] of links) expect(() => readFileSync(join(GUIDES, link ?? ''))).not.toThrow();
    }
  });
});
