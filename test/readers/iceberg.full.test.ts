import { spawnSync } from 'node:child_process';
import { renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { z } from 'zod';
import { withEngine } from '../../src/storage/engine.js';
import { literal } from '../../src/storage/sql.js';
import { listTableFiles } from '../../src/warehouse/layout.js';
import { columnsOf } from '../../src/warehouse/tables.js';
import { run } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';
import { icebergMetadata, publishIceberg } from '../given/iceberg.js';
import { CACHE, mayInstallTools } from '../given/packages.js';
import { mendPayloads } from '../given/quarantine.js';
import { randomWarehouse } from '../given/random-world.js';
import { replayNow } from '../given/replayed.js';
import { type ServedWarehouse, serveWarehouse } from '../given/served.js';
import { maintainAt } from '../given/thinned.js';
import { type BuiltWarehouse, configFor } from '../given/warehouse.js';
import { ANALYSES, LEFT, LISTED } from './iceberg-analyses.js';
import { installPython, type PythonPackages, pythonPath } from './packages.js';

const NIGHTS = 30;
const PAGES = 40;
const DAY_MS = 86_400_000;
const WEBSITES = ['a/b %é', "it's [x]{y}*?", '#f&q=1;--', '日本語', 'plus+space ~'] as const;
const PROGRAM = fileURLToPath(new URL('iceberg.py', import.meta.url));
const TABLES = ['coverage', 'coverage_summary', 'page_changes', 'page_state', 'snapshots'] as const;
const ENGINES: Readonly<Record<string, PythonPackages>> = {
  pyiceberg: 'lake',
  polars: 'lake',
  chdb: 'chdb',
  duckdb: 'duckdb-1.4',
  spark: 'spark',
};
type Rows = readonly (readonly unknown[])[];
const answersSchema = z.array(z.object({ rows: z.array(z.array(z.unknown())), seconds: z.number() }));
const rowsSchema = z.array(z.record(z.string(), z.unknown()));
const snapshotsSchema = z.object({
  snapshots: z.array(z.looseObject({ time: z.string(), listing_status: z.string(), pages: z.int() })),
});
const listingSchema = z.object({
  urls: z.array(z.looseObject({ url: z.string(), index_coverage_state: z.string().nullable() })),
});

const THERE = mayInstallTools()
  ? Object.keys(ENGINES).filter((engine) => installPython(ENGINES[engine] ?? 'lake'))
  : [];

describe.runIf(THERE.length > 0)('thirty nights of five websites as Iceberg tables', () => {
  const clean: (() => void | Promise<void>)[] = [];
  let built: BuiltWarehouse;

  beforeAll(async () => {
    built = await randomWarehouse(4, NIGHTS, PAGES, WEBSITES);
    clean.push(built.remove);
    await withoutNewestColumn(built.path);
    await mendPayloads(built.path, { '"index_summary":5': '"index_summary":"Not Indexed"' });
    await publishIceberg(built.path);
  });

  afterAll(async () => {
    for (const each of clean.reverse()) await each();
  });

  describe('as they were at a time', () => {
    const nights: Listed[] = [];

    beforeAll(async () => {
      const served = await serveWarehouse({ warehouse: built.path, now: Date.now, keys: { k: [...WEBSITES] } });
      const { snapshots } = icebergMetadata(built.path, 'snapshots');
      for (const from of [5, 18]) {
        const times = snapshots.slice(from).map((one) => one['timestamp-ms']);
        nights.push(await firstListed(served, times));
      }
      await served.close();
    });

    test.for(THERE)('%s lists what the service lists with as_of', (engine, context) => {
      const byId = nights.map(({ at }) => ({ coverage: idAt('coverage', at), snapshots: idAt('snapshots', at) }));
      const byTime = nights.map(({ at }) => {
        const time = new Date(at).toISOString().replace('T', ' ').replace('Z', '');
        return { coverage: time, snapshots: time };
      });
      const versions = engine === 'spark' ? [...byId, ...byTime] : byId;
      const statements = versions.map((one) => ({ sql: LISTED, versions: one }));
      const answers = ask(context, engine, { tables: ['coverage', 'snapshots'], statements });
      for (const [nth, { rows }] of answers.entries()) {
        const { listings } = nights[nth % nights.length] ?? expect.fail();
        for (const [website, { pages, states }] of listings) {
          const listed = rows.filter(([id]) => id === website);
          expect([website, listed.length]).toEqual([website, pages]);
          for (const [, url, state] of listed) expect([url, state]).toEqual([url, states.get(String(url))]);
        }
      }
    });
  });

  test.runIf(THERE.includes('pyiceberg'))(
    'pyiceberg opens the files of one website and ten days alone',
    async (context) => {
      const [website] = WEBSITES;
      const only = {
        coverage: `website_id = '${website}' and snapshot_date >= '2025-03-10' and snapshot_date < '2025-03-20'`,
      };
      const statements = [{ sql: 'coverage' }, { sql: 'coverage', filters: only }];
      const answers = ask(context, 'plan', { tables: [], statements });
      const [all, some] = answers.map(({ rows }) => rows[0]?.map(Number) ?? []);
      const there = await listTableFiles(built.path, 'coverage');
      const wanted = there.filter((file) => file.includes(`/website=${encodeURIComponent(website)}/date=2025-03-1`));
      expect(wanted.length).toBeGreaterThan(5);
      expect([all?.[0], some?.[0]]).toEqual([there.length, wanted.length]);
      expect([all?.[1], some?.[1]]).toEqual([await rowsOf(there), await rowsOf(wanted)]);
      const seconds = [some, all].map((one) => one?.[2]?.toFixed(2));
      process.stdout.write(
        `one website and ten days: ${wanted.length} of ${there.length} files, ${seconds.join(' of ')} s\n`,
      );
    },
  );

  describe('after replays and retention', () => {
    const expected: Record<string, string[]> = {};

    beforeAll(async () => {
      const config = configFor({ baseUrl: 'http://127.0.0.1:1', warehouse: built.path });
      expect((await replayNow(config)).snapshots.length).toBeGreaterThan(0);
      const newest = icebergMetadata(built.path, 'snapshots').snapshots.at(-1)?.['timestamp-ms'] ?? 0;
      const retention = { parquet_keep_daily: '10d', parquet_then: 'weekly' };
      const { parquet } = await maintainAt(built.path, { retention, now: newest + DAY_MS });
      expect(parquet.length).toBeGreaterThan(WEBSITES.length);
      await publishIceberg(built.path);
      const file = writeConfig(
        temporaryFolder((remove) => clean.push(remove)),
        {
          baseUrl: 'http://127.0.0.1:1',
          sections: { warehouse: { path: built.path } },
        },
      );
      const query = async (...asked: string[]) => {
        const { stdout } = await run(['query', ...asked, '--format', 'json', '--config', file]);
        const rows = rowsSchema.parse(JSON.parse(stdout));
        expect(rows.length, `${asked[0]} has no rows`).toBeGreaterThan(0);
        return rows;
      };
      for (const [name, { parameters = [], columns }] of Object.entries(ANALYSES)) {
        const rows = await query(name, ...parameters);
        expected[name] = sorted(rows.map((row) => columns.map((column) => row[column])));
      }
      expected['rows left'] = sorted((await query('--sql', LEFT)).map((row) => Object.values(row)));
    });

    test.for(THERE)('%s gives the rows of six analyses', (engine, context) => {
      const started = performance.now();
      const statements = [...Object.values(ANALYSES), { sql: LEFT }];
      const answers = ask(context, engine, { tables: TABLES, statements });
      const seconds = answers.reduce((sum, answer) => sum + answer.seconds, 0).toFixed(1);
      const all = ((performance.now() - started) / 1000).toFixed(1);
      process.stdout.write(`${engine}: six analyses in ${seconds} s, ${all} s with its start\n`);
      const named = [...Object.keys(ANALYSES), 'rows left'].map((name, at) => [name, sorted(answers[at]?.rows)]);
      expect(Object.fromEntries(named)).toEqual(expected);
    });
  });

  function ask(context: TestContext, engine: string, question: object) {
    const input = JSON.stringify({ ...question, warehouse: built.path, ivy: join(CACHE, '.ivy2') });
    const env = { ...process.env, PYTHONPATH: pythonPath(ENGINES[engine] ?? 'lake'), SPARK_LOCAL_IP: '127.0.0.1' };
    const { stdout, stderr, status } = spawnSync('python3', [PROGRAM, engine], {
      input,
      env,
      encoding: 'utf8',
      maxBuffer: 1e9,
    });
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

/** What the service lists as of a time, by website. */
interface Listed {
  at: number;
  listings: Map<string, { pages: number; states: Map<string, string | null> }>;
}

/** Of a time at which the newest listing of most websites was complete: else the service adds what earlier ones hold. */
async function firstListed(served: ServedWarehouse, times: readonly number[]): Promise<Listed> {
  for (const at of times) {
    const listings = await listedAsOf(served, new Date(at).toISOString());
    if (listings.size > 2) return { at, listings };
  }
  throw new Error('there is no such time');
}

/** A page that was quarantined that night has its earlier state. The newest listing holds so many `pages` without it. */
async function listedAsOf(served: ServedWarehouse, time: string): Promise<Listed['listings']> {
  const get = async (path: string) =>
    (await fetch(`${served.baseUrl}${path}`, { headers: { Authorization: 'Bearer k' } })).json();
  const listings: Listed['listings'] = new Map();
  for (const website of WEBSITES) {
    const id = encodeURIComponent(website);
    const { snapshots } = snapshotsSchema.parse(await get(`/v1/snapshots/${id}?limit=1000`));
    const newest = snapshots.find((one) => one.time <= time);
    if (newest?.listing_status !== 'complete') continue;
    const { urls } = listingSchema.parse(await get(`/v1/urls/${id}?limit=1000&as_of=${time}`));
    const states = new Map(urls.map((entry) => [entry.url, entry.index_coverage_state]));
    listings.set(website, { pages: newest.pages, states });
  }
  return listings;
}

/** One text a row: numbers are numbers, whatever their type. */
function sorted(rows: Rows = []): string[] {
  return rows.map((row) => JSON.stringify(row)).sort();
}

function rowsOf(files: readonly string[]): Promise<number> {
  const statement = `select count(*)::integer as n from read_parquet([${files.map(literal).join(', ')}])`;
  return withEngine({ memoryLimit: 256e6, temporary: temporaryFolder() }, async (engine) => {
    const [row] = await engine.rows(z.object({ n: z.int() }), statement);
    return row?.n ?? 0;
  });
}

/** As if a version that had one column less had written the oldest file. */
async function withoutNewestColumn(warehouse: string): Promise<void> {
  const oldest = (await listTableFiles(warehouse, 'coverage')).sort((a, b) => (basename(a) < basename(b) ? -1 : 1))[0];
  const column = columnsOf('coverage').at(-1)?.name;
  await withEngine({ memoryLimit: 256e6, temporary: temporaryFolder(() => {}) }, (engine) =>
    engine.copy(
      `select * exclude (${column}) from read_parquet(${literal(oldest ?? '')}, hive_partitioning = false)`,
      `${oldest}.new`,
      'format parquet',
    ),
  );
  renameSync(`${oldest}.new`, oldest ?? '');
}
