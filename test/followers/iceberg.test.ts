import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { maintain } from '../../src/maintain/maintain.js';
import type { Simulator } from '../../src/simulator/simulator.js';
import { listTableFiles } from '../../src/warehouse/layout.js';
import { DATA_TABLES, MARKER_TABLES } from '../../src/warehouse/tables.js';
import { testAtLength } from '../given/at-length.js';
import { run, runProcess } from '../given/cli.js';
import { startSimulator } from '../given/client-clock.js';
import { temporaryFolder } from '../given/folder.js';
import { Home } from '../given/home.js';
import { icebergFiles, icebergSnapshots } from '../given/iceberg.js';
import { readParquet } from '../given/parquet.js';
import { given } from '../given/synced.js';

const TABLES = [...DATA_TABLES, ...MARKER_TABLES, 'runs'] as const;
/** A website whose id needs encoding. */
const WEBSITES = [
  { id: 'w', pages: 40 },
  { id: 'a/b %é', pages: 15 },
];
const clean: (() => void)[] = [];
let simulator: Simulator;
let first: Home;

beforeAll(async () => {
  simulator = await startSimulator({ seed: 3, websites: WEBSITES, nights: 1 });
  first = new Home(
    temporaryFolder((each) => void clean.push(each)),
    simulator,
    WEBSITES.map(({ id }) => id),
    { iceberg: { enabled: true } },
  );
  await first.sync({ follow: false });
  simulator.advance(1);
});

afterAll(async () => {
  await simulator.close();
  for (const each of clean) each();
});

test('every committed file is in its table, with its rows, in the snapshot of its run', async () => {
  const home = copy();
  expect((await home.sync()).followers).toContainEqual({ name: 'iceberg', behind: 0 });
  await expectWhole(home);
  const sizes = [...(await icebergSnapshots(home.warehouse, 'coverage')).values()].map((of) => Object.keys(of).length);
  expect(sizes).toEqual([2, 4]);
  expect(Object.keys(await icebergFiles(home.warehouse, 'page_state')).sort()).toEqual(await newestStates(home));

  const { code, stdout } = await run(['verify', '--json', '--config', home.config]);
  expect([code, JSON.parse(stdout).findings]).toEqual([0, []]);
});

testAtLength('killed while it publishes them, a process leaves what the next one ends', async () => {
  for (const step of ['wrote iceberg coverage', 'published iceberg page_state', 'published iceberg runs']) {
    const home = copy();
    const env = { INDEXHOUSE_TEST_CRASH_AT: step };
    expect(await runProcess(['sync', '--config', home.config], { env })).toMatchObject({ signal: 'SIGKILL' });
    expect((await home.sync({ recoverOnly: true })).followers).toContainEqual({ name: 'iceberg', behind: 0 });
    await expectWhole(home);
  }
});

testAtLength('in another folder they are published under their new addresses', async () => {
  const home = copy();
  await home.sync();
  const moved = home.copyTo(join(temporaryFolder(), 'moved'));
  const status = await run(['status', '--json', '--config', moved.config]);
  expect(JSON.parse(status.stdout).followers).toContainEqual(expect.objectContaining({ name: 'iceberg', behind: 4 }));
  await moved.sync();
  await expectWhole(moved);
});

testAtLength('what retention removed is in no version of a table', async () => {
  const home = copy();
  await home.sync();
  const before = Object.keys(await icebergFiles(home.warehouse, 'coverage'));
  const later = Date.now() + 40 * 86_400_000;
  await home.sync({ clock: () => later });
  home.sections['retention'] = { parquet_keep_daily: '1d', parquet_then: 'monthly' };
  home.configure(home.websites);
  const config = await given(home.config);
  const receipt = await maintain({ config, dryRun: false, now: () => later + 86_400_000 });
  expect(receipt.followers).toContainEqual({ name: 'iceberg', behind: 0 });
  const versions = await icebergSnapshots(home.warehouse, 'coverage');
  expect(versions.size).toBe(1);
  const left = Object.keys([...versions.values()][0] ?? {});
  expect(left.length).toBeGreaterThan(0);
  expect(before.filter((path) => !left.includes(path)).length).toBeGreaterThan(0);
  expect((await run(['verify', '--config', home.config])).code).toBe(0);
});

testAtLength(
  'metadata that cannot be read makes them lag, never a sync fail; verify names what is lacking',
  async () => {
    const home = copy();
    await home.sync();
    const folder = join(home.warehouse, 'iceberg', 'snapshots', 'metadata');
    const [newest] = readdirSync(folder).filter((name) => /^2.*-2-/.test(name));
    writeFileSync(join(folder, newest ?? ''), 'no Avro');
    const broken = await run(['sync', '--json', '--recover', '--config', home.config]);
    expect(JSON.parse(broken.stdout).followers).toContainEqual(expect.objectContaining({ name: 'iceberg', behind: 1 }));
    expect(broken.code).toBe(3);
    expect((await run(['verify', '--config', home.config])).stdout).toContain('Iceberg cannot be compared');

    rmSync(join(home.warehouse, 'iceberg'), { recursive: true });
    expect((await run(['verify', '--config', home.config])).stdout).toContain('the Iceberg tables: 4 snapshots behind');
    await home.sync({ recoverOnly: true });
    await expectWhole(home);
  },
);

function copy(): Home {
  return first.copyTo(join(temporaryFolder(onTestFinished), 'home'));
}

/** Every file of the log is in its table, and nothing else, with as many rows as another reader counts. */
async function expectWhole({ warehouse }: Home): Promise<void> {
  for (const table of TABLES) {
    const expected: Record<string, number> = {};
    for (const file of await listTableFiles(warehouse, table)) expected[file] = (await readParquet(file)).length;
    expect([table, await icebergFiles(warehouse, table)]).toEqual([table, expected]);
  }
}

async function newestStates({ warehouse }: Home): Promise<string[]> {
  const folder = join(warehouse, 'state');
  return readdirSync(folder)
    .map((website) => join(folder, website, readdirSync(join(folder, website)).sort().at(-1) ?? ''))
    .sort();
}
