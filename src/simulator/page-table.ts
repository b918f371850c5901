/** In place of a night: it has not happened. */
export const NEVER = -0x8000_0000;

/** Bits of `flags`. */
export const IN_SITEMAP = 1;
export const DECLARES_CANONICAL = 2;
/** Joined its sitemap when that was submitted, and is crawled and indexed sooner for it. */
export const JOINED_SITEMAP = 4;

/**
 * The data of all pages, one typed array per field: about 29 bytes per page, so that a million fit anywhere. A page's
 * number never changes and is never reused. Nights before the first one are negative.
 */
export class PageTable {
  size = 0;
  /** Index into the coverage states, or one of the two codes beyond them. */
  state = new Uint8Array(0);
  flags = new Uint8Array(0);
  /** The canonicals right after their last change, packed by `lifecycle.ts`. */
  canonicalsAtChange = new Uint8Array(0);
  detected = new Int32Array(0);
  crawled = new Int32Array(0);
  inspected = new Int32Array(0);
  /** Night of the last inspection that found the page indexed, before it left the index. */
  lastIndexed = new Int32Array(0);
  canonicalChanged = new Int32Array(0);
  blocked = new Int32Array(0);

  /** Adds `count` zeroed pages, and returns the number of the first. */
  add(count: number): number {
    const first = this.size;
    this.size += count;
    if (this.size > this.state.length) this.#grow(Math.max(this.size, Math.ceil(this.state.length * 1.25)));
    return first;
  }

  /** Forgets everything that happened to a page. */
  clearHistory(page: number): void {
    for (const nights of [this.crawled, this.inspected, this.lastIndexed, this.canonicalChanged, this.blocked]) {
      nights[page] = NEVER;
    }
  }

  #grow(capacity: number): void {
    const bytes = (old: Uint8Array) => copied(old, new Uint8Array(capacity));
    const nights = (old: Int32Array) => copied(old, new Int32Array(capacity));
    this.state = bytes(this.state);
    this.flags = bytes(this.flags);
    this.canonicalsAtChange = bytes(this.canonicalsAtChange);
    this.detected = nights(this.detected);
    this.crawled = nights(this.crawled);
    this.inspected = nights(this.inspected);
    this.lastIndexed = nights(this.lastIndexed);
    this.canonicalChanged = nights(this.canonicalChanged);
    this.blocked = nights(this.blocked);
  }
}

function copied<A extends { set(from: ArrayLike<number>): void }>(from: ArrayLike<number>, into: A): A {
  into.set(from);
  return into;
}
