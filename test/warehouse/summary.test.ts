import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { withReader } from '../../src/analysis/reader.js';
import { writeAnalytics } from '../../src/followers/analytics.js';
import { rebuildDuckdb } from '../../src/followers/rebuild.js';
import { createLogger } from '../../src/observe/log.js';
import { replay } from '../../src/run/replay.js';
import { type Engine, withEngine } from '../../src/storage/engine.js';
import { sql } from '../../src/storage/sql.js';
import { listTableFiles } from '../../src/warehouse/layout.js';
import { createTables, viewStatements } from '../../src/warehouse/tables.js';
import { testAtLength } from '../given/at-length.js';
import { temporaryFolder } from '../given/folder.js';
import { givenNights, type Nights } from '../given/nights.js';
import { readTable } from '../given/parquet.js';
import { mendPayloads } from '../given/quarantine.js';
import { rewrite } from '../given/tamper.js';
import { findingsOf } from '../given/verified.js';
import { configFor } from '../given/warehouse.js';

const MEMORY = 256e6;
const LISTING_ONLY = { reports: { max_per_run: 0 } };
const INDEXED = { index_summary: 'Indexed', index_coverage_state: 'Submitted and indexed', canonicals_match: true };
const CRAWLED = { last_crawl_time: '2025-02-20T00:00:00.000Z', days_since_last_crawl: 9 };
/** Refused, until the payload is mended into one that is not. */
const BROKEN = { index_summary: 7 };
const MENDED = { '"index_summary":7': '"index_summary":"Not Indexed"' };

/** Two nights: pages with and without a directory, one that was never inspected, and one in quarantine. */
async function twoNights(followed: 'followed' | null = null): Promise<Nights> {
  const given = await givenNights(onTestFinished, followed);
  const blog = { 'blog/a': { ...INDEXED, ...CRAWLED }, 'blog/b': { ...INDEXED, ...CRAWLED, days_since_last_crawl: 3 } };
  const list = { ...blog, 'blog/c/d': { index_summary: 'Not Indexed' }, a: {}, 'b?c=/d/': INDEXED };
  await given.night({ list, sections: LISTING_ONLY });
  await given.night({ list: { ...blog, 'blog/c/d': BROKEN }, sections: LISTING_ONLY });
  return given;
}

async function summaryRows(warehouse: string) {
  const rows = await readTable(warehouse, 'coverage_summary');
  const shown = ['directory', 'index_summary', 'canonicals_match', 'pages', 'crawled', 'days_since_crawl_total'];
  return rows.map((row) => shown.map((name) => (typeof row[name] === 'bigint' ? Number(row[name]) : row[name])));
}

const SUMMARY = `select snapshot_id, directory, index_summary, index_coverage_state, canonicals_match,
    sum(pages)::integer as pages, sum(crawled)::integer as crawled, sum(days_since_crawl_total)::integer as days
  from snapshot_summary group by all order by all`;
const anyRow = z.record(z.string(), z.unknown());

/** The view, by every way to read it. */
async function summaryEverywhere(warehouse: string): Promise<unknown[]> {
  const read = (engine: Engine) => engine.rows(anyRow, SUMMARY);
  const inFile = (name: string) => {
    const options = { memoryLimit: MEMORY, temporary: temporaryFolder(), file: join(warehouse, name), readOnly: true };
    return withEngine(options, read);
  };
  const attached = withEngine({ memoryLimit: MEMORY, temporary: temporaryFolder() }, async (engine) => {
    await engine.run(`attach '${join(warehouse, 'indexhouse.duckdb')}' as elsewhere (read_only)`);
    return engine.rows(anyRow, SUMMARY.replace('snapshot_summary', 'elsewhere.snapshot_summary'));
  });
  return [
    await withReader({ warehouse, memoryLimit: MEMORY }, (reader) => reader.rows(anyRow, SUMMARY)),
    await attached,
    await inFile('indexhouse.duckdb'),
    await inFile('analytics.duckdb'),
  ];
}

/** The commits whose coverage a reader opens for the view. */
async function coverageOpened(warehouse: string): Promise<string[]> {
  const explained = 'explain (analyze, format json) select sum(pages) from snapshot_summary';
  const [plan] = await withReader({ warehouse, memoryLimit: MEMORY }, (reader) =>
    reader.rows(z.object({ explain_value: z.string() }), explained),
  );
  const files = plan?.explain_value.match(/parquet\/coverage\/[^",]*/g) ?? [];
  return [...new Set(files.map((file) => basename(file, '.parquet')))];
}

/** As if an older version had made this snapshot: no summary, neither as a file nor in the marker. */
async function forgetSummary(warehouse: string, snapshotId: string): Promise<void> {
  for (const table of ['coverage_summary', 'snapshots'] as const) {
    const file = (await listTableFiles(warehouse, table)).find((path) => path.includes(snapshotId)) ?? '';
    if (table === 'coverage_summary') rmSync(file);
    else
      await rewrite(file, `select * replace (json_merge_patch(files, '{"coverage_summary":null}') as files) from self`);
  }
  await rebuildDuckdb({ warehouse, memoryLimit: MEMORY });
  await writeAnalytics(warehouse, MEMORY);
}

const SECOND = ['/blog/', 'Indexed', true, 2, 2, 12];
const LISTED = [
  ['/', 'Indexed', true, 1, 0, 0],
  ['/', null, null, 1, 0, 0],
  ['/blog/', 'Indexed', true, 2, 2, 12],
  ['/blog/', 'Not Indexed', null, 1, 0, 0],
  SECOND,
];

describe('the summary of a snapshot', () => {
  test('counts its listing by directory and state', async () => {
    const { warehouse } = await twoNights();
    expect(await summaryRows(warehouse)).toEqual(LISTED);
  });

  testAtLength('is added to by a replay', async () => {
    const { warehouse } = await twoNights();
    await mendPayloads(warehouse, MENDED);
    const config = configFor({ baseUrl: 'http://127.0.0.1:1', warehouse });
    const log = createLogger({ level: 'silent' });
    const { signal } = new AbortController();
    await replay({ config, version: 'test', log, websites: [], since: null, dryRun: false, signal });
    expect((await summaryRows(warehouse)).slice(4)).toEqual([SECOND, ['/blog/', 'Not Indexed', null, 1, 0, 0]]);
    await rebuildDuckdb({ warehouse, memoryLimit: MEMORY });
    expect(await findingsOf(warehouse)).toEqual([]);
  });

  testAtLength('is made of the coverage where an older version left none, for every reader', async () => {
    const given = await twoNights('followed');
    const before = await summaryEverywhere(given.warehouse);
    expect(before).toEqual(Array(4).fill(before[0]));
    expect(before[0]).toHaveLength(5);
    expect(await coverageOpened(given.warehouse)).toEqual([]);
    await forgetSummary(given.warehouse, given.snapshot(1));
    expect(await summaryEverywhere(given.warehouse)).toEqual(before);
    expect(await coverageOpened(given.warehouse)).toEqual([given.snapshot(1)]);
    await forgetSummary(given.warehouse, given.snapshot(2));
    expect(await summaryEverywhere(given.warehouse)).toEqual(before);
    expect(await findingsOf(given.warehouse)).toEqual([]);
  });
});

describe('the view over summaries', () => {
  /** Tables with one commit that lists this many pages, in that many directories. */
  async function inTables<T>(pages: number, directories: number, use: (engine: Engine) => Promise<T>): Promise<T> {
    return withEngine({ memoryLimit: MEMORY, temporary: temporaryFolder() }, async (engine) => {
      await createTables(engine);
      for (const statement of viewStatements()) await engine.run(statement);
      await engine.run(
        `insert into coverage by name
         select 'c' as commit_id, 'c' as snapshot_id, 'w' as website_id, now() as snapshot_at, current_date as snapshot_date,
           now() as listed_at, format('https://w.example/{}/{}', range % $directories, range) as url,
           false as canonicals_match_present
         from range($pages)`,
        { pages, directories },
      );
      await engine.run('create view now_coverage as from coverage');
      await engine.run(`insert into coverage_summary by name ${sql('stage/coverage_summary')}`);
      return use(engine);
    });
  }

  test('puts what is beyond the 500 largest directories together', async () => {
    const rows = await inTables(1500, 700, (engine) =>
      engine.rows(
        z.object({ directory: z.string(), pages: z.int() }),
        'select directory, pages from coverage_summary order by pages desc, directory',
      ),
    );
    expect(rows).toHaveLength(501);
    // 1500 pages: three in each of the first 100 directories, two in each of the others.
    expect(rows[0]).toEqual({ directory: '(other)', pages: 400 });
    expect(rows[1]).toEqual({ directory: '/0/', pages: 3 });
    expect(rows.reduce((sum, { pages }) => sum + pages, 0)).toBe(1500);
  });

  testAtLength('reads coverage only where a commit has no summary', async () => {
    const scannedWith = (files: string) =>
      inTables(300_000, 3, async (engine) => {
        await engine.run(
          `insert into snapshots by name
           select 'c' as snapshot_id, 'r' as run_id, 'w' as website_id, now() as snapshot_at,
             current_date as snapshot_date, now() as finished_at, 'complete' as listing_status, 'off' as reports_status,
             1 as pages_listed, 0 as pages_rejected, 1 as walks, 0 as reports_planned, 0 as reports_fetched,
             0 as reports_missing, 0 as reports_failed, 0 as reports_rejected, 0 as requests_sent,
             0 as requests_throttled, false as resumed, 'test' as version, $files::json as files`,
          { files },
        );
        const explained = 'explain (analyze, format json) select sum(pages) from snapshot_summary';
        const [plan] = await engine.rows(z.object({ explain_value: z.string() }), explained);
        return scannedRows(JSON.parse(plan?.explain_value ?? ''));
      });
    expect(await scannedWith('{"coverage": {}}')).toBeGreaterThanOrEqual(300_000);
    // As much as DuckDB reads ahead.
    expect(await scannedWith('{"coverage": {}, "coverage_summary": {}}')).toBeLessThan(50_000);
  });
});

interface PlanNode {
  operator_rows_scanned?: number | undefined;
  children: PlanNode[];
}
const planNode: z.ZodType<PlanNode> = z.object({
  operator_rows_scanned: z.number().optional(),
  children: z.lazy(() => z.array(planNode)).default([]),
});

/** Rows that all scans of an executed plan read. */
function scannedRows(plan: unknown): number {
  const sum = ({ operator_rows_scanned = 0, children }: PlanNode): number =>
    children.reduce((rows, child) => rows + sum(child), operator_rows_scanned);
  return sum(planNode.parse(plan));
}
