import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { WindowBounds } from '../../../src/serve/api/pagination.js';
import { Blocks } from '../../../src/serve/store/blocks.js';

const COUNT = 47;
const LIST = Array.from({ length: COUNT }, (_, number) => number);

/** Blocks of ten, at most three of them, of a list that counts its reads. */
function blocksOfTen() {
  const reads: WindowBounds[] = [];
  const blocks = new Blocks<number>(10, 3);
  const window = (skip: number, limit: number, name = 'list') =>
    blocks.window(name, { skip, limit }, COUNT, async (part) => {
      reads.push(part);
      return LIST.slice(part.skip, part.skip + part.limit);
    });
  return { blocks, reads, window };
}

it('gives every window as the list itself would', async () => {
  const windows = fc.array(fc.tuple(fc.nat(60), fc.integer({ min: 1, max: 25 })));
  await fc.assert(
    fc.asyncProperty(windows, async (asked) => {
      const { window } = blocksOfTen();
      for (const [skip, limit] of asked) expect(await window(skip, limit)).toEqual(LIST.slice(skip, skip + limit));
    }),
  );
});

it('reads a block once for all who walk through it, and what is behind the end never', async () => {
  const { blocks, reads, window } = blocksOfTen();
  for (let skip = 0; skip < 20; skip += 3) await window(skip, 3);
  await window(3, 10);
  await window(COUNT, 3);
  expect(reads).toEqual([
    { skip: 0, limit: 10 },
    { skip: 10, limit: 10 },
    { skip: 20, limit: 10 },
  ]);
  expect(blocks.has('list', { skip: 5, limit: 10 }, COUNT)).toBe(true);
  expect(blocks.has('list', { skip: 25, limit: 10 }, COUNT)).toBe(false);
  expect(blocks.has('other', { skip: 5, limit: 10 }, COUNT)).toBe(false);
});

it('keeps what was used last, and a window that is larger than a block pushes nothing out', async () => {
  const { reads, window } = blocksOfTen();
  for (const skip of [0, 10, 20, 0, 30]) await window(skip, 10);
  await window(0, 40);
  expect(reads.splice(0).map(({ skip, limit }) => [skip, limit])).toEqual([
    [0, 10],
    [10, 10],
    [20, 10],
    [30, 10],
    [0, 40],
  ]);
  for (const skip of [0, 20, 30]) await window(skip, 10);
  expect(reads).toEqual([]);
  await window(10, 10);
  expect(reads).toHaveLength(1);
});
