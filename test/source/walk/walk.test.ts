import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstWalk, RecentUrls } from '../../../src/source/walk/walk-state.js';
import { type Departures, FakeListing, pageUrls } from '../../given/fake-listing.js';
import { seeds } from '../../given/seeds.js';
import { Walking } from '../../given/walking.js';

const WINDOW_SIZES = [1, 2, 3, 7, 100];
/** Random walks for each size of windows. */
const RUNS = { numRuns: seeds(30).length };

/** Something that happens to a listing before a request. */
interface Happening {
  /** Before which request, from 0. */
  at: number;
  kind: 'insert' | 'remove' | 'move';
  /** Where in the listing, 0 to 1. */
  place: number;
  size: number;
}

const place = fc.double({ min: 0, max: 1, noNaN: true });

function happenings(kinds: readonly Happening['kind'][], most: { at: number; size: number; events: number }) {
  const size = fc.integer({ min: 1, max: most.size });
  const happening = fc.record({ at: fc.nat({ max: most.at }), kind: fc.constantFrom(...kinds), place, size });
  return fc.array(happening, { maxLength: most.events });
}

const comings = happenings(['insert', 'remove'], { at: 40, size: 12, events: 8 });

/** A listing to which things happen between two requests. Pages that stay keep their order, but for moves. */
function moving(count: number, events: readonly Happening[], departures: Departures): FakeListing {
  const before = (pages: string[]) => {
    for (const [number, { at, kind, place, size }] of events.entries()) {
      if (at !== listing.requests - 1) continue;
      const index = Math.floor(place * pages.length);
      if (kind === 'insert') pages.splice(index, 0, ...pageUrls(size, 100_000 + 100 * number));
      if (kind === 'remove') pages.splice(index, size);
      if (kind === 'move') pages.splice(((place * 7919) % 1) * pages.length, 0, ...pages.splice(index, 1));
    }
  };
  const listing = new FakeListing(pageUrls(count), { ...departures, before });
  return listing;
}

/** Walks a listing in windows as large as it gives. */
async function walked(listing: FakeListing) {
  const walking = new Walking(listing.get, 100);
  const { kept, complete, reason } = await walking.walk();
  return { walking, kept, complete, reason, listed: walking.listed(kept.walk) };
}

describe.each(WINDOW_SIZES)('with windows of %i', (cap) => {
  it('a listing whose pages come and go is whole where it is called complete, once they cease to', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 60 }), comings, fc.boolean(), async (count, events, ceases) => {
        const listing = moving(count, ceases ? events.filter(({ at }) => at < 3) : events, { cap });
        const { listed, complete, reason } = await walked(listing);
        expect(new Set(listed).size).toBe(listed.length);
        if (complete) expect(new Set(listed)).toEqual(new Set([...listed, ...listing.always]));
        if (ceases && cap > 1) expect({ complete, reason }).toEqual({ complete: true, reason: null });
      }),
      RUNS,
    );
  });

  it('a listing that holds pages twice is kept entry by entry', async () => {
    const doubles = fc.array(fc.record({ from: place, to: place }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 60 }), doubles, async (count, twice) => {
        const pages = pageUrls(count);
        for (const { from, to } of twice) {
          const url = pages[Math.floor(from * (pages.length - 1))] ?? '';
          pages.splice(Math.floor(to * (pages.length + 1)), 0, url);
        }
        const { walking, kept, complete } = await walked(new FakeListing(pages, { cap }));
        expect([complete, walking.kept(kept.walk)]).toEqual([true, pages]);
      }),
      RUNS,
    );
  });

  it('a listing whose pages change places is never called complete on the word of one doubtful walk', async () => {
    const moves = happenings(['move'], { at: 30, size: 1, events: 6 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 50 }), moves, async (count, events) => {
        const { walking, kept, complete, listed } = await walked(moving(count, events, { cap }));
        // The number of pages never moves here, so a listing that lacks one shows it.
        if (!complete || listed.length === count) return;
        expect(kept.previous).not.toBeNull();
        expect(new Set(walking.listed(kept.previous ?? 0))).toEqual(new Set(listed));
      }),
      RUNS,
    );
  });
});

const MOVED: [of: string, cap: number, after: number[], missed: number][] = [
  ['one page that came back', 3, [3, 4, 5, 0], 5],
  ['one page with nothing missing after it', 3, [0, 1, 5, 4, 6, 7], 5],
  ['two pages with one missing between them', 4, [0, 1, 2, 7, 4, 6, 8, 9], 7],
];
it.each(MOVED)('a page is not taken for listed on the word of %s', async (_, cap, after, missed) => {
  const pages = pageUrls(10);
  const listing = new FakeListing([...pages], {
    cap,
    before: (now) => {
      if (listing.requests === 3) now.splice(0, now.length, ...after.map((at) => pages[at] ?? ''));
    },
  });
  const { complete, listed } = await walked(listing);
  expect(complete).toBe(true);
  expect(listed).toContain(pages[missed]);
});

it('two walks by links that missed the same page while pages came and went do not make a listing complete', async () => {
  const [kept = '', removed = '', missed = '', ...rest] = pageUrls(6);
  // In each walk of three requests a page goes behind its back: the one after it moves to where the walk has been.
  const before = (pages: string[]) => {
    const isSecond = listing.requests % 3 === 2;
    pages.splice(0, pages.length, kept, ...(isSecond ? [] : [removed]), missed, ...rest);
  };
  const listing = new FakeListing(pageUrls(6), { cap: 2, before });
  const walking = new Walking(listing.get, 2);
  const state = { ...firstWalk(2, 0), mode: 'links' as const };
  const result = await walking.walk({ state, recent: new RecentUrls(), finished: null });
  expect(listing.always).toContain(missed);
  expect(walking.listed(result.kept.walk)).not.toContain(missed);
  expect(result).toMatchObject({ complete: false, walks: 3 });
});

/** Requests that a walk needs where nothing moves: each window but the first overlaps by one entry. */
function ordinary(count: number, cap: number): number {
  return 1 + Math.ceil(Math.max(0, count - cap) / (cap - 1));
}

it.each([2, 7, 100])(
  'needs no spare request where nothing moves, and three at most otherwise: windows of %i',
  async (cap) => {
    // Where half a window comes or goes at once, too little of it is known to go on: such a walk starts over.
    const size = Math.max(1, Math.floor(cap / 2) - 1);
    const events = happenings(['insert', 'remove'], { at: 9, size, events: cap > 2 ? 1 : 0 });
    await fc.assert(
      // Back by half a window twice, and the window that did not fit once more.
      fc.asyncProperty(fc.nat({ max: 9 * cap }), events, async (count, moves) => {
        const listing = moving(count, moves, { cap });
        const { kept, complete } = await walked(listing);
        const most = ordinary(Math.max(count, listing.pages.length), cap);
        expect(kept.walk).toBe(1);
        expect(listing.requests).toBeLessThanOrEqual(most + 3);
        if (moves.length === 0) expect([complete, listing.requests]).toEqual([true, most]);
      }),
      RUNS,
    );
  },
);

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
        const { listed } = await walked(moving(count, events, { cap, ignoresSkip, pagination: lying(lie) }));
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
        const { listed, complete } = await walked(listing);
        if (complete) expect(listed).toEqual(listing.pages);
      }),
      RUNS,
    );
  });
});
