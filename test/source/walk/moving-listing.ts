import fc from 'fast-check';
import { FakeListing, pageUrls } from '../../given/fake-listing.js';

/** Something that happens to a listing before a request. */
export interface Happening {
  /** Before which request, from 0. */
  at: number;
  kind: 'none' | 'insert' | 'remove' | 'move' | 'return';
  /** Where in the listing, 0 to 1. */
  place: number;
  size: number;
  /** Of pages that return: before which request after that, where to, and how many of those that left. */
  after?: number;
  to?: number;
  share?: number;
}

const share = fc.double({ min: 0, max: 1, noNaN: true });

/** What may happen to a listing, as numbers that a shrinking run can make simple. */
export function happenings(kinds: readonly Happening['kind'][], most: { at: number; size: number; events: number }) {
  return fc.array(
    fc.record({
      at: fc.nat({ max: most.at }),
      kind: fc.constantFrom(...kinds),
      place: share,
      size: fc.integer({ min: 1, max: most.size }),
      after: fc.nat({ max: 3 }),
      to: fc.oneof(fc.constantFrom(0, 1), share),
      share,
    }),
    { maxLength: most.events },
  );
}

/** A listing in memory to which things happen between two requests. Pages that stay keep their order, but for moves. */
export class MovingListing extends FakeListing {
  /** Pages that left and came back. */
  readonly returned = new Set<string>();
  /** Requests before which something happened. */
  readonly movedBefore = new Set<number>();
  readonly #left = new Set<string>();
  readonly #away: { urls: string[]; until: number; to: number }[] = [];
  #request = 0;
  #born = 100_000;

  constructor(
    count: number,
    private readonly events: readonly Happening[],
    cap: number,
  ) {
    super(pageUrls(count), { cap, before: (pages) => this.#happen(pages) });
  }

  override get always(): string[] {
    return super.always.filter((url) => !this.#left.has(url));
  }

  #happen(pages: string[]): void {
    for (const event of this.events) {
      if (event.at !== this.#request) continue;
      this.movedBefore.add(event.at);
      this.#move(pages, event);
      this.#born += event.size;
    }
    for (const { urls, until, to } of this.#away) {
      if (until !== this.#request) continue;
      this.movedBefore.add(until);
      for (const url of urls) this.returned.add(url);
      put(pages, urls, to);
    }
    this.#request++;
  }

  #move(pages: string[], { at, kind, place, size, after = 0, to = 1, share = 1 }: Happening): void {
    const index = Math.floor(place * pages.length);
    if (kind === 'insert') pages.splice(index, 0, ...pageUrls(size, this.#born));
    if (kind === 'move') put(pages, pages.splice(index, 1), (place * 7919) % 1);
    if (kind !== 'remove' && kind !== 'return') return;
    const left = pages.splice(index, size);
    for (const url of left) this.#left.add(url);
    if (kind === 'return') this.#away.push({ urls: left.slice(0, Math.ceil(share * size)), until: at + after, to });
  }
}

function put(pages: string[], urls: string[], to: number): void {
  pages.splice(Math.floor(to * (pages.length + 1)), 0, ...urls);
}
