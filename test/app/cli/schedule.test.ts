import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { warehouseFolder } from '../../../src/warehouse/log/folder/layout.js';
import { RunLock } from '../../../src/warehouse/log/lock.js';
import { run } from '../../given/cli.js';
import { startSimulator } from '../../given/client-clock.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { readTable } from '../../given/parquet.js';

function given(baseUrl = 'http://127.0.0.1:1') {
  const folder = temporaryFolder();
  const config = writeConfig(folder, { baseUrl, websites: ['site-a'] });
  const warehouse = join(folder, 'warehouse');
  const schedule = (words: string[], signal?: AbortSignal) =>
    run(['schedule', ...words, '--config', config], signal ? { signal } : {});
  return { warehouse, schedule };
}

test('schedule --once runs a job now and exits with its exit code', async () => {
  const upstream = await startSimulator({ websites: [{ id: 'site-a', pages: 3 }] });
  const { schedule, warehouse } = given(upstream.url);
  expect(await schedule(['--once', 'nightly-sync'])).toMatchObject({ code: 0, stdout: '' });
  expect(await readTable(warehouse, 'snapshots')).toHaveLength(1);
  const lock = await RunLock.take(warehouse, 'sync');
  expect(await schedule(['--once', 'nightly-sync'])).toMatchObject({ code: 4 });
  lock.release();
  const jobs = expect.stringContaining('nightly-sync, maintain, verify, report');
  expect(await schedule(['--once', 'backup'])).toMatchObject({ code: 2, stderr: jobs });
});

test('schedule runs until it is asked to stop; a second one over the same warehouse exits with 4', async () => {
  const { schedule, warehouse } = given();
  mkdirSync(warehouse);
  const first = await RunLock.take(warehouse, 'a daemon', warehouseFolder(warehouse).scheduleLock);
  const refused = expect.stringContaining('a second `indexhouse schedule` cannot start');
  expect(await schedule([], AbortSignal.abort())).toMatchObject({ code: 4, stderr: refused });
  first.release();
  const stop = new AbortController();
  const daemon = schedule([], stop.signal);
  stop.abort();
  expect(await daemon).toMatchObject({ code: 0, stderr: expect.stringContaining('"next_run"') });
});
