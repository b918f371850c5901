import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { KeptTables } from '../../src/analysis/kept-tables.js';
import { Engine } from '../../src/storage/engine.js';
import { temporaryFolder } from '../given/folder.js';

/** Tells questions of a reader whose tables have so many rows; gives the tables that are kept after each. */
async function keptAfter(rows: number, questions: string[]): Promise<string[]> {
  const engine = await Engine.open({ memoryLimit: 256e6, temporary: temporaryFolder() });
  onTestFinished(() => engine.close());
  for (const table of ['snapshots', 'runs', 'coverage_summary']) await engine.view(table, 'select 1 as n');
  const kept = new KeptTables(
    engine,
    new Map([
      ['snapshots', rows],
      ['runs', rows],
      ['coverage_summary', rows],
    ] as const),
  );
  const after: string[] = [];
  for (const sql of questions) {
    await kept.beforeQuestion(sql);
    const tables = await engine.rows(z.object({ name: z.string() }), 'select table_name as name from duckdb_tables()');
    after.push(
      tables
        .map(({ name }) => name)
        .sort()
        .join(' '),
    );
  }
  return after;
}

test('a table is kept when a second question names it or a view over it', async () => {
  const questions = ['from Snapshots', 'from runs', 'select 1', 'from coverage_daily', 'from snapshot_summary, RUNS'];
  expect(await keptAfter(100, questions)).toEqual(['', '', '', 'snapshots', 'runs snapshots']);
  expect(await keptAfter(100, Array(3).fill('from snapshot_summary'))).toEqual([
    '',
    ...Array(2).fill('coverage_summary'),
  ]);
});

test('a table that takes much memory is not kept', async () => {
  expect(await keptAfter(200_001, Array(3).fill('from snapshots'))).toEqual(['', '', '']);
});
