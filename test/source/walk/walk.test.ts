import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstWalk, RecentUrls } from '../../../src/source/walk/walk-state.js';
import { seeds } from '../../given/at-length.js';
import { type Departures, FakeListing, pageUrls } from '../../given/fake-listing.js';
import { Walking } from '../../given/walking.js';
import { happenings, MovingListing } from './moving-listing.js';

const WINDOW_SIZES = [1, 2, 7, 100];
/** Random walks for each size of windows. */
const RUNS = { numRuns: 30 * seeds(1).length };

const comings = happenings(['none', 'insert', 'remove'], { at: 40, size: 12, events: 8 });

describe('a listing whose pages come and go', () => {
  it.each(WINDOW_SIZES)('is whole where it is called complete (windows of %i)', async (cap) => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 60 }), comings, async (count, events) => {
        const listing = new MovingListing(count, events, cap);
        const walking = new Walking(listing.get, { pageSize: 100 });
        const { kept, complete } = await walking.walk();
        const listed = walking.listed(kept.walk);
        expect(new Set(listed).size).toBe(listed.length);
        if (complete) expect(new Set(listed)).toEqual(new Set([...listed, ...listing.always]));
      }),
      RUNS,
    );
  });

  it.each([2, 7])('is walked to its end when the happenings cease (windows of %i)', async (cap) => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 60 }), comings, async (count, events) => {
        const early = events.filter(({ at }) => at < 3);
        const listing = new MovingListing(count, early, cap);
        const walking = new Walking(listing.get, { pageSize: 100 });
        const { complete, reason } = await walking.walk();
        expect({ complete, reason }).toEqual({ complete: true, reason: null });
      }),
      RUNS,
    );
  });
});

describe('a listing that holds a page twice', () => {
  const doubles = fc.array(
    fc.record({ from: fc.double({ min: 0, max: 1, noNaN: true }), to: fc.double({ min: 0, max: 1, noNaN: true }) }),
    { minLength: 1, maxLength: 4 },
  );

  it.each(WINDOW_SIZES)('is kept entry by entry, each page in both of its places (windows of %i)', async (cap) => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 60 }), doubles, async (count, twice) => {
        const pages = pageUrls(count);
        for (const { from, to } of twice) {
          const url = pages[Math.floor(from * (pages.length - 1))] ?? '';
          pages.splice(Math.floor(to * (pages.length + 1)), 0, url);
        }
        const listing = new FakeListing(pages, { cap });
        const walking = new Walking(listing.get, { pageSize: 100 });
        const { kept, complete } = await walking.walk();
        expect(complete).toBe(true);
        expect(walking.kept(kept.walk)).toEqual(pages);
      }),
      RUNS,
    );
  });
});

describe('a listing whose pages change places', () => {
  const moves = happenings(['move'], { at: 30, size: 1, events: 6 });

  it.each(WINDOW_SIZES)('is never called complete on the word of one doubtful walk (windows of %i)', async (cap) => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 50 }), moves, async (count, events) => {
        const listing = new MovingListing(count, events, cap);
        const walking = new Walking(listing.get, { pageSize: 100 });
        const { kept, complete } = await walking.walk();
        if (!complete) return;
        const listed = new Set(walking.listed(kept.walk));
        // The number of pages never moves here, so a listing that lacks one shows it.
        if (listed.size === count) return;
        expect(kept.previous).not.toBeNull();
        expect(new Set(walking.listed(kept.previous ?? 0))).toEqual(listed);
      }),
      RUNS,
    );
  });
});

describe('a listing that is followed by its links', () => {
  const WALK_REQUESTS = 3;

  it('is not complete because two walks missed the same page while pages came and went', async () => {
    const [kept = '', removed = '', missed = '', ...rest] = pageUrls(6);
    let requests = 0;
    // In each walk a page goes behind its back, so that the one after it moves to where the walk has been.
    const before = (pages: string[]) => {
      const isSecond = requests++ % WALK_REQUESTS === 1;
      pages.splice(0, pages.length, kept, ...(isSecond ? [] : [removed]), missed, ...rest);
    };
    const listing = new FakeListing(pageUrls(6), { cap: 2, before });
    const walking = new Walking(listing.get, { pageSize: 2 });
    const state = { ...firstWalk(2, 0), mode: 'links' as const };
    const result = await walking.walk({ state, recent: new RecentUrls(), finished: null });
    expect(listing.always).toContain(missed);
    expect(walking.listed(result.kept.walk)).not.toContain(missed);
    expect(result).toMatchObject({ complete: false, walks: 3 });
  });
});

describe('a service that contradicts itself', () => {
  const lies = fc.record({
    end: fc.constantFrom('honest', true, false, null, undefined),
    next_page: fc.constantFrom('honest', null, undefined, 'repeats', 'forward', 'far'),
    count: fc.constantFrom('honest', 0, 3, 1000, null, undefined),
    total_page: fc.constantFrom('honest', 0, 77, null, undefined),
    skip: fc.constantFrom('honest', 0, 5, null, undefined),
  });

  /** The honest pagination with what a lie says instead. */
  const lying: (lie: object) => NonNullable<Departures['pagination']> =
    (lie) =>
    (honest, { skip, limit }) => {
      const links: Record<string, string> = {
        repeats: '/v1/urls/w?skip=7&limit=7',
        forward: `/v1/urls/w?skip=${skip + limit}&limit=${limit}`,
        far: '/v1/urls/w?skip=7000&limit=7',
      };
      const lies = Object.entries(lie).filter(([, value]) => value !== 'honest');
      return { ...honest, ...Object.fromEntries(lies.map(([field, value]) => [field, links[String(value)] ?? value])) };
    };

  it.each(WINDOW_SIZES)('ends the walk all the same, without a page twice (windows of %i)', async (cap) => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 40 }), lies, fc.boolean(), comings, async (count, lie, ignoresSkip, events) => {
        const still = new MovingListing(count, events, cap);
        const listing = new FakeListing(still.pages, {
          ...still.departures,
          ignoresSkip,
          pagination: lying(lie),
        });
        const walking = new Walking(listing.get, { pageSize: 100, requestsAtMost: 2000 });
        const { kept } = await walking.walk();
        const listed = walking.listed(kept.walk);
        expect(new Set(listed).size).toBe(listed.length);
      }),
      RUNS,
    );
  });

  it.each([2, 7, 100])('is believed only where it lists everything that it has (windows of %i)', async (cap) => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 40 }), lies, async (count, lie) => {
        // `end`, `next_page` and `count` may not all say at once that a window in the middle is the last one.
        const signals = [lie.end === true, lie.next_page === null, lie.count === 0 || lie.count === 3];
        const given = [lie.end, lie.next_page, lie.count].map((value) => value !== undefined && value !== null);
        fc.pre(signals.some((says, at) => !says && given[at]));
        fc.pre(lie.skip === 'honest' || lie.skip === undefined || lie.skip === null);
        const listing = new FakeListing(pageUrls(count), { cap, pagination: lying(lie) });
        const walking = new Walking(listing.get, { pageSize: 100, requestsAtMost: 2000 });
        const { kept, complete } = await walking.walk();
        if (complete) expect(walking.listed(kept.walk)).toEqual(listing.pages);
      }),
      RUNS,
    );
  });
});
