import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { BusyError } from '../../src/base/exit.js';
import { RunLock } from '../../src/warehouse/log/lock.js';
import { run } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';
import { holdOpen } from '../given/holder.js';

test('the run lock is held by one at a time, is free again after its release, and says what to do where it is damaged', async () => {
  const warehouse = temporaryFolder();
  const lock = await RunLock.take(warehouse, 'sync');
  await expect(RunLock.take(warehouse, 'maintain')).rejects.toThrow(BusyError);
  lock.release();
  (await RunLock.take(warehouse, 'sync')).release();
  const file = join(warehouse, 'run.lock.duckdb');
  writeFileSync(file, '');
  await expect(RunLock.take(warehouse, 'sync')).rejects.toThrow(`cannot open the run lock ${file}`);
  await expect(RunLock.take(warehouse, 'sync')).rejects.toThrow('delete it and try again');
});

test('it keeps other processes out with exit code 4 for as long as a run holds it, and a note is waited for', async () => {
  const folder = temporaryFolder();
  const warehouse = join(folder, 'warehouse');
  const config = writeConfig(folder, { websites: ['w'] });
  expect((await run(['sync', '--recover', '--config', config])).code).toBe(0);
  const holder = await holdOpen(join(warehouse, 'run.lock.duckdb'), 'READ_WRITE');
  const waiting = run(['sync', '--recover', '--config', config]);
  expect(await Promise.race([waiting, setTimeout(500)])).toBeUndefined();
  const { code, stdout, stderr } = await waiting;
  expect([code, stdout]).toEqual([4, '']);
  expect(stderr).toContain(`process ${holder.pid} on`);
  const again = run(['sync', '--recover', '--config', config]);
  await holder.release();
  expect((await again).code).toBe(0);
});
