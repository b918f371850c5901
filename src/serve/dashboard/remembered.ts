import { LRUCache } from 'lru-cache';
import type { Reader } from '../../answers/query/reader.js';
import type { Marker } from '../../warehouse/log/markers.js';
import type { WebsiteContext } from './context.js';

/** For each kind of page and each state of the warehouse. */
const MOST_ANSWERS = 100;

/**
 * A cache of what a kind of page shows, by website and parameters, because it stays the same until the next commit. A
 * cached answer waits for no other question.
 */
export class Remembered<T extends object> {
  readonly #states = new WeakMap<readonly Marker[], LRUCache<string, T>>();

  /** @param asked everything that the answer depends on, besides the website */
  async ask(
    { website, markers, ask }: Pick<WebsiteContext, 'website' | 'markers' | 'ask'>,
    asked: unknown,
    question: (reader: Reader) => Promise<T>,
  ): Promise<T> {
    const name = JSON.stringify([website.id, asked]);
    const known = this.#of(await markers()).get(name);
    if (known !== undefined) return known;
    return ask(async (reader) => {
      const answer = await question(reader);
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
