import { LRUCache } from 'lru-cache';
import type { Reader } from '../../answers/query/reader.js';
import type { Marker } from '../../warehouse/log/markers.js';
import type { WebsiteContext } from './context.js';

/** For each kind of page and each state of the warehouse, which has its own list of markers. */
const MOST_ANSWERS = 100;

type RememberedContext = Pick<WebsiteContext, 'website' | 'ask'> & {
  reader: Pick<WebsiteContext['reader'], 'markers'>;
};

/**
 * A cache of what a kind of page shows, by website and parameters, because it stays the same until the next commit. A
 * cached answer waits for no other question.
 */
export class Remembered<T extends object, Asked> {
  readonly #states = new WeakMap<readonly Marker[], LRUCache<string, T>>();

  /** @param read reads the answer; `asked` is everything that it depends on besides the website */
  constructor(private readonly read: (reader: Reader, website: string, asked: Asked) => Promise<T>) {}

  async ask(context: RememberedContext, asked: Asked): Promise<T> {
    const { id } = context.website;
    const name = JSON.stringify([id, asked]);
    const known = this.#of(await context.reader.markers()).get(name);
    if (known !== undefined) return known;
    return context.ask(async (reader) => {
      const answer = await this.read(reader, id, asked);
      this.#of(reader.markers).set(name, answer);
      return answer;
    });
  }

  #of(markers: readonly Marker[]): LRUCache<string, T> {
    const answers = this.#states.get(markers) ?? new LRUCache({ max: MOST_ANSWERS });
    this.#states.set(markers, answers);
    return answers;
  }
}
