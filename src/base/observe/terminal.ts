import { createRequire } from 'node:module';

const load = createRequire(import.meta.url);
/**
 * What a terminal interprets instead of showing it: C0 and C1 controls, marks that turn the reading direction, separators
 * that break a line, the byte order mark, and halves of surrogate pairs.
 */
const HARMFUL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Cs}/gu;
/** Harmful to a terminal, yet left bare by JSON.stringify. */
const BARE_IN_JSON = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
const SHORT: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Makes any text harmless for a terminal, on one line: what it would interpret is shown as `\x1b`, `\n` or `\u202e`. */
export function safe(text: string): string {
  return text.replace(HARMFUL, visible);
}

/** As `safe`, but line breaks and tabs stay, for stack traces and other text of several lines. */
export function safeLines(text: string): string {
  return text.replace(HARMFUL, (character) =>
    character === '\n' || character === '\t' ? character : visible(character),
  );
}

/** Text from outside for a stream: as it is for a file or a pipe, and harmless on a terminal. */
export function shownOn({ isTTY }: { isTTY?: boolean | undefined }, text: string): string {
  return isTTY ? safeLines(text.replaceAll('\r\n', '\n')) : text;
}

/** JSON without characters that a terminal would interpret. */
export function escapedJson(json: string): string {
  return json.replaceAll(BARE_IN_JSON, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function visible(character: string): string {
  const code = character.charCodeAt(0);
  const hex = code.toString(16);
  return SHORT[character] ?? (code < 0x100 ? `\\x${hex.padStart(2, '0')}` : `\\u${hex.padStart(4, '0')}`);
}

/**
 * Whether to use colours on this stream: only on a terminal, and never if `NO_COLOR` is set; `FORCE_COLOR` (other than 0
 * or false) forces them.
 */
export function colorsWanted(
  stream: { isTTY?: boolean | undefined },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  if (env['NO_COLOR']) return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false';
  return stream.isTTY === true && env['TERM'] !== 'dumb';
}

/** How many cells of a terminal a text takes. Most texts are ASCII, and the library for others is slow to load. */
export function cellsOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  const { default: stringWidth }: typeof import('string-width') = load('string-width');
  return stringWidth(text);
}
