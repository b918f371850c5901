import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.js';
import { run } from '../given/cli.js';
import { writeConfig } from '../given/config-file.js';
import { contentOf, countFiles } from '../given/content.js';
import { findingsOf } from '../given/verified.js';

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
  'moved page_changes',
  'moved page_state',
  'wrote the marker',
  'recorded the run',
  'dropped the journal',
  'followed the data',
  'followed the marker',
  'followed all markers',
];

const PAGES = 80;
let simulator: Simulator;
let home: string;
let unbroken: Record<string, string[]>;
let unbrokenFiles: number;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'indexhouse-crash-'));
  simulator = await startSimulator({ seed: 3, nights: 5, websites: [{ id: 'w', pages: PAGES }] });
  await syncIn(folderOf('first'));
  // Several nights, so that pages appear, go, and change.
  simulator.advance(4);
  copyFirst('unbroken');
  await syncIn(folderOf('unbroken'));
  unbroken = await contentOf(join(folderOf('unbroken'), 'warehouse'));
  if (!unbroken['page_changes']?.length) throw new Error('the nights changed nothing: there is nothing to compare');
  unbrokenFiles = await countFiles(join(folderOf('unbroken'), 'warehouse'));
});

afterAll(async () => {
  await simulator.close();
  rmSync(home, { recursive: true, force: true });
});

describe('a sync that dies behind a step and is recovered', () => {
  test.concurrent.for(STEPS)('ends up as if it had not died: %s', { timeout: 60_000 }, async (step, { expect }) => {
    const name = step.replaceAll(' ', '-');
    copyFirst(name);
    const config = writeConfig(folderOf(name), { baseUrl: simulator.url, websites: ['w'] });
    const crashed = await run(['sync', '--config', config], { env: { INDEXHOUSE_TEST_CRASH_AT: step } });
    expect(crashed.signal).toBe('SIGKILL');

    expect(await run(['sync', '--recover', '--config', config])).toMatchObject({ code: 0 });
    const warehouse = join(folderOf(name), 'warehouse');
    expect(await contentOf(warehouse)).toEqual(unbroken);
    expect(await countFiles(warehouse)).toBe(unbrokenFiles);
    expect(await findingsOf(warehouse)).toEqual([]);
  });
});

function folderOf(name: string): string {
  return join(home, name);
}

function copyFirst(name: string): void {
  cpSync(folderOf('first'), folderOf(name), { recursive: true });
}

async function syncIn(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const config = writeConfig(folder, { baseUrl: simulator.url, websites: ['w'] });
  const ended = await run(['sync', '--config', config]);
  if (ended.code !== 0) throw new Error(ended.stderr);
}
