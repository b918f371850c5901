import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { watchCrashPoints } from '../../../src/base/storage/crash-point.js';
import { RunLock } from '../../../src/warehouse/log/lock.js';
import { run, runProcess } from '../../given/cli.js';
import { startSimulator } from '../../given/client-clock.js';
import { writeConfig } from '../../given/config-file.js';
import { contentOf } from '../../given/content.js';
import { atEnd, copyOf, temporaryFolder } from '../../given/folder.js';
import { Home } from '../../given/home.js';
import { leftBehind } from '../../given/left-behind.js';
import type { Nights } from '../../given/nights.js';
import { seededRandom } from '../../given/random.js';
import { maintainAt } from '../../given/thinned.js';
import { findingsOf } from '../../given/verified.js';
import { randomNight, removeNow, warehouseOf } from './removed.js';

/** What followers do after it is tested with them. */
const OWN_STEPS = /removal$|^built the new/;

let built: Nights;

beforeAll(async () => {
  const random = seededRandom(7);
  const nights = Array.from({ length: 3 }, () => randomNight(random));
  built = await warehouseOf(nights, [], atEnd);
});

const leftIn = (root: string) => (step: string) => join(root, step.replaceAll(' ', '-'));

describe('a removal that dies', () => {
  test('behind any step has not begun, or is finished by whoever comes next', async () => {
    const before = await contentOf(built.warehouse);
    const target = { snapshot: built.snapshot(2) };
    const passed = new Set<string>();
    const unwatch = watchCrashPoints((step) => void (OWN_STEPS.test(step) && passed.add(step)));
    const removed = copyOf(built.warehouse);
    await removeNow(removed, target);
    unwatch();
    expect(passed.size).toBeGreaterThan(15);
    const after = await contentOf(removed);
    const left = copyOf(built.warehouse);
    const folderOf = leftIn(temporaryFolder());
    // Every second one, and the first.
    const steps = [...passed].filter((step, at) => at % 2 === 1 || step === 'prepared the removal');
    await leftBehind(left, steps, folderOf, () => removeNow(left, target));
    for (const [at, step] of steps.entries()) {
      const folder = folderOf(step);
      if (step === 'prepared the removal') expect(await contentOf(folder)).toEqual(before);
      if (at % 2 === 0 || step === 'prepared the removal') await removeNow(folder, target);
      else await maintainAt(folder, { retention: {}, now: Date.now() });
      expect([step, await findingsOf(folder), readdirSync(folder).includes('removal')]).toEqual([step, [], false]);
      expect([step, await contentOf(folder)]).toEqual([step, after]);
    }
  });

  test('and lacks a file that it had prepared leaves no step out, and changes nothing more', async () => {
    const left = copyOf(built.warehouse);
    const folderOf = leftIn(temporaryFolder());
    const step = 'decided the removal';
    await leftBehind(left, [step], folderOf, () => removeNow(left, { snapshot: built.snapshot(2) }));
    const folder = folderOf(step);
    rmSync(join(folder, 'removal', 'state'));
    const before = await contentOf(folder);
    const said = expect.stringMatching(/cannot be finished: .*removal.state, which replaces .* is missing\. Delete /);
    await expect(RunLock.take(folder, 'sync')).rejects.toMatchObject({ message: said });
    expect(await contentOf(folder)).toEqual(before);
  });

  // Iceberg tables included, which name absolute paths.
  test.for(['decided the removal', 'published iceberg runs'])('the same command finishes it: %s', async (step) => {
    const sections = { warehouse: { path: copyOf(built.warehouse) }, iceberg: { enabled: true } };
    const config = writeConfig(temporaryFolder(), { websites: ['w'], sections });
    await run(['maintain', '--config', config]);
    const command = ['remove', '--snapshot', built.snapshot(2), '--yes', '--config', config];
    const died = await runProcess(command, { env: { INDEXHOUSE_TEST_CRASH_AT: step } });
    expect(died).toMatchObject({ signal: 'SIGKILL' });
    expect(await run(['verify', '--config', config])).toMatchObject({ code: 3 });
    expect(await run(command)).toMatchObject({ code: 0 });
    expect(await run(['verify', '--config', config])).toMatchObject({ code: 0 });
  });
});

test('a run of the website that died is finished as if the snapshot had never been', async () => {
  const simulator = await startSimulator({ seed: 3, nights: 4, websites: [{ id: 'w', pages: 12 }] });
  const home = new Home(temporaryFolder(), simulator, ['w']);
  const { snapshot_id: first } = await home.syncOne();
  simulator.advance();
  await home.syncOne();
  simulator.advance();
  const steps = ['fetched', 'wrote the manifest', 'moved coverage', 'wrote the marker'];
  const leftOf = leftIn(temporaryFolder());
  await leftBehind(home.folder, steps, leftOf, () => home.sync());
  await removeNow(home.warehouse, { snapshot: first ?? '' });
  const never = await contentOf(home.warehouse);
  for (const step of steps) {
    const died = new Home(leftOf(step), simulator, ['w']);
    await removeNow(died.warehouse, { snapshot: first ?? '' });
    await died.sync({ recoverOnly: true });
    expect([step, await died.wrong()]).toEqual([step, []]);
    expect([step, await contentOf(died.warehouse)]).toEqual([step, never]);
  }
});
