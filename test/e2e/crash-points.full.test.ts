import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, test } from 'vitest';
import type { Simulator } from '../../src/app/demo/simulator/simulator.js';
import { runExitCode } from '../../src/sync/receipt.js';
import { runProcess } from '../given/cli.js';
import { startSimulator } from '../given/client-clock.js';
import { contentOf, countFiles } from '../given/content.js';
import { temporaryFolder } from '../given/folder.js';
import { Home } from '../given/home.js';
import { leftBehind } from '../given/left-behind.js';

/** Every step behind which a run may die, from the end of the walk to the last follower. */
const STEPS = [
  'listed',
  'wrote the plan',
  'planned',
  'fetched',
  'staged coverage',
  'staged url_reports',
  'staged page_state',
  'staged all',
  'wrote the manifest',
  'moved coverage',
  'moved url_reports',
  'moved page_versions',
  'moved page_state',
  'wrote the marker',
  'recorded the run',
  'dropped the journal',
  'followed the data',
  'followed the marker',
  'followed all markers',
];
/** Where a process is killed indeed; elsewhere its files are copied at the step, which leaves the same. */
const KILLED = ['fetched', 'moved coverage', 'wrote the marker', 'followed the data'];

const PAGES = 80;
let simulator: Simulator;
let root: string;
let first: Home;
let unbroken: Record<string, string[]>;
let unbrokenFiles: number;

beforeAll(async () => {
  root = temporaryFolder();
  simulator = await startSimulator({ seed: 3, nights: 5, websites: [{ id: 'w', pages: PAGES }] });
  first = homeIn('first');
  await first.sync({ follow: false });
  // Several nights, so that pages appear, go, and change.
  simulator.advance(4);
  const whole = first.copyTo(folderOf('unbroken'));
  await leftBehind(whole.folder, STEPS, folderOf, () => whole.sync());
  unbroken = await contentOf(whole.warehouse);
  if (!unbroken['page_versions']?.length) throw new Error('the nights changed nothing: there is nothing to compare');
  unbrokenFiles = await countFiles(whole.warehouse);
});

describe('a sync that dies behind a step and is recovered', () => {
  test.concurrent.for(STEPS)('ends up as if it had not died: %s', async (step, { expect }) => {
    const home = KILLED.includes(step) ? first.copyTo(folderOf(`${step}, killed`)) : homeIn(step);
    if (KILLED.includes(step)) {
      const killed = await runProcess(['sync', '--config', home.config], { env: { INDEXHOUSE_TEST_CRASH_AT: step } });
      expect(killed.signal).toBe('SIGKILL');
    }
    expect(runExitCode(await home.sync({ recoverOnly: true }), 0)).toBe(0);
    expect(await contentOf(home.warehouse)).toEqual(unbroken);
    expect(await countFiles(home.warehouse)).toBe(unbrokenFiles);
    expect(await home.wrong()).toEqual([]);
  });
});

function folderOf(name: string): string {
  return join(root, name.replaceAll(/[ ,]+/g, '-'));
}

function homeIn(name: string): Home {
  mkdirSync(folderOf(name), { recursive: true });
  return new Home(folderOf(name), simulator, ['w']);
}
