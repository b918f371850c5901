import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.js';
import { watchCrashPoints } from '../../src/storage/crash-point.js';
import { run, runProcess } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { contentOf } from '../given/content.js';
import { copyOf, temporaryFolder } from '../given/folder.js';
import { Home } from '../given/home.js';
import { leftBehind } from '../given/left-behind.js';
import type { Night } from '../given/nights.js';
import { seededRandom } from '../given/random.js';
import { randomNight, removeNow, warehouseOf } from '../given/removed.js';
import { replayNow } from '../given/replayed.js';
import { findingsOf } from '../given/verified.js';
import { configFor } from '../given/warehouse.js';

/** Where a process is killed indeed, Iceberg tables included, which name absolute paths. */
const KILLED = [
  'decided the removal',
  'took step 4 of the removal',
  'followed the tombstones',
  'published iceberg runs',
];

describe('a removal that dies', () => {
  test('behind any step has not begun, or is finished by whoever comes next', async () => {
    const nights = Array.from({ length: 5 }, () => randomNight(seededRandom(7)));
    const { warehouse, snapshot } = await built(nights);
    const before = await contentOf(warehouse);
    const target = { snapshot: snapshot(3) };
    const steps: string[] = [];
    const unwatch = watchCrashPoints((step) => steps.push(step));
    const removed = copyOf(warehouse);
    await removeNow(removed, target);
    unwatch();
    expect(steps.length).toBeGreaterThan(20);
    const left = copyOf(warehouse);
    const root = temporaryFolder();
    const folderOf = (step: string) => join(root, step.replaceAll(' ', '-'));
    await leftBehind(left, [...new Set(steps)], folderOf, () => removeNow(left, target));
    for (const [at, step] of [...new Set(steps)].entries()) {
      const folder = folderOf(step);
      if (step === 'prepared the removal') expect(await contentOf(folder)).toEqual(before);
      if (at % 2 === 0 || step === 'prepared the removal') await removeNow(folder, target);
      else await replayNow(configFor({ baseUrl: 'http://127.0.0.1:1', warehouse: folder }));
      expect([step, await findingsOf(folder), readdirSync(folder).includes('removal')]).toEqual([step, [], false]);
      expect([step, await contentOf(folder)]).toEqual([step, await contentOf(removed)]);
    }
  });

  test.for(KILLED)('with SIGKILL, the same command finishes it: %s', async (step) => {
    const { warehouse, snapshot } = await built([1, 2, 3, 4].map((seed) => randomNight(seededRandom(seed))));
    const sections = { warehouse: { path: warehouse }, iceberg: { enabled: true } };
    const config = writeConfig(temporaryFolder(), { baseUrl: 'http://127.0.0.1:1', websites: ['w'], sections });
    await run(['replay', '--config', config]);
    const command = ['remove', '--snapshot', snapshot(2), '--yes', '--config', config];
    expect(await runProcess(command, { env: { INDEXHOUSE_TEST_CRASH_AT: step } })).toMatchObject({ signal: 'SIGKILL' });
    expect(await run(['verify', '--config', config])).toMatchObject({ code: 3 });
    expect(await run(command)).toMatchObject({ code: 0 });
    expect(await run(['verify', '--config', config])).toMatchObject({ code: 0 });
  });
});

test.for(['fetched', 'wrote the manifest', 'moved coverage', 'wrote the marker'])(
  'a run of the website that died (%s) is finished as if the snapshot had never been',
  async (step) => {
    const simulator = await startSimulator({ seed: 3, nights: 4, websites: [{ id: 'w', pages: 30 }] });
    onTestFinished(() => simulator.close());
    const home = new Home(temporaryFolder(), simulator, ['w']);
    const { snapshot_id: first } = await home.syncOne();
    simulator.advance();
    await home.syncOne();
    simulator.advance();
    const left = join(temporaryFolder(), 'left');
    await leftBehind(
      home.folder,
      [step],
      () => left,
      () => home.sync(),
    );
    const died = new Home(left, simulator, ['w']);
    await removeNow(died.warehouse, { snapshot: first ?? '' });
    await died.sync({ recoverOnly: true });
    await removeNow(home.warehouse, { snapshot: first ?? '' });
    expect(await died.wrong()).toEqual([]);
    expect(await contentOf(died.warehouse)).toEqual(await contentOf(home.warehouse));
  },
);

async function built(nights: Night[]) {
  const made = await warehouseOf(nights, [], onTestFinished);
  return { warehouse: made.warehouse, snapshot: made.snapshot.bind(made) };
}
