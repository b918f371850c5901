import type { WindowBounds } from '../service/pagination.js';

/** A cache of the `most` values that were used last. */
export class Recent<T> {
  readonly #kept = new Map<string, T>();

  constructor(private readonly most: number) {}

  has(key: string): boolean {
    return this.#kept.has(key);
  }

  get(key: string): T | undefined {
    const value = this.#kept.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: string, value: T): void {
    // Deleted first, so that the map's order of insertion is the order of use.
    this.#kept.delete(key);
    this.#kept.set(key, value);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.most) return;
      this.#kept.delete(oldest);
    }
  }
}

/** A cache of long lists in blocks of `size`, because a client that reads one window mostly reads the next one, too. */
export class RecentBlocks<T> {
  readonly #kept: Recent<T[]>;

  constructor(
    private readonly size: number,
    most: number,
  ) {
    this.#kept = new Recent(most);
  }

  /** Whether a window of the list of this name, which has `count` items in all, is in memory. */
  has(name: string, window: WindowBounds, count: number): boolean {
    return this.#blocks(window, count).every((skip) => this.#kept.has(`${name} ${skip}`));
  }

  /** @param read reads a block; a window larger than that is read as it is, because it would push out all others */
  async window(
    name: string,
    window: WindowBounds,
    count: number,
    read: (window: WindowBounds) => Promise<T[]>,
  ): Promise<T[]> {
    const { skip, limit } = window;
    if (skip >= count) return [];
    if (limit > this.size) return read(window);
    const found: T[][] = [];
    for (const start of this.#blocks(window, count)) {
      const key = `${name} ${start}`;
      const block = this.#kept.get(key) ?? (await read({ skip: start, limit: this.size }));
      this.#kept.set(key, block);
      found.push(block.slice(Math.max(0, skip - start), skip + limit - start));
    }
    return found.flat();
  }

  /** Where the blocks of a window begin. */
  #blocks({ skip, limit }: WindowBounds, count: number): number[] {
    const first = Math.floor(skip / this.size);
    const behind = Math.ceil(Math.min(skip + limit, count) / this.size);
    return Array.from({ length: Math.max(0, behind - first) }, (_, number) => (first + number) * this.size);
  }
}
