/**
 * The URLs that a walk saw last, with their positions in what it keeps. Bounded, so that a listing of millions of
 * pages needs no more memory than one of thousands.
 *
 * Two maps take turns: when the young one is full it becomes the old one, and what was old is forgotten. Deleting the
 * oldest key of a single map with each new one is many times slower.
 */
export class RecentUrls {
  #young = new Map<string, number>();
  #old = new Map<string, number>();

  /**
   * @param capacity at least so many of the newest URLs are known, at most twice as many; two windows or more, so that
   *   the entries of the window before are always found
   */
  constructor(private readonly capacity: number) {}

  /** Where this URL stands in what is kept, the last place if there are two; undefined if it was not seen recently. */
  positionOf(url: string): number | undefined {
    return this.#young.get(url) ?? this.#old.get(url);
  }

  /** `position` is above those of all that is known. */
  add(url: string, position: number): void {
    this.#young.set(url, position);
    if (this.#young.size < this.capacity) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  /** Forgets what stands at this position or behind it: a window read again replaced it. */
  dropFrom(position: number): void {
    for (const generation of [this.#young, this.#old]) {
      for (const [url, at] of generation) if (at >= position) generation.delete(url);
    }
  }
}
