import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Engine, withEngine } from '../../src/base/storage/engine.js';
import { literal, packageFolder } from '../../src/base/storage/sql.js';
import { openReader, rowsOf } from '../answers/query/given.js';
import { asOf, givenEveryTable, MOMENTS } from '../given/every-table.js';
import { atEnd, temporaryFolder } from '../given/folder.js';

const GUIDES = join(packageFolder(), 'docs', 'bi');
const FILES = readdirSync(GUIDES);

const WITH_SQL = FILES.filter((file) => statementsOf(file).length > 0);
/** Of the first night no row counts once its listing is out of use. */
const PAGES = {
  'with nothing in it': [],
  'after one night': [{ date: '2025-03-01', pages: 10 }],
  'after two nights': [
    { date: '2025-03-01', pages: 10 },
    { date: '2025-03-02', pages: 3 },
  ],
  'after maintain': [{ date: '2025-03-02', pages: 3 }],
};

let warehouse: string;
let views: Engine;

/** The statements of a guide's SQL blocks. */
function statementsOf(file: string): string[] {
  const blocks = [...readFileSync(join(GUIDES, file), 'utf8').matchAll(/^ *```sql\n([\s\S]*?)```/gm)];
  return blocks.flatMap(([, block]) => (block ?? '').split(/;\s*$/m)).filter((statement) => statement.trim() !== '');
}

/** What a statement about pages counts on each date. */
function byDay(engine: Engine, statement = ''): Promise<{ date: string; pages: number }[]> {
  return engine.rows(
    z.object({ date: z.string(), pages: z.number() }),
    `select snapshot_date::varchar as date, sum(pages)::integer as pages
     from (${statement}\n) group by all order by all`,
  );
}

describe('the guides in docs/bi', () => {
  beforeAll(async () => {
    warehouse = await givenEveryTable();
    const file = join(warehouse, 'analytics.duckdb');
    views = await Engine.open({ file, readOnly: true, memoryLimit: 256e6, temporary: temporaryFolder() });
    atEnd(() => views.close());
    await views.run(`set file_search_path = ${literal(dirname(warehouse))}`);
  });

  test.each(WITH_SQL)('%s holds SQL that runs as it stands there', async (file) => {
    for (const statement of statementsOf(file)) {
      const rows = await views.rows(z.record(z.string(), z.unknown()), statement);
      // A setting, a macro, and the nights that are not whole, of which there are none here.
      if (!/^\s*set |create or replace temp macro|listing_status <>/.test(statement))
        expect([statement, rows.length]).not.toEqual([statement, 0]);
    }
  });

  test.each(MOMENTS)('count bare files as a question does, in a warehouse %s', async (moment) => {
    const copy = await asOf(moment, warehouse);
    const reader = await openReader(copy);
    const asked = await rowsOf(
      reader,
      `select snapshot_date::varchar as date, count(*)::integer as pages from coverage group by all order by all`,
    );
    expect(asked).toEqual(PAGES[moment]);
    const counted = await withEngine({ memoryLimit: 256e6, temporary: temporaryFolder() }, async (engine) => {
      await engine.run(`set file_search_path = ${literal(dirname(copy))}`);
      const statements = statementsOf('parquet.md');
      for (const statement of statements.slice(0, -1)) await engine.run(statement);
      return byDay(engine, statements.at(-1));
    });
    expect(counted).toEqual(asked);
  });

  test('count every day, one that retention has thinned, too', async () => {
    const notebook = /seo\.sql\("""([\s\S]*?)"""\)/.exec(readFileSync(join(GUIDES, 'notebooks.md'), 'utf8'))?.[1];
    const trends = ['README.md', 'evidence.md', 'superset.md'].map((file) => statementsOf(file)[0]);
    for (const statement of [...trends, notebook]) {
      expect([statement, await byDay(views, statement)]).toEqual([
        statement,
        [
          { date: '2025-03-01', pages: 10 },
          { date: '2025-03-02', pages: 3 },
        ],
      ]);
    }
  });
});
