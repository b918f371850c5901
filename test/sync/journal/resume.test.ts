import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Stopped } from '../../../src/base/exit.js';
import { type WalkResult, walkListing } from '../../../src/source/walk/walk.js';
import { ListingJournal } from '../../../src/sync/journal/write-listing.js';
import { readListing } from '../../../src/warehouse/journal/listing.js';
import { atLength } from '../../given/at-length.js';
import { FakeListing, pageUrls } from '../../given/fake-listing.js';
import { temporaryFolder } from '../../given/folder.js';
import { Walking } from '../../given/walking.js';
import { emptyJournal } from './given.js';

const NOW = Date.parse('2026-01-01T00:00:00.000Z');
const MINUTE_MS = 60_000;
const clean: (() => void)[] = [];

/** Walks with a journal, and is killed after the given numbers of windows. */
async function walkInPieces(
  listing: FakeListing,
  interruptions: readonly number[],
  pauseMs: number,
): Promise<{ result: WalkResult; walking: Walking }> {
  const folder = temporaryFolder();
  const journal = await emptyJournal(folder);
  const walking = new Walking(listing.get, { pageSize: 100, requestsAtMost: 3000 });
  let now = NOW;
  for (const most of [...interruptions, Number.POSITIVE_INFINITY]) {
    const left = await readListing(journal, now);
    if (left.kind === 'listed') throw new Error('no walk of these ends its journal');
    const written = new ListingJournal(journal, left);
    let windows = 0;
    const deps = walking.deps();
    try {
      const result = await walkListing(
        {
          ...deps,
          now: () => now,
          accept: async (window) => {
            if (windows++ >= most) throw new Stopped();
            await written.accept(window, new Date(now));
            await deps.accept(window);
          },
        },
        left.from,
      );
      return { result, walking };
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
    } finally {
      written.close();
    }
    now += pauseMs;
  }
  throw new Error('unreachable');
}

const happenings = fc.array(
  fc.record({
    at: fc.nat({ max: 20 }),
    place: fc.double({ min: 0, max: 1, noNaN: true }),
    insert: fc.boolean(),
    size: fc.integer({ min: 1, max: 9 }),
  }),
  { maxLength: 5 },
);

function world(count: number, events: { at: number; place: number; insert: boolean; size: number }[], cap: number) {
  let request = 0;
  let born = 10_000;
  return new FakeListing(pageUrls(count), {
    cap,
    before: (pages) => {
      for (const { place, insert, size } of events.filter(({ at }) => at === request)) {
        pages.splice(Math.floor(place * pages.length), insert ? 0 : size, ...(insert ? pageUrls(size, born) : []));
        born += size;
      }
      request++;
    },
  });
}

const interruptions = fc.array(fc.nat({ max: 6 }), { minLength: 1, maxLength: 3 });

it.each(atLength([2], [1, 2, 7]))('a resumed walk lists what an unbroken one would (windows of %i)', async (cap) => {
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 30 }), happenings, interruptions, async (count, events, after) => {
      const listing = world(count, events, cap);
      const { result, walking } = await walkInPieces(listing, after, MINUTE_MS);
      const listed = walking.listed(result.kept.walk);
      expect(new Set(listed).size).toBe(listed.length);
      if (result.complete) expect(listed).toEqual(expect.arrayContaining(listing.always));
    }),
    { numRuns: 60 },
  );
  for (const each of clean.splice(0)) each();
});
