import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Engine, withEngine } from '../../src/base/storage/engine.js';
import { literal, packageFolder } from '../../src/base/storage/sql.js';
import { openReader, rowsOf } from '../answers/query/given.js';
import { asOf, givenEveryTable, MOMENTS } from '../given/every-table.js';
import { atEnd, temporaryFolder } from '../given/folder.js';

const GUIDE = readFileSync(join(packageFolder(), 'docs', 'bi', 'README.md'), 'utf8');
const [VIEWS = [], FILES = []] = GUIDE.split('\n## Read the Parquet files').map(statementsOf);

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

/** The statements of the SQL blocks. */
function statementsOf(guide: string): string[] {
  const blocks = [...guide.matchAll(/^```sql\n([\s\S]*?)```/gm)];
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

describe('docs/bi/README.md', () => {
  beforeAll(async () => {
    warehouse = await givenEveryTable();
    const file = join(warehouse, 'analytics.duckdb');
    views = await Engine.open({ file, readOnly: true, memoryLimit: 256e6, temporary: temporaryFolder() });
    atEnd(() => views.close());
    await views.run(`set file_search_path = ${literal(dirname(warehouse))}`);
  });

  test.each(VIEWS)('has SQL that finds rows: %s', async (statement) => {
    expect(await views.rows(z.record(z.string(), z.unknown()), statement)).not.toEqual([]);
  });

  test.each(MOMENTS)('counts bare files as a question does, in a warehouse %s', async (moment) => {
    const copy = await asOf(moment, warehouse);
    const reader = await openReader(copy);
    const asked = await rowsOf(
      reader,
      `select snapshot_date::varchar as date, count(*)::integer as pages from coverage group by all order by all`,
    );
    expect(asked).toEqual(PAGES[moment]);
    const counted = await withEngine({ memoryLimit: 256e6, temporary: temporaryFolder() }, async (engine) => {
      await engine.run(`set file_search_path = ${literal(dirname(copy))}`);
      for (const statement of FILES.slice(0, -1)) await engine.run(statement);
      return byDay(engine, FILES.at(-1));
    });
    expect(counted).toEqual(asked);
  });

  test('counts every day, one that retention has thinned, too', async () => {
    expect(await byDay(views, VIEWS[0])).toEqual([
      { date: '2025-03-01', pages: 10 },
      { date: '2025-03-02', pages: 3 },
    ]);
  });
});
