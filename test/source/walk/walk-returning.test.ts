import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seeds } from '../../given/at-length.js';
import { FakeListing, pageUrls } from '../../given/fake-listing.js';
import { Walking } from '../../given/walking.js';
import { type Happening, happenings, MovingListing } from './moving-listing.js';

/** Random walks for each size of windows. */
const WALKS = 40 * seeds(1).length;
const WINDOW_SIZES = [1, 2, 3, 7, 100];

interface Answer {
  /** Its number, from 0. */
  request: number;
  skip: number;
  count: number;
  urls: string[];
}

/** A walk over a listing whose pages leave and come back, and the answers that it believed. */
class Watched {
  readonly walking: Walking;
  /** One for each accepted window. */
  readonly #believed: Answer[] = [];

  constructor(private readonly listing: MovingListing) {
    this.walking = new Walking((path) => this.#answer(path), { pageSize: 100 });
  }

  /**
   * Whether a window was believed that began with nothing but pages that had come back: several, or one that stood
   * where it had stood before, moved by as much as `count` changed.
   */
  get deceived(): boolean {
    return this.walking.windows.some(({ state: { walk } }, at) => {
      const before = this.#believed.slice(0, at).filter((_, window) => this.#walkOf(window) === walk);
      const { skip, count, urls } = this.#believed[at] as Answer;
      const seen = (url: string) => before.findLast((answer) => answer.urls.includes(url));
      const firstNew = urls.findIndex((url) => !seen(url));
      const [first, ...others] = urls.slice(0, firstNew < 0 ? urls.length : firstNew);
      if (first === undefined || ![first, ...others].every((url) => this.listing.returned.has(url))) return false;
      const last = seen(first) as Answer;
      return others.length > 0 || skip - last.skip - last.urls.indexOf(first) === count - last.count;
    });
  }

  /** Whether something happened while this walk was under way. */
  moved(walk: number): boolean {
    const own = this.#believed.filter((_, window) => this.#walkOf(window) === walk);
    const [first = 0, last = 0] = [own[0]?.request, own.at(-1)?.request];
    return [...this.listing.movedBefore].some((request) => request > first && request <= last);
  }

  #walkOf(window: number): number | undefined {
    return this.walking.windows[window]?.state.walk;
  }

  async #answer(path: string): Promise<string> {
    const body = await this.listing.get(path);
    const { urls, pagination }: { urls: { url: string }[]; pagination: Answer } = JSON.parse(body);
    // Of the answers before a window was accepted, the last is the one that it came with.
    this.#believed[this.walking.windows.length] = {
      ...pagination,
      request: this.listing.requests - 1,
      urls: urls.map(({ url }) => url),
    };
    return body;
  }
}

async function watched(count: number, events: readonly Happening[], cap: number) {
  const listing = new MovingListing(count, events, cap);
  const watch = new Watched(listing);
  const { kept, complete } = await watch.walking.walk();
  const listed = new Set(watch.walking.listed(kept.walk));
  const lost = complete ? listing.always.filter((url) => !listed.has(url)) : [];
  return { lost, watch, kept };
}

/** A listing of up to nine windows, and pages that leave and come back while it is walked. */
function worlds(cap: number, most: { size: number; events: number }) {
  const events = happenings(['return', 'insert', 'remove'], { at: 14, ...most });
  return fc.tuple(fc.nat({ max: 9 * cap }), events);
}

describe('a listing whose pages leave and come back', () => {
  it.each(WINDOW_SIZES)('is whole where it is called complete (windows of %i)', async (cap) => {
    await fc.assert(
      fc.asyncProperty(worlds(cap, { size: Math.max(3, cap), events: 8 }), async ([count, events]) => {
        const { lost, watch, kept } = await watched(count, events, cap);
        if (lost.length === 0) return;
        // The bound of what can be known: see "Limits" in docs/reliability.md.
        if (kept.previous === null) expect(watch.deceived).toBe(true);
        else expect([watch.moved(kept.previous), watch.moved(kept.walk)]).toEqual([true, true]);
      }),
      { numRuns: WALKS },
    );
  });

  const MOVED: [of: string, cap: number, after: number[], missed: number][] = [
    ['one page that came back', 3, [3, 4, 5, 0], 5],
    ['one page with nothing missing after it', 3, [0, 1, 5, 4, 6, 7], 5],
    ['two pages with one missing between them', 4, [0, 1, 2, 7, 4, 6, 8, 9], 7],
  ];
  it.each(MOVED)('is not taken for listed on the word of %s', async (_, cap, after, missed) => {
    const pages = pageUrls(10);
    const listing = new FakeListing([...pages], {
      cap,
      before: (now) => {
        if (listing.requests === 3) now.splice(0, now.length, ...after.map((at) => pages[at] ?? ''));
      },
    });
    const walking = new Walking(listing.get);
    const { kept, complete } = await walking.walk();
    expect(complete).toBe(true);
    expect(walking.listed(kept.walk)).toContain(pages[missed]);
  });
});

/** Requests that a walk needs where nothing moves: each window but the first overlaps by one entry. */
function ordinary(count: number, cap: number): number {
  return 1 + Math.ceil(Math.max(0, count - cap) / (cap - 1));
}

describe('the requests of a walk', () => {
  it.each([2, 3, 7, 100])('are no more than needed where nothing moves (windows of %i)', async (cap) => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 9 * cap }), async (count) => {
        const listing = new FakeListing(pageUrls(count), { cap });
        expect(await new Walking(listing.get, { pageSize: 100 }).walk()).toMatchObject({ complete: true, walks: 1 });
        expect(listing.requests).toBe(ordinary(count, cap));
      }),
      { numRuns: 20 },
    );
  });

  it.each([7, 100])('are at most three more for pages that came or went (windows of %i)', async (cap) => {
    // Where half a window comes or goes at once, too little of it is known to go on: such a walk starts over.
    const size = Math.floor(cap / 2) - 1;
    const events = happenings(['insert', 'remove'], { at: 9, size, events: 1 });
    await fc.assert(
      // Back by half a window twice, and the window that did not fit once more.
      fc.asyncProperty(fc.nat({ max: 9 * cap }), events, async (count, moves) => {
        const listing = new MovingListing(count, moves, cap);
        const { kept } = await new Walking(listing.get, { pageSize: 100 }).walk();
        expect({ walks: kept.walk, requests: listing.requests }).toEqual({ walks: 1, requests: expect.any(Number) });
        expect(listing.requests).toBeLessThanOrEqual(ordinary(Math.max(count, listing.pages.length), cap) + 3);
      }),
      { numRuns: WALKS },
    );
  });
});
