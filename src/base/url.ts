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
