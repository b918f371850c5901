import { LRUCache } from 'lru-cache';
import type { Reader } from '../../answers/query/reader.js';
import type { Marker } from '../../warehouse/log/markers.js';
import type { WebsiteContext } from './context.js';

/** For each kind of page and each state of the warehouse, which has its own list of markers. */
const MOST_ANSWERS = 100;

/**
 * Caches what a kind of page shows, by website and parameters, because it stays the same until the next commit. A
 * cached answer waits for no other question.
 *
 * @param read reads the answer; `asked` is everything that it depends on besides the website
 */
export function remembered<T extends object, Asked>(
  read: (reader: Reader, website: string, asked: Asked) => Promise<T>,
): (context: WebsiteContext, asked: Asked) => Promise<T> {
  const states = new WeakMap<readonly Marker[], LRUCache<string, T>>();
  return async (context, asked) => {
    const { id } = context.website;
    const name = JSON.stringify([id, asked]);
    const known = states.get(await context.reader.markers())?.get(name);
    if (known !== undefined) return known;
    return context.ask(async (reader) => {
      const answer = await read(reader, id, asked);
      const answers = states.get(reader.markers) ?? new LRUCache({ max: MOST_ANSWERS });
      states.set(reader.markers, answers.set(name, answer));
      return answer;
    });
  };
}
