/** Longer ones are no pages: browsers and search engines end far below. */
const MAX_LENGTH = 8192;

/**
 * A URL; null if the text is none. Not `URL.canParse`: once compiled, that of Node.js 20 refuses every text with a letter
 * such as é.
 */
export function urlOf(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

/** An http(s) address in the form of the WHATWG URL standard, without its fragment; null if the text is none. */
export function addressOf(text: string, base?: string): string | null {
  const url = urlOf(text, base);
  if (url === null) return null;
  url.hash = '';
  return /^https?:$/.test(url.protocol) && url.href.length <= MAX_LENGTH ? url.href : null;
}

/**
 * The identity of a page, whatever the spelling of its address: `addressOf` with escapes in capitals, and none of a letter, a
 * digit or one of `-._~`. `url_key` gives the same of it in SQL.
 */
export function keyOf(text: string): string | null {
  const address = addressOf(text);
  return address && plainEscapes(address);
}

/** An address with its escapes in capitals, and none of a letter, a digit or one of `-._~`. */
export function plainEscapes(address: string): string {
  return address.replace(/%([\da-f]{2})?/gi, (_, code) => (code ? plain(code) : '%25'));
}

/** The character that has this code in an escape, if it needs none, else its escape. */
function plain(code: string): string {
  const character = String.fromCharCode(Number.parseInt(code, 16));
  return /[\w.~-]/.test(character) ? character : `%${code.toUpperCase()}`;
}
