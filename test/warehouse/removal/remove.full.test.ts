import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { watchCrashPoints } from '../../../src/base/storage/crash-point.js';
import { RunLock } from '../../../src/warehouse/log/lock.js';
import { run } from '../../given/cli.js';
import { startSimulator } from '../../given/client-clock.js';
import { writeConfig } from '../../given/config-file.js';
import { contentOf } from '../../given/content.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { Home } from '../../given/home.js';
import { leftBehind } from '../../given/left-behind.js';
import { buildNights, filesBelow, maintainAt } from '../../given/thinned.js';
import { findingsOf } from '../../given/verified.js';
import { sharedWarehouse } from '../../given/warehouse.js';
import { removeNow } from './removed.js';

/** What followers do after it is tested with them. */
const OWN_STEPS = /removal$|^built the new/;

const built = sharedWarehouse(() => buildNights([1, 2, 3], { followed: 'followed' }));

const leftIn = (root: string) => (step: string) => join(root, step.replaceAll(' ', '-'));

/** A copy of the two websites, of which one is configured, and the command with a configuration for it. */
function given() {
  const warehouse = copyOf(built.path);
  const config = writeConfig(temporaryFolder(), { websites: ['shop'], sections: { warehouse: { path: warehouse } } });
  const indexhouse = (line: string, typed?: string[]) => run([...line.split(' '), '-c', config], typed && { typed });
  return { warehouse, indexhouse };
}

test('a removal that dies behind any step is finished by whoever comes next', async () => {
  const passed = new Set<string>();
  const unwatch = watchCrashPoints((step) => void (OWN_STEPS.test(step) && passed.add(step)));
  const removed = copyOf(built.path);
  await removeNow(removed, 'blog');
  unwatch();
  expect(passed.size).toBeGreaterThan(15);
  const after = await contentOf(removed);
  const left = copyOf(built.path);
  const folderOf = leftIn(temporaryFolder());
  // The first, the last, and every fourth one between them.
  const steps = [...passed].filter((_, at) => at % 4 === 0 || at === passed.size - 1);
  await leftBehind(left, steps, folderOf, () => removeNow(left, 'blog'));
  for (const [at, step] of steps.entries()) {
    const folder = folderOf(step);
    if (at % 2 === 0) await removeNow(folder, 'blog');
    else await maintainAt(folder, { retention: 'unlimited', now: Date.now() });
    expect([step, await findingsOf(folder), readdirSync(folder).includes('removal.json')]).toEqual([step, [], false]);
    expect([step, await contentOf(folder)]).toEqual([step, after]);
  }
});

test('a run of the website that died is removed with it', async () => {
  const simulator = await startSimulator({ maxLimit: 20, seed: 3, nights: 4, websites: [{ id: 'w', pages: 12 }] });
  const home = new Home(temporaryFolder(), simulator, ['w']);
  await home.syncOne();
  simulator.advance();
  const steps = ['fetched', 'moved coverage'];
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

test('`indexhouse remove` changes nothing unless confirmed', async () => {
  const { warehouse, indexhouse } = given();
  const before = filesBelow(warehouse);
  const refused: [line: string, message: RegExp, typed?: string[]][] = [
    ['remove --website blog', /nothing was removed; --yes/],
    ['remove --website blog', /nothing was removed; --yes/, ['no']],
    ['remove --website blogg --yes', /no website "blogg" in the warehouse. Did you mean:\n {2}blog {2}/],
    ['remove --yes', /required option '-w, --website <id>' not specified/],
  ];
  for (const [line, message, typed] of refused) {
    expect(await indexhouse(line, typed)).toMatchObject({ code: 2, stderr: expect.stringMatching(message) });
  }
  const { stdout } = await indexhouse('remove --website blog --json');
  expect(JSON.parse(stdout)).toMatchObject({ website_id: 'blog', snapshots: 2, removed: false });
  const lock = await RunLock.take(warehouse, 'test');
  onTestFinished(() => lock.release());
  expect(await indexhouse('remove --website blog --yes')).toMatchObject({ code: 4 });
  expect(filesBelow(warehouse)).toEqual(before);
});

test('`indexhouse remove` removes a website that is no longer configured', async () => {
  const { warehouse, indexhouse } = given();
  const remedy = 'blog is no longer configured; `indexhouse remove --website blog` removes it';
  expect((await indexhouse('status')).stdout).toContain(remedy);
  expect((await indexhouse('remove --website blog', ['yes'])).code).toBe(0);
  expect(await findingsOf(warehouse)).toEqual([]);
  expect((await indexhouse('status')).stdout).not.toContain('blog');
});
