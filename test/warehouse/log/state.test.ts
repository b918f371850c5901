import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Simulator } from '../../../src/app/demo/simulator/simulator.js';
import { withEngine } from '../../../src/base/storage/engine.js';
import { namesIn, stateFolder } from '../../../src/warehouse/log/folder/layout.js';
import { currentState } from '../../../src/warehouse/log/state.js';
import { casesAtLength, testAtLength } from '../../given/at-length.js';
import { startSimulator } from '../../given/client-clock.js';
import { temporaryFolder } from '../../given/folder.js';
import { Home } from '../../given/home.js';
import { readMarkers } from '../../given/markers.js';
import { readParquet } from '../../given/parquet.js';
import { newestFile, rewrite } from '../../given/tamper.js';
import { findingsOf } from '../../given/verified.js';

let simulator: Simulator;
let first: Home;
let home: Home;

beforeAll(async () => {
  simulator = await startSimulator({ maxLimit: 20, seed: 8, nights: 2, websites: [{ id: 'w', pages: 40 }] });
  first = new Home(temporaryFolder(), simulator, ['w']);
  await first.sync({ follow: false });
  simulator.advance(3);
});

beforeEach(() => {
  home = first.copyTo(temporaryFolder());
});

async function stateIn(warehouse: string): Promise<string> {
  const folder = stateFolder(warehouse, 'w');
  return join(folder, (await namesIn(folder)).at(-1) ?? '');
}

const SPOILT: [string, (file: string) => void][] = [
  ['missing', (file: string) => rmSync(file)],
  ['torn', (file: string) => writeFileSync(file, readFileSync(file).subarray(0, 500))],
];
test.each(casesAtLength(SPOILT, 'torn'))(
  'the next sync rebuilds a %s state file and compares with it',
  async (_, spoil) => {
    spoil(await stateIn(home.warehouse));
    const receipt = await home.sync();
    expect(receipt.websites).toMatchObject([{ status: 'committed' }]);
    // `verify` follows the whole log, so a comparison with anything else would be a difference.
    expect(await findingsOf(home.warehouse)).toEqual([]);
  },
);

testAtLength('a state is made of files whose columns differ: a newer version may have written some', async () => {
  await home.sync({ follow: false });
  const file = await stateIn(home.warehouse);
  const before = await readParquet(file);
  await rewrite(await newestFile(home.warehouse, 'coverage'), 'select *, 1 as of_a_later_version from self');
  rmSync(file);
  const engine = { memoryLimit: 256e6, temporary: temporaryFolder() };
  const markers = await withEngine(engine, (opened) => readMarkers(opened, home.warehouse));
  expect(await currentState(home.warehouse, markers, engine)).toBe(file);
  expect(await readParquet(file)).toEqual(before);
});
