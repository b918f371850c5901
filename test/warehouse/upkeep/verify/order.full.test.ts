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

test.each([
  ['three days behind for a night', 4, '-3 days', [4]],
  ['so little ahead that nobody knows which of two it was', 2, '1.5 days', [2, 3]],
])('a clock that was %s is named with its snapshot, and is no bug', async (_, night, by, named) => {
  const { path } = await buildWarehouse(NIGHTS);
  const markers = await listTableFiles(path, 'snapshots');
  await rewrite(markers[night - 1] ?? '', `select * replace (snapshot_at + interval '${by}' as snapshot_at) from self`);
  rmSync(join(path, 'state'), { recursive: true });
  const found = (await findingsOf(path)).filter(({ level }) => level === 'difference');
  expect(found).toEqual(
    named.map((at) => ({
      check: 'snapshots dated in order',
      level: 'difference',
      message: expect.stringContaining(basename(markers[at - 1] ?? '', '.parquet')),
      remedy: expect.stringContaining('the clock was wrong'),
    })),
  );
});
