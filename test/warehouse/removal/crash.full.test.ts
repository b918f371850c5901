import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { withEngine } from '../../../src/base/storage/engine.js';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { leftBehind } from '../../given/left-behind.js';
import { readMarkers } from '../../given/markers.js';
import { answersOf, buildNights, HOUR_MS, maintainAt } from '../../given/thinned.js';
import { findingsOf } from '../../given/verified.js';
import { sharedWarehouse } from '../../given/warehouse.js';

/** Every step behind which a run may die. */
const STEPS = [
  'deleted a file',
  'wrote the checkpoint',
  'wrote the tombstone',
  'followed the marker',
  'built the new indexhouse.duckdb',
  'put the new indexhouse.duckdb in place',
];
/** What an earlier run did, long enough ago, so that there is something to delete; then less is kept. */
const EARLIER = { retention: '16d', now: Date.parse('2025-01-20T12:00:00Z') };

const built = sharedWarehouse(() => buildNights([3, 5, 9], { withBlog: false, followed: 'followed' }));
beforeAll(async () => {
  await maintainAt(built.path, EARLIER);
});

/** How many files of each kind there are, and what is known by what stays. */
async function outcomeOf(warehouse: string) {
  const options = { memoryLimit: 256e6, temporary: temporaryFolder() };
  const markers = await withEngine(options, (engine) => readMarkers(engine, warehouse));
  const kept = markers.filter(({ dropped }) => Object.keys(dropped).length === 0).map(({ snapshotId }) => snapshotId);
  const files = await Promise.all(
    (['coverage', 'url_reports', 'snapshots'] as const).map((table) => listTableFiles(warehouse, table)),
  );
  return { files: files.map(({ length }) => length), answers: await answersOf(warehouse, kept) };
}

/** An hour later what is out of use goes. */
const later = (warehouse: string) => maintainAt(warehouse, { retention: '1d', now: Date.now() + 2 * HOUR_MS });

test('a maintain that dies behind any step and is started again ends up as if it had not died', async () => {
  const warehouse = copyOf(built.path);
  const root = temporaryFolder();
  const left = (step: string) => join(root, step.replaceAll(' ', '-'));
  await leftBehind(warehouse, STEPS, left, () => maintainAt(warehouse, { retention: '1d', now: Date.now() }));
  await later(warehouse);
  const unbroken = await outcomeOf(warehouse);
  expect(unbroken.files[0]).toBe(1);
  for (const step of STEPS) {
    const died = left(step);
    expect([step, (await findingsOf(died)).filter(({ level }) => level === 'difference')]).toEqual([step, []]);
    await maintainAt(died, { retention: '1d', now: Date.now() });
    expect([step, await findingsOf(died)]).toEqual([step, []]);
    await later(died);
    expect([step, await outcomeOf(died)]).toEqual([step, unbroken]);
  }
});
