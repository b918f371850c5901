import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Reader, withReader } from '../../../src/answers/query/reader.js';
import { withEngine } from '../../../src/base/storage/engine.js';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import { openLog } from '../../../src/warehouse/log/log.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { dyingAt } from '../../given/left-behind.js';
import { rewrite } from '../../given/tamper.js';
import { buildNights, maintainAt } from '../../given/thinned.js';
import { sharedWarehouse } from '../../given/warehouse.js';
import { removeNow } from './removed.js';

const memoryLimit = 256e6;
const built = sharedWarehouse(() => buildNights([1, 2, 3]));

test('what is removed while a question reads it is not called damaged', async () => {
  const ask = (reader: Reader) => reader.rows(z.unknown(), 'select * from coverage');
  const removed = copyOf(built.path);
  const afterwards = withReader({ warehouse: removed, memoryLimit }, async (reader) => {
    await removeNow(removed, 'blog');
    return ask(reader);
  });
  await expect(afterwards).rejects.toMatchObject({ exitCode: 4, message: expect.stringContaining('try again') });
  const half = copyOf(built.path);
  const meanwhile = withReader({ warehouse: half, memoryLimit }, async (reader) => {
    await dyingAt('took step 9 of the removal', () => removeNow(half, 'blog'));
    return ask(reader);
  });
  const said = expect.stringMatching(/^the removal of website blog is not finished: try again soon/);
  await expect(meanwhile).rejects.toMatchObject({ exitCode: 4, message: said });
});

test('a tombstone that is of another website, or names a snapshot of one, is damaged, and drops nothing', async () => {
  const thinned = copyOf(built.path);
  await maintainAt(thinned, { retention: '1d' });
  for (const [column, reason] of [
    ["'blog' as website_id", 'does not hold the rows that were written'],
    ['other as snapshot_id', 'names a snapshot of another website'],
  ] as const) {
    const warehouse = copyOf(thinned);
    const [tombstone = ''] = await listTableFiles(warehouse, 'tombstones');
    const [marker = ''] = await listTableFiles(warehouse, 'snapshots', { websiteId: 'blog' });
    const other = `'${basename(marker, '.parquet')}'`;
    await rewrite(tombstone, `select * replace (${column.replace('other', other)}) from self`);
    await withEngine({ memoryLimit, temporary: temporaryFolder() }, async (engine) => {
      const { damaged, markers } = await openLog(engine, warehouse);
      expect(damaged).toMatchObject([{ websiteId: 'shop', reason }]);
      expect(markers.flatMap(({ dropped }) => Object.keys(dropped))).toEqual([]);
    });
  }
});
