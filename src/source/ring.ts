/**
 * The URLs that a walk saw last, with their positions in what it keeps. Bounded, so that a listing of millions of
 * pages needs no more memory than one of thousands.
 */
export class RecentUrls {
  readonly #positions = new Map<string, number>();

  /** @param capacity at least one window, so that an anchor in the window before is always found. */
  constructor(private readonly capacity: number) {}

  /** Where this URL stands in what is kept, or undefined if it was not seen recently. */
  positionOf(url: string): number | undefined {
    return this.#positions.get(url);
  }

  add(url: string, position: number): void {
    // Deleted first, so that the map's order of insertion stays the order of age.
    this.#positions.delete(url);
    this.#positions.set(url, position);
    if (this.#positions.size <= this.capacity) return;
    for (const oldest of this.#positions.keys()) {
      this.#positions.delete(oldest);
      break;
    }
  }

  /** Forgets what stands at this position or behind it: a window read again replaced it. */
  dropFrom(position: number): void {
    const latest = [...this.#positions.entries()].reverse();
    for (const [url, at] of latest) {
      if (at < position) break;
      this.#positions.delete(url);
    }
  }
}
