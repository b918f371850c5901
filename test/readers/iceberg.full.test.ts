import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { z } from 'zod';
import { type Reader, withReader } from '../../src/answers/query/reader.js';
import { withEngine } from '../../src/base/storage/engine.js';
import { literal } from '../../src/base/storage/sql.js';
import { listTableFiles } from '../../src/warehouse/log/folder/layout.js';
import { openReader, rowsOf } from '../answers/query/given.js';
import { temporaryFolder } from '../given/folder.js';
import { icebergMetadata, publishIceberg } from '../given/iceberg.js';
import { CACHE, mayInstallTools } from '../given/packages.js';
import { randomWarehouse } from '../given/random-world.js';
import { maintainAt } from '../given/thinned.js';
import type { BuiltWarehouse } from '../given/warehouse.js';
import { GUIDE_STATEMENTS, queryAnswer, sorted } from './lake.js';
import { installPython, type PythonPackages, pythonPath } from './packages.js';

const NIGHTS = 30;
const PAGES = 40;
const DAY_MS = 86_400_000;
const WEBSITES = ['a/b %é', "it's [x]{y}*?", '#f&q=1;--', '日本語', 'plus+space ~'] as const;
const PROGRAM = fileURLToPath(new URL('iceberg.py', import.meta.url));
const ENGINES: Readonly<Record<string, PythonPackages>> = {
  pyiceberg: 'newest',
  polars: 'newest',
  duckdb: 'duckdb-1.4',
  clickhouse: 'chdb',
  spark: 'spark',
};
/** What the newest complete listing of each website holds. */
const LISTED = `with newest as (
    select website_id as website, max(snapshot_at) as newest_at from snapshots
    where listing_status = 'complete' group by website_id
  )
  select website_id, url, index_coverage_state from coverage
  join newest on newest.website = coverage.website_id and newest.newest_at = coverage.snapshot_at`;
/** What retention left. */
const LEFT = 'select website_id, snapshot_date, count(*) as pages from coverage group by website_id, snapshot_date';

const answersSchema = z.array(z.array(z.record(z.string(), z.unknown())));

const THERE = mayInstallTools()
  ? Object.keys(ENGINES).filter((engine) => installPython(ENGINES[engine] ?? 'newest'))
  : [];

describe.runIf(THERE.length > 0)('thirty nights of five websites as Iceberg tables', () => {
  let built: BuiltWarehouse;

  beforeAll(async () => {
    built = await randomWarehouse(4, NIGHTS, PAGES, WEBSITES);
    await publishIceberg(built.path);
  });

  test.for(THERE)('%s travels to what the log held at a time', async (engine, context) => {
    const times = icebergMetadata(built.path, 'snapshots').snapshots.map((one) => one['timestamp-ms']);
    const asked = [times[5] ?? 0, times[18] ?? 0];
    const byId = asked.map((at) => ({ coverage: idAt('coverage', at), snapshots: idAt('snapshots', at) }));
    const byTime = asked.map((at) => {
      const time = new Date(at).toISOString().replace('T', ' ').replace('Z', '');
      return { coverage: time, snapshots: time };
    });
    const versions = engine === 'spark' ? [...byId, ...byTime] : byId;
    const statements = versions.map((one) => ({ sql: LISTED, versions: one }));
    for (const [nth, rows] of ask(context, engine, statements).entries()) {
      const then = LISTED.replace("'complete'", `'complete' and epoch_ms(finished_at) <= ${asked[nth % asked.length]}`);
      const expected = await withReader({ warehouse: built.path, memoryLimit: 256e6 }, (reader) =>
        rowsOf(reader, then),
      );
      expect(sorted(rows, Object.keys(expected[0] ?? {}))).toEqual(sorted(expected));
    }
  });

  test.runIf(THERE.includes('pyiceberg'))('pyiceberg opens only files of the website and days', async (context) => {
    const [website] = WEBSITES;
    const sql = `website_id = '${website}' and snapshot_date >= '2025-03-10' and snapshot_date < '2025-03-20'`;
    const there = await listTableFiles(built.path, 'coverage');
    const wanted = there.filter((file) => file.includes(`/website=${encodeURIComponent(website)}/date=2025-03-1`));
    expect(wanted.length).toBeGreaterThan(5);
    const expected = { files: wanted.length, rows: await rowCount(wanted) };
    expect(ask(context, 'pyiceberg', [{ sql }])).toEqual([[expected]]);
  });

  describe('after retention', () => {
    let reader: Reader;

    beforeAll(async () => {
      const newest = icebergMetadata(built.path, 'snapshots').snapshots.at(-1)?.['timestamp-ms'] ?? 0;
      const { parquet } = await maintainAt(built.path, { retention: '10d', now: newest + DAY_MS });
      expect(parquet.length).toBeGreaterThan(WEBSITES.length);
      await publishIceberg(built.path);
      reader = await openReader(built.path);
    });

    test.for(THERE)('%s finds what is left', async (engine, context) => {
      expect(sorted(ask(context, engine, [{ sql: LEFT }])[0])).toEqual(sorted(await rowsOf(reader, LEFT)));
    });

    test.for(THERE.filter((engine) => ['clickhouse', 'spark', 'duckdb'].includes(engine)))(
      '%s answers the guide',
      async (engine, context) => {
        for (const [at, rows] of ask(context, engine, GUIDE_STATEMENTS).entries()) {
          const { name } = GUIDE_STATEMENTS[at] ?? expect.fail();
          expect(rows.length, `${name} has no rows`).toBeGreaterThan(0);
          const expected = await queryAnswer(reader, { name });
          const columns = Object.keys(rows[0] ?? {}).sort();
          expect([name, sorted(rows, columns)]).toEqual([name, sorted(expected, columns)]);
        }
      },
    );
  });

  function ask(context: TestContext, engine: string, statements: readonly object[]) {
    const input = JSON.stringify({ statements, warehouse: built.path, ivy: join(CACHE, '.ivy2') });
    const env = { ...process.env, PYTHONPATH: pythonPath(ENGINES[engine] ?? 'newest'), SPARK_LOCAL_IP: '127.0.0.1' };
    const options = { input, env, encoding: 'utf8', maxBuffer: 1e9 } as const;
    const { stdout, stderr, status } = spawnSync('python3', [PROGRAM, engine], options);
    const missing = status === 0 ? null : /JAVA_HOME is not set|unresolved dependency.*/.exec(stderr);
    if (missing) context.skip(`skipped: no Spark with Iceberg: ${missing[0]}`);
    if (status !== 0) throw new Error(stderr.slice(-5000));
    // Spark says there, too, what it downloads.
    return answersSchema.parse(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? ''));
  }

  function idAt(table: 'coverage' | 'snapshots', at: number): number {
    const found = icebergMetadata(built.path, table).snapshots.findLast((one) => one['timestamp-ms'] <= at);
    return found?.['snapshot-id'] ?? 0;
  }
});

function rowCount(files: readonly string[]): Promise<number> {
  const statement = `select count(*)::integer as n from read_parquet([${files.map(literal).join(', ')}])`;
  return withEngine({ memoryLimit: 256e6, temporary: temporaryFolder() }, async (engine) => {
    const [row] = await engine.rows(z.object({ n: z.int() }), statement);
    return row?.n ?? 0;
  });
}
