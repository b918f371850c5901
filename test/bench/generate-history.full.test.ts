import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generateHistory } from '../../bench/generate-history.js';
import { temporaryFolder } from '../given/folder.js';
import { verified } from '../given/verified.js';

test('the benches generate a history that verifies', async () => {
  const warehouse = join(temporaryFolder(), 'warehouse');
  await generateHistory({ warehouse, pages: 300, nights: 3, reportEvery: 20 });

  const { snapshots, findings } = await verified(warehouse);
  // No sync has written the copies.
  const wrong = findings.filter(({ level }) => level !== 'lag');
  expect({ snapshots, wrong }).toEqual({ snapshots: 3, wrong: [] });
});
