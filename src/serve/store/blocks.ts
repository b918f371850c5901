import { LRUCache } from 'lru-cache';
import type { WindowBounds } from '../api/pagination.js';

/** A cache of long lists in blocks of `size`, because a client that reads one window mostly reads the next one, too. */
export class Blocks<T> {
  readonly #kept: LRUCache<string, T[]>;

  /** @param max how many blocks to keep: those that were used last */
  constructor(
    private readonly size: number,
    max: number,
  ) {
    this.#kept = new LRUCache({ max });
  }

  /** Whether a window of the list of this name, which has `count` items in all, is in memory. */
  has(name: string, window: WindowBounds, count: number): boolean {
    return this.#starts(window, count).every((skip) => this.#kept.has(`${name} ${skip}`));
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
    for (const start of this.#starts(window, count)) {
      const key = `${name} ${start}`;
      const block = this.#kept.get(key) ?? (await read({ skip: start, limit: this.size }));
      this.#kept.set(key, block);
      found.push(block.slice(Math.max(0, skip - start), skip + limit - start));
    }
    return found.flat();
  }

  /** Where the blocks of a window begin. */
  #starts({ skip, limit }: WindowBounds, count: number): number[] {
    const first = Math.floor(skip / this.size);
    const behind = Math.ceil(Math.min(skip + limit, count) / this.size);
    return Array.from({ length: Math.max(0, behind - first) }, (_, number) => (first + number) * this.size);
  }
}
