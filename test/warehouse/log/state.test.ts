import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { withEngine } from '../../../src/base/storage/engine.js';
import { stateFile } from '../../../src/warehouse/log/folder/layout.js';
import { currentState } from '../../../src/warehouse/log/state.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { readMarkers } from '../../given/markers.js';
import { readParquet } from '../../given/parquet.js';
import { startService } from '../../given/service.js';
import { newestFile, rewrite } from '../../given/tamper.js';
import { at, buildNights } from '../../given/thinned.js';
import { findingsOf } from '../../given/verified.js';
import { sharedWarehouse, syncAt } from '../../given/warehouse.js';

const built = sharedWarehouse(() => buildNights([1, 2, 3], { withBlog: false }));

/** A copy of the warehouse, its markers, and its newest state. */
async function given() {
  const warehouse = copyOf(built.path);
  const engine = { memoryLimit: 256e6, temporary: temporaryFolder() };
  const markers = await withEngine(engine, (opened) => readMarkers(opened, warehouse));
  return { warehouse, engine, markers, file: stateFile(warehouse, 'shop', markers.at(-1)?.snapshotId ?? '') };
}

test('the next sync rebuilds a torn state file and compares with it', async () => {
  const { warehouse, file } = await given();
  writeFileSync(file, readFileSync(file).subarray(0, 500));
  const service = await startService();
  service.list('shop', [{ url: at('shop', 'a') }]);
  const night = { baseUrl: service.url, warehouse, at: '2025-03-01T02:00:00Z', websites: ['shop'] };
  expect((await syncAt(night)).websites).toMatchObject([{ status: 'committed' }]);
  // `verify` follows the whole log, so a comparison with anything else would be a difference.
  expect((await findingsOf(warehouse)).filter(({ level }) => level === 'difference')).toEqual([]);
});

test('a state is made of files whose columns differ: a newer version may have written some', async () => {
  const { warehouse, engine, markers, file } = await given();
  const before = await readParquet(file);
  await rewrite(await newestFile(warehouse, 'coverage'), 'select *, 1 as of_a_later_version from self');
  rmSync(file);
  expect(await currentState(warehouse, markers, engine)).toBe(file);
  expect(await readParquet(file)).toEqual(before);
});
