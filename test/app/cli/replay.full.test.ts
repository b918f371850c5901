import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodeOf, type ReplayReceipt } from '../../../src/sync/replay.js';
import { rebuildDuckdb } from '../../../src/warehouse/copies/rebuild.js';
import { run, runProcess } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { contentOf, countFiles } from '../../given/content.js';
import { temporaryFolder } from '../../given/folder.js';
import { leftBehind } from '../../given/left-behind.js';
import { readTable } from '../../given/parquet.js';
import { countsIn, mendPayloads, replayIds } from '../../given/quarantine.js';
import { replayNow } from '../../given/replayed.js';
import { pagesOf, type ScriptedService, startService, windowOf } from '../../given/service.js';
import { given, syncNow } from '../../given/synced.js';
import { findingsOf } from '../../given/verified.js';

const MEMORY_BYTES = 256e6;
/** Steps behind which a replay may die. */
const STEPS = [
  'staged coverage',
  'staged page_state',
  'staged all',
  'wrote the manifest',
  'moved coverage',
  'moved page_state',
  'wrote the marker',
  'dropped the journal',
  'followed the data',
  'followed the marker',
];
/** Where a process is killed indeed; elsewhere its files are copied at the step, which leaves the same. */
const KILLED = ['staged all', 'wrote the marker'];

const clean: (() => void)[] = [];
let service: ScriptedService;
let home: string;
let unbroken: Record<string, string[]>;
let files: number;

beforeAll(async () => {
  home = temporaryFolder((each) => void clean.push(each));
  const pages = pagesOf('w', 12);
  let night = 1;
  const listed = () => pages.map((url, at) => ({ url, index_summary: night === 2 && at < 2 ? 7 : 'Indexed' }));
  service = await startService({ w: { listing: (window) => windowOf(listed(), window) } });
  for (; night <= 2; night++) await syncNow(configIn('first'));
  const first = join(home, 'first', 'warehouse');
  await mendPayloads(first, { '"index_summary":7': '"index_summary":"Not Indexed"' });
  await rebuildDuckdb({ warehouse: first, memoryLimit: MEMORY_BYTES });
  const whole = copyFirst('unbroken');
  await leftBehind(join(home, 'unbroken'), STEPS, folderOf, () => replayIn('unbroken'));
  unbroken = await contentOf(whole);
  files = await countFiles(whole);
});

afterAll(async () => {
  await service.close();
  for (const each of clean) each();
});

describe('indexhouse replay', () => {
  test('says what it would take, takes it, and then finds nothing to take', async () => {
    copyFirst('plain');
    expect((await runIn('plain', ['status'])).stdout).toContain('2 records wait in quarantine');
    const dry = await runIn('plain', ['replay', '--dry-run']);
    expect(dry).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('2 records would be replayed, 0 still break'),
    });
    const done = await runIn('plain', ['replay', '--json']);
    expect(JSON.parse(done.stdout)).toMatchObject({
      dry_run: false,
      snapshots: [{ website_id: 'w', coverage: 2, url_reports: 0, changes: 2, still_rejected: 0 }],
      skipped: [],
      followers: [{ behind: 0 }, { behind: 0 }],
    });
    expect(await runIn('plain', ['replay'])).toMatchObject({ code: 0, stdout: 'No records in quarantine.\n' });
    const status = JSON.parse((await runIn('plain', ['status', '--json'])).stdout);
    expect(status).toMatchObject({ quarantine: [{ website_id: 'w', records: 2, replayed: 2, waiting: 0 }] });
    const replayed = '(select * from quarantine where replayed)';
    expect(await countsIn(join(home, 'plain', 'warehouse', 'analytics.duckdb'), [replayed])).toEqual({ [replayed]: 2 });
  });

  test('refuses what is no date, a website that nobody knows, and a folder that is no warehouse', async () => {
    copyFirst('refused');
    expect(await runIn('refused', ['replay', '--since', '2026-02-30'])).toMatchObject({ code: 2 });
    expect(await runIn('refused', ['replay', '--website', 'x'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no website "x" in the warehouse'),
    });
    expect(await runIn('nowhere', ['replay'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no warehouse'),
    });
  });

  test.for(STEPS.map((step, at) => [step, at % 2 === 0 ? 'sync' : 'replay'] as const))(
    'killed behind “%s” and followed by a %s, is there whole or not at all',
    async ([step, next]) => {
      const warehouse = join(folderOf(step), 'warehouse');
      if (KILLED.includes(step)) {
        rmSync(folderOf(step), { recursive: true });
        copyFirst(step);
        const killed = await runIn(step, ['replay'], { INDEXHOUSE_TEST_CRASH_AT: step });
        expect(killed.signal).toBe('SIGKILL');
      }
      expect((await findingsOf(warehouse)).filter(({ level }) => level === 'difference')).toEqual([]);
      if (next === 'sync') await syncNow(configIn(step), { recoverOnly: true });
      expect(exitCodeOf(await replayIn(step))).toBe(0);

      expect(await replayIds(warehouse)).toHaveLength(1);
      expect(await contentOf(warehouse)).toEqual(unbroken);
      expect(await countFiles(warehouse)).toBe(files);
      expect(await readTable(warehouse, 'replays')).toMatchObject([{ coverage_replayed: 2, still_rejected: 0 }]);
      const left = join(warehouse, 'replays');
      expect(existsSync(left) ? readdirSync(left) : []).toEqual([]);
      expect(await findingsOf(warehouse)).toEqual([]);
    },
  );
});

const folderOf = (name: string) => join(home, name.replaceAll(' ', '-'));

function configIn(name: string): string {
  const folder = folderOf(name);
  mkdirSync(folder, { recursive: true });
  return writeConfig(folder, {
    baseUrl: service.url,
    websites: ['w'],
    sections: { quality: { max_reject_ratio: 1 } },
  });
}

/** In a process of its own where the environment says when it dies. */
function runIn(name: string, args: string[], env?: Record<string, string>) {
  const all = [...args, '--config', configIn(name)];
  return env ? runProcess(all, { env }) : run(all);
}

async function replayIn(name: string): Promise<ReplayReceipt> {
  return replayNow(await given(configIn(name)));
}

function copyFirst(name: string): string {
  cpSync(folderOf('first'), folderOf(name), { recursive: true });
  return join(folderOf(name), 'warehouse');
}
