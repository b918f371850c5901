import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.js';
import { namesIn, stateFolder } from '../../src/warehouse/layout.js';
import { temporaryFolder } from '../given/folder.js';
import { Home } from '../given/home.js';
import { findingsOf } from '../given/verified.js';

test.each([
  ['missing', (file: string) => rmSync(file)],
  ['garbage', (file: string) => writeFileSync(file, 'no Parquet at all, but long enough')],
  ['torn', (file: string) => writeFileSync(file, readFileSync(file).subarray(0, 500))],
  ['empty', (file: string) => writeFileSync(file, '')],
])(
  'a state file that is %s is made anew from the log, and the next sync compares with what it was',
  async (_, spoil) => {
    const simulator = await startSimulator({ seed: 8, nights: 2, websites: [{ id: 'w', pages: 40 }] });
    try {
      const home = new Home(temporaryFolder(), simulator, ['w']);
      await home.sync();
      const folder = stateFolder(home.warehouse, 'w');
      const [name] = await namesIn(folder);
      spoil(join(folder, name ?? ''));
      simulator.advance(3);
      const receipt = await home.sync();
      expect(receipt.websites).toMatchObject([{ status: 'committed' }]);
      // `verify` replays the whole log, so a comparison with anything else would be a difference.
      expect(await findingsOf(home.warehouse)).toEqual([]);
    } finally {
      await simulator.close();
    }
  },
);
