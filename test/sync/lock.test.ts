import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { BusyError } from '../../src/base/exit.js';
import { RunLock } from '../../src/warehouse/log/lock.js';
import { atLength, once } from '../given/at-length.js';
import { run, start } from '../given/cli.js';
import { startSimulator } from '../given/client-clock.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';
import { holdOpen } from '../given/holder.js';

describe('the run lock', () => {
  once('is held by one at a time in a process, and free again after its release', async () => {
    const warehouse = temporaryFolder();
    const lock = await RunLock.take(warehouse, 'sync');
    await expect(RunLock.take(warehouse, 'maintain')).rejects.toThrow(BusyError);
    lock.release();
    (await RunLock.take(warehouse, 'sync')).release();
    expect(readdirSync(warehouse)).toEqual(['run.lock.duckdb']);
  });

  once('says what to do where its file is damaged, and keeps nobody out for good', async () => {
    const warehouse = temporaryFolder();
    const file = join(warehouse, 'run.lock.duckdb');
    writeFileSync(file, '');
    await expect(RunLock.take(warehouse, 'sync')).rejects.toThrow(`cannot open the run lock ${file}`);
    await expect(RunLock.take(warehouse, 'sync')).rejects.toThrow('delete it and try again');
  });

  once('is waited for, as long as a note of another process holds it', async () => {
    const folder = temporaryFolder();
    const warehouse = join(folder, 'warehouse');
    const config = writeConfig(folder, { websites: ['w'] });
    expect((await run(['sync', '--recover', '--config', config])).code).toBe(0);
    const holder = await holdOpen(join(warehouse, 'run.lock.duckdb'), 'READ_WRITE');
    const waiting = run(['sync', '--recover', '--config', config]);
    expect(await Promise.race([waiting, setTimeout(1000)])).toBeUndefined();
    await holder.release();
    expect((await waiting).code).toBe(0);
  });

  test('keeps a second process out with exit code 4, until the first is killed', async () => {
    const simulator = await startSimulator({ seed: 1, nights: 1, websites: [{ id: 'w', pages: 60 }] });
    const folder = temporaryFolder();
    // So slow that the first sync is under way until it is killed.
    const api = { requests_per_minute: 60 };
    const config = writeConfig(folder, { baseUrl: simulator.url, websites: ['w'], sections: { api } });
    const first = start(['sync', '--config', config]);
    onTestFinished(() => first.kill('SIGKILL'));
    await expect.poll(() => simulator.requests.answered, { timeout: 10_000 }).toBeGreaterThan(0);

    const commands = [['sync'], ['maintain'], ['verify', '--repair']];
    for (const command of commands.slice(0, atLength(1, 3))) {
      const second = await run([...command, '--config', config]);
      expect([command, second.code, second.stdout]).toEqual([command, 4, '']);
      expect(second.stderr).toContain(`process ${first.pid} on`);
    }
    first.kill('SIGKILL');
    await first.ended;
    const free = await RunLock.take(join(folder, 'warehouse'), 'sync');
    free.release();
  });
});
