import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { withEngine } from '../../../src/base/storage/engine.js';
import { identifier } from '../../../src/base/storage/sql.js';
import { exportAnalytics } from '../../../src/warehouse/copies/analytics.js';
import { columnsOf } from '../../../src/warehouse/log/folder/tables.js';
import { fileOf, stateFileOf } from '../../../src/warehouse/log/markers.js';
import { countsIn } from '../../given/counts.js';
import { atFileEnd, temporaryFolder } from '../../given/folder.js';
import { holdOpen } from '../../given/holder.js';
import { readMarkers } from '../../given/markers.js';
import { givenNights } from '../../given/nights.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';

const MEMORY = 256e6;
/** What DuckDB 1.0 reads; the newest that it knows. */
const STORAGE_VERSION = 64;
const STORAGE_VERSION_AT = 12;
const RELATIONS = ['snapshots', 'runs', 'coverage', 'url_reports', 'page_changes', 'page_state', 'pages', 'quarantine'];

function storageVersionOf(file: string): number {
  return Number(readFileSync(file).readBigUInt64LE(STORAGE_VERSION_AT));
}

test('analytics.duckdb answers a reader that keeps it open before, during and after a sync, with what is committed', async () => {
  const nights = await givenNights(undefined, 'followed');
  await nights.night({ list: { a: { index_summary: 'Indexed' } } });
  const file = join(nights.warehouse, 'analytics.duckdb');
  const reader = await holdOpen(file, 'READ_ONLY');
  expect(storageVersionOf(file)).toBe(STORAGE_VERSION);
  const counts = 'select count(*)::integer, (select count(*)::integer from coverage) from snapshots';
  expect(await reader.ask(counts)).toEqual([[1, 1]]);

  const during: unknown[] = [];
  await nights.night({
    // Tables that had no rows so far: the text of the views is another one, and the file is replaced.
    list: { a: { index_summary: 'Not Indexed' }, b: {} },
    onReport: () => void during.push(reader.ask(counts)),
  });
  expect(await Promise.all(during)).toEqual([[[1, 1]], [[1, 1]]]);
  expect(await reader.ask(counts)).toEqual([[2, 3]]);
  expect(await reader.ask('select count(*)::integer from pages where not is_indexed')).toEqual([[1]]);
});

const page = (path: string, index_summary: string, report = {}) => ({
  url: `https://shop.example/${path}`,
  entry: { index_summary },
  report,
});
const built = sharedWarehouse(() =>
  buildWarehouse(
    [
      {
        at: '2026-10-31T02:00:00Z',
        lists: {
          shop: [page('a', 'Indexed'), page('b', 'Not Indexed')],
          blog: [page('x', 'Not Indexed', { new_field: 1 })],
        },
      },
      { at: '2026-11-05T02:00:00Z', lists: { shop: [page('a', 'Not Indexed'), page('b', 'Not Indexed')] } },
      {
        at: '2026-11-08T02:00:00Z',
        lists: { shop: [page('a', 'Indexed', { new_field: 1 }), page('c', 'Indexed')] },
      },
    ],
    'followed',
  ),
);

test('answers the worked questions of the data dictionary, and explains its tables and columns', async () => {
  const blocks = [...readFileSync('docs/data-dictionary.md', 'utf8').matchAll(/```sql\n([\s\S]*?);\n```/g)];
  const file = join(built.path, 'analytics.duckdb');
  const opened = { file, readOnly: true, memoryLimit: MEMORY, temporary: temporaryFolder() };
  await withEngine(opened, async (engine) => {
    const answers = blocks.map(([, question = '']) => engine.rows(z.record(z.string(), z.unknown()), question));
    expect(await Promise.all(answers)).toMatchObject([
      [
        { status: 'indexed', pages: 1 },
        { status: 'not_indexed', pages: 2 },
      ],
      [
        { was: 'indexed', became: 'indexed', pages: 1 },
        { was: 'not known yet', became: 'indexed', pages: 1 },
        { was: 'not_indexed', became: 'gone', pages: 1 },
        { was: 'not_indexed', became: 'not_indexed', pages: 1 },
      ],
      [{ url: 'https://shop.example/a', days_out: 3 }],
    ]);
    const comments = `select comment from duckdb_views() where view_name = 'pages' union all
        select comment from duckdb_columns() where (table_name, column_name) in (('pages', 'is_listed'), ('runs', 'error')) order by comment`;
    const rows = await engine.rows(z.object({ comment: z.string() }), comments);
    expect(rows.map(({ comment }) => comment.slice(0, 12))).toEqual(['Start here. ', 'Whether comp', 'Why it faile']);
  });
});

test('fails with the name of a committed file that is missing, whatever a question selects', async () => {
  const { path } = built;
  const options = { memoryLimit: MEMORY, temporary: temporaryFolder() };
  const newest = await withEngine(options, async (engine) => (await readMarkers(engine, path)).at(-1));
  if (!newest) throw new Error('there is no snapshot');
  const tables = ['coverage', 'coverage_summary', 'url_reports', 'page_versions', 'page_state'] as const;
  const views = { ...options, file: join(path, 'analytics.duckdb'), readOnly: true };
  await withEngine(views, async (engine) => {
    const ask = (query: string) => engine.rows(z.object({ n: z.int() }), `select count(*)::integer as n from ${query}`);
    for (const table of tables) {
      const file = table === 'page_state' ? stateFileOf(path, newest) : fileOf(path, newest, table);
      const column = columnsOf(table).find(({ type }) => type === 'VARCHAR' || type === 'INTEGER')?.name ?? '';
      const selected = `${table} where website_id = 'shop' and ${identifier(column)}::varchar <> 'none'`;
      renameSync(file, `${file}.gone`);
      for (const query of [table, selected]) {
        await expect(ask(query), query).rejects.toThrow(
          `${table} of website shop: the file ${newest.snapshotId}.parquet is missing`,
        );
      }
      if (table === 'page_state')
        await expect(ask("pages where url = 'none'")).rejects.toThrow('page_state of website');
      expect(await ask(`${table} where website_id = 'blog'`), table).toMatchObject([{ n: expect.any(Number) }]);
      renameSync(`${file}.gone`, file);
      expect((await ask(table))[0]?.n, table).toBeGreaterThan(0);
    }
  });
});

describe('indexhouse analytics', () => {
  const folder = temporaryFolder(atFileEnd);
  const exported = (out: string, root = '/data/warehouse') =>
    exportAnalytics({ warehouse: built.path, root, out: join(folder, out), memoryLimit: MEMORY });

  test('writes views over a path that does not exist here, which answer where the warehouse lies there', async () => {
    const root = join(temporaryFolder(), "it's mounted");
    const file = join(folder, 'bi.duckdb');
    expect(await exported('bi.duckdb', `${root}/`)).toMatchObject({ file, root });
    expect(storageVersionOf(file)).toBe(STORAGE_VERSION);
    await expect(countsIn(file, ['snapshots'])).rejects.toThrow(`${root}/parquet`);

    const native = await countsIn(join(built.path, 'indexhouse.duckdb'), RELATIONS);
    renameSync(built.path, root);
    try {
      expect(await countsIn(file, RELATIONS)).toEqual(native);
      expect(native).toMatchObject({ snapshots: 4, coverage: 7, pages: 4 });
    } finally {
      renameSync(root, built.path);
    }
  });

  test('never writes over what is not a file of such views, nor with a root that no reader can have', async () => {
    const native = join(built.path, 'indexhouse.duckdb');
    copyFileSync(native, join(folder, 'copy.duckdb'));
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    mkdirSync(join(folder, 'sub'));
    symlinkSync(built.path, join(folder, 'link'));
    const refusals = {
      'copy.duckdb': 'is not an analytics file',
      'notes.txt': 'is not an analytics file',
      sub: 'is a folder',
      'nowhere/bi.duckdb': 'does not exist',
      'link/analytics.duckdb': "is the warehouse's own",
    };
    for (const [out, words] of Object.entries(refusals)) {
      await expect(exported(out)).rejects.toThrow(words);
    }
    await expect(exported('root.duckdb', 'data/warehouse')).rejects.toThrow('absolute path');
    await expect(exported('root.duckdb', '/data/*')).rejects.toThrow('as a pattern');
    expect(existsSync(join(folder, 'root.duckdb'))).toBe(false);
    expect(readFileSync(join(folder, 'notes.txt'), 'utf8')).toBe('mine');
    expect(await countsIn(join(folder, 'copy.duckdb'), ['snapshots'])).toEqual({ snapshots: 4 });
  });
});
