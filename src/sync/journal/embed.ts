import type { Issue } from '../../base/validate.js';

/** An escaped surrogate: the only way in for a lone one, because the text itself is UTF-8. */
const ESCAPED_SURROGATE = /\\u[dD][89a-fA-F]/;
/** DuckDB reads no line beyond 32 MiB, and one that it cannot read would block every commit after it. */
const MAX_RECORD_CHARACTERS = 2_000_000;
const MAX_PAYLOAD_CHARACTERS = 1_000_000;
/** Longer URLs are not kept; no page has one. */
const MAX_URL_CHARACTERS = 65_536;

/** JSON text without lone surrogates, so that refused values can be stored, too. */
export function wellFormedJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!ESCAPED_SURROGATE.test(text)) return text;
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'string' ? inner.toWellFormed() : inner));
}

/** An object's JSON text, or null if it is nested deeper than JavaScript can write. */
export function stringified(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** An object as JSON text that ends with one more member, whose text is there already. */
export function endingWith(text: string | null, name: string, head: object): string {
  return `${JSON.stringify(head).slice(0, -1)},"${name}":${text}}`;
}

/** A refused record's text as the journal holds it: well-formed, and cut at a length that no real record has. */
export function payloadText(text: string | null): string {
  if (text === null) return '(nested too deeply to be written)';
  return text.slice(0, MAX_PAYLOAD_CHARACTERS).toWellFormed();
}

/** A refused record's URL as the journal holds it; null if it is too long. */
export function payloadUrl(url: string | null): string | null {
  return url === null || url.length > MAX_URL_CHARACTERS ? null : url;
}

/**
 * Says why an accepted JSON text cannot be stored, or null if it can. `JSON.stringify` escapes a surrogate only where
 * it is alone, and no UTF-8 file can hold that.
 */
export function storable(stringified: string | null): Issue | null {
  if (stringified === null) return { path: '', code: 'too_deep', message: 'is nested too deeply' };
  if (stringified.length > MAX_RECORD_CHARACTERS) {
    return { path: '', code: 'too_large', message: `has more than ${MAX_RECORD_CHARACTERS} characters` };
  }
  if (!ESCAPED_SURROGATE.test(stringified)) return null;
  return { path: '', code: 'lone_surrogate', message: 'holds half of a surrogate pair, which is not valid Unicode' };
}
