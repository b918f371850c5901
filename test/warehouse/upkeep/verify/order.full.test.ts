import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { listTableFiles } from '../../../../src/warehouse/log/folder/layout.js';
import { rewrite } from '../../../given/tamper.js';
import { findingsOf } from '../../../given/verified.js';
import { buildWarehouse, type Night } from '../../../given/warehouse.js';

/** Each night another page is the one that is not indexed. */
const NIGHTS = [1, 2, 3, 4, 5].map((night): Night => {
  const page = (at: number) => ({ index_summary: at === night ? 'Not Indexed' : 'Indexed' });
  const pages = [1, 2, 3, 4, 5].map((at) => ({ url: `https://w.example/${at}`, entry: page(at) }));
  return { at: `2025-03-0${night}T02:00:00Z`, lists: { w: pages } };
});

test('a clock that was three days behind for a night is named with its snapshot, and is no bug', async () => {
  const { path } = await buildWarehouse(NIGHTS);
  const marker = (await listTableFiles(path, 'snapshots'))[3] ?? '';
  await rewrite(marker, `select * replace (snapshot_at - interval '3 days' as snapshot_at) from self`);
  rmSync(join(path, 'state'), { recursive: true });
  expect((await findingsOf(path)).filter(({ level }) => level === 'difference')).toEqual([
    {
      check: 'snapshots dated in order',
      level: 'difference',
      message: expect.stringContaining(basename(marker, '.parquet')),
      remedy: expect.stringContaining('the clock was wrong'),
    },
  ]);
});
