import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { watchCrashPoints } from '../../../src/base/storage/crash-point.js';
import { RunLock } from '../../../src/warehouse/log/lock.js';
import { run, runProcess } from '../../given/cli.js';
import { startSimulator } from '../../given/client-clock.js';
import { writeConfig } from '../../given/config-file.js';
import { contentOf } from '../../given/content.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { Home } from '../../given/home.js';
import { leftBehind } from '../../given/left-behind.js';
import { buildNights, maintainAt } from '../../given/thinned.js';
import { findingsOf } from '../../given/verified.js';
import { sharedWarehouse } from '../../given/warehouse.js';
import { removeNow } from './removed.js';

/** What followers do after it is tested with them. */
const OWN_STEPS = /removal$|^built the new/;

const built = sharedWarehouse(() => buildNights([1, 3], { followed: 'followed' }));

const leftIn = (root: string) => (step: string) => join(root, step.replaceAll(' ', '-'));

describe('a removal that dies', () => {
  test('behind any step is finished by whoever comes next', async () => {
    const passed = new Set<string>();
    const unwatch = watchCrashPoints((step) => void (OWN_STEPS.test(step) && passed.add(step)));
    const removed = copyOf(built.path);
    await removeNow(removed, 'blog');
    unwatch();
    expect(passed.size).toBeGreaterThan(15);
    const after = await contentOf(removed);
    const left = copyOf(built.path);
    const folderOf = leftIn(temporaryFolder());
    // Every second one, and the first.
    const steps = [...passed].filter((_, at) => at % 2 === 1 || at === 0);
    await leftBehind(left, steps, folderOf, () => removeNow(left, 'blog'));
    for (const [at, step] of steps.entries()) {
      const folder = folderOf(step);
      if (at % 2 === 0) await removeNow(folder, 'blog');
      else await maintainAt(folder, { retention: 'unlimited', now: Date.now() });
      expect([step, await findingsOf(folder), readdirSync(folder).includes('removal.json')]).toEqual([step, [], false]);
      expect([step, await contentOf(folder)]).toEqual([step, after]);
    }
  });

  test('and whose file is damaged then stops whoever writes, and changes nothing more', async () => {
    const folder = copyOf(built.path);
    writeFileSync(join(folder, 'removal.json'), '{"removal": {"website_id"');
    const before = await contentOf(folder);
    const said = expect.stringMatching(/removal.json is damaged: delete it/);
    await expect(RunLock.take(folder, 'sync')).rejects.toMatchObject({ message: said });
    expect(await contentOf(folder)).toEqual(before);
  });

  test.for(['decided the removal', 'built the new indexhouse.duckdb'])(
    'the same command finishes it: %s',
    async (step) => {
      const config = writeConfig(temporaryFolder(), {
        websites: ['shop'],
        sections: { warehouse: { path: copyOf(built.path) } },
      });
      await run(['maintain', '--config', config]);
      const command = ['remove', '--website', 'blog', '--yes', '--config', config];
      const died = await runProcess(command, { env: { INDEXHOUSE_TEST_CRASH_AT: step } });
      expect(died).toMatchObject({ signal: 'SIGKILL' });
      expect(await run(['verify', '--config', config])).toMatchObject({ code: 3 });
      expect(await run(command)).toMatchObject({ code: 0 });
      expect(await run(['verify', '--config', config])).toMatchObject({ code: 0 });
    },
  );
});

test('a run of the website that died is removed with it', async () => {
  const simulator = await startSimulator({ maxLimit: 20, seed: 3, nights: 4, websites: [{ id: 'w', pages: 12 }] });
  const home = new Home(temporaryFolder(), simulator, ['w']);
  await home.syncOne();
  simulator.advance();
  const steps = ['fetched', 'wrote the manifest', 'moved coverage', 'wrote the marker'];
  const leftOf = leftIn(temporaryFolder());
  await leftBehind(home.folder, steps, leftOf, () => home.sync());
  for (const step of steps) {
    const died = new Home(leftOf(step), simulator, ['w']);
    await removeNow(died.warehouse, 'w');
    await died.sync({ recoverOnly: true });
    const left = readdirSync(died.warehouse, { recursive: true, encoding: 'utf8' }).filter((path) =>
      /\bw\b/.test(path),
    );
    expect([step, await died.wrong(), left]).toEqual([step, [], []]);
  }
});
