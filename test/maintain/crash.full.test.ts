import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { withEngine } from '../../src/storage/engine.js';
import { listTableFiles } from '../../src/warehouse/layout.js';
import { runProcess } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { copyOf, temporaryFolder } from '../given/folder.js';
import { readMarkers } from '../given/markers.js';
import { answersOf, buildNights, HOUR_MS, maintainAt } from '../given/thinned.js';
import { findingsOf } from '../given/verified.js';
import type { BuiltWarehouse } from '../given/warehouse.js';

/** Every step behind which a run may die. */
const STEPS = [
  'deleted a file',
  'deleted the files',
  'wrote the checkpoint',
  'wrote the tombstone',
  'dropped old rows',
  'followed the tombstones',
  'made the smaller file',
  'put the smaller file in place',
];
const RETENTION = { parquet_keep_daily: '1d', parquet_then: 'monthly', duckdb_keep: '1d' };
/** What an earlier run did, long enough ago, so that there is something to delete; then less is kept. */
const EARLIER = { retention: { parquet_keep_daily: '14d' }, now: Date.parse('2025-03-20T12:00:00Z') };

let built: BuiltWarehouse;
let unbroken: Outcome;

interface Outcome {
  files: number[];
  answers: unknown;
}

beforeAll(async () => {
  built = await buildNights([1, 3, 9, 16], { withBlog: false, followed: 'followed' });
  await maintainAt(built.path, EARLIER);
  const warehouse = copyOf(built.path, () => {});
  await maintainAt(warehouse, { retention: RETENTION, now: Date.now() });
  await maintainAt(warehouse, { retention: RETENTION, now: Date.now() + 2 * HOUR_MS });
  unbroken = await outcomeOf(warehouse);
  if (Number(unbroken.files[0]) > 1) throw new Error('nothing went: there is nothing to compare');
});

afterAll(() => built.remove());

/** How many files of each kind there are, and what is known by what stays. */
async function outcomeOf(warehouse: string): Promise<Outcome> {
  const options = { memoryLimit: 256e6, temporary: temporaryFolder(() => {}) };
  const markers = await withEngine(options, (engine) => readMarkers(engine, warehouse));
  const kept = markers.filter(({ dropped }) => Object.keys(dropped).length === 0).map(({ commitId }) => commitId);
  const files = await Promise.all(
    (['coverage', 'url_reports', 'snapshots'] as const).map((table) => listTableFiles(warehouse, table)),
  );
  return { files: files.map(({ length }) => length), answers: await answersOf(warehouse, kept) };
}

describe('a maintain that dies behind a step and is started again', () => {
  test.concurrent.for(STEPS)('ends up as if it had not died: %s', async (step, { expect, onTestFinished }) => {
    const warehouse = copyOf(built.path, onTestFinished);
    const sections = { retention: RETENTION };
    const config = writeConfig(join(warehouse, '..'), { baseUrl: 'http://127.0.0.1:1', sections });
    const died = await runProcess(['maintain', '--config', config], { env: { INDEXHOUSE_TEST_CRASH_AT: step } });
    expect([died.signal, died.stderr]).toEqual(['SIGKILL', '']);
    expect((await findingsOf(warehouse)).filter(({ level }) => level === 'difference')).toEqual([]);

    await maintainAt(warehouse, { retention: RETENTION, now: Date.now() });
    expect(await findingsOf(warehouse)).toEqual([]);
    await maintainAt(warehouse, { retention: RETENTION, now: Date.now() + 2 * HOUR_MS });
    expect(await outcomeOf(warehouse)).toEqual(unbroken);
  });
});
