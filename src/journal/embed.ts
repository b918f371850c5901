import type { Issue } from '../contract/validate.js';

/** An escaped surrogate: the only way for a lone one to come in, because the text itself is UTF-8. */
const ESCAPED_SURROGATE = /\\u[dD][89a-fA-F]/;
/** A key whose colon does not follow at once. */
const SPACED_KEY = /"\s+:/;

/**
 * Says why a JSON text that was accepted cannot be stored, or null. Text written by `JSON.stringify` holds a
 * surrogate's escape only where the surrogate is alone, and no UTF-8 file can hold that.
 */
export function storable(stringified: string): Issue | null {
  if (!ESCAPED_SURROGATE.test(stringified)) return null;
  return { path: '', code: 'lone_surrogate', message: 'holds half of a surrogate pair, which is no Unicode text' };
}

/**
 * The text of an accepted object for a line of the journal: as it arrived where DuckDB reads it as JavaScript did,
 * and written anew where it may not (a doubled key, a nested object, an escaped surrogate).
 *
 * @param keys how many fields the parsed object has
 */
export function embeddable(text: string, parsed: object, keys: number): string {
  const plain = countKeys(text) === keys && !SPACED_KEY.test(text) && !ESCAPED_SURROGATE.test(text);
  if (!plain) return JSON.stringify(parsed);
  return text.includes('\n') || text.includes('\r') ? text.replace(/[\r\n]+/g, ' ') : text;
}

/** Counts `":`. Inside a string it only adds, so an equal number means no doubled and no nested key. */
function countKeys(text: string): number {
  let count = 0;
  for (let at = text.indexOf('":'); at >= 0; at = text.indexOf('":', at + 2)) count++;
  return count;
}
