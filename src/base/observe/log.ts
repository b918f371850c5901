import { createRequire } from 'node:module';
import type { Logger } from 'pino';
import { messageOf } from '../exit.js';
import { colorsWanted, escapedJson, safe, safeLines } from './terminal.js';

/** Loads pino only if something may be logged, and pino-pretty with the first line for people. */
const load = createRequire(import.meta.url);
const MASK = '[secret]';
/** Pino's own fields of a line, which hold no foreign text. */
const OWN_FIELDS = new Set(['level', 'time']);

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

export type { Logger };

export interface LoggerOptions {
  level?: LogLevel;
  /** stderr, or a progress display's `logStream`, so that lines do not garble it. */
  destination?: { write(text: string): unknown; isTTY?: boolean | undefined };
  /** For people instead of JSON lines; by default on a terminal. */
  pretty?: boolean;
  color?: boolean;
  /** Tokens, masked wherever they appear in a line, encoded forms included. */
  secrets?: readonly string[];
}

/** Shorter secrets are matched whole, because they may be a part of other words. */
const LEAST_UNMISTAKABLE = 8;
/** What comes before a whole word, and before a value that is no word of a sentence. Either may be encoded. */
const ENCODED = '%[0-9a-fA-F]{2}|\\\\(?:[bfnrt]|u[0-9a-fA-F]{4})';
const BEFORE_WORD = `(?<=^|\\W|${ENCODED})`;
const BEFORE_VALUE = `(?<=["'=:/&] ?|(?:[Bb]asic|[Bb]earer|key|password|secret|token) |${ENCODED})`;

/** A pino logger that writes each line at once, without a worker thread. Foreign text reaches a terminal only escaped. */
export function createLogger(options: LoggerOptions = {}): Logger {
  const { level = 'info', destination = process.stderr, secrets = [] } = options;
  const { pino, stdSerializers, stdTimeFunctions }: typeof import('pino') = load('pino');
  const pretty = options.pretty ?? destination.isTTY === true;
  const color = options.color ?? colorsWanted(destination, process.env);
  const mask = masker(secrets);
  const jsonLine = (line: Line) => `${escapedJson(JSON.stringify(line))}\n`;
  let render = (line: Line): string => {
    render = pretty ? prettyRenderer(color) : jsonLine;
    return render(line);
  };
  const hasStacks = level === 'debug' || level === 'trace';
  const serialized = (error: Error) => (hasStacks ? stdSerializers.err(error) : messageOf(error));
  const settings = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: serialized, error: serialized },
  };
  return pino(settings, { write: (line) => destination.write(render(masked(inSentence(JSON.parse(line)), mask))) });
}

type Line = Record<string, unknown>;

/** An error without its stack ends the message. */
function inSentence({ err, ...line }: Line): Line {
  if (typeof err !== 'string') return err === undefined ? line : { ...line, err };
  return { ...line, msg: line['msg'] === undefined || line['msg'] === err ? err : `${line['msg']}: ${err}` };
}

function masked(line: Line, mask: (text: string) => string): Line {
  return Object.fromEntries(
    Object.entries(line).map(([key, value]) => [mask(key), OWN_FIELDS.has(key) ? value : mapTexts(value, mask)]),
  );
}

/** Changes every text in a value, keys included, and numbers that could be a secret. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (typeof value === 'number') return change(String(value)) === String(value) ? value : change(String(value));
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [change(key), mapTexts(item, change)]));
}

/**
 * Masks these secrets in a text, encoded forms included. A short one is masked only where it is whole, and one of letters
 * alone only where it is a value: in a sentence it is a word.
 */
export function masker(secrets: readonly string[]): (text: string) => string {
  // The longest first, because one secret may be the beginning of another.
  const known = secrets.filter((secret) => secret !== '').sort((one, other) => other.length - one.length);
  if (known.length === 0) return (text) => text;
  const forms = known.flatMap((secret) => {
    return [anyForm(secret, /^[a-z]+$/i.test(secret) ? BEFORE_VALUE : BEFORE_WORD), escaped(base64(secret))];
  });
  const pattern = new RegExp(forms.join('|'), 'g');
  const plain = known.flatMap((secret) => [secret, base64(secret)]);
  const encoded = encodedCharacter(known);
  // Searching for the whole pattern takes as long as parsing the text, and nearly every text holds no secret.
  const mayHold = (text: string) => plain.some((form) => text.includes(form)) || encoded.test(text);
  return (text) => {
    if (known.includes(text)) return MASK;
    return mayHold(text) ? text.replace(pattern, MASK) : text;
  };
}

/** Matches wherever a character of these secrets may be encoded. */
function encodedCharacter(secrets: readonly string[]): RegExp {
  const bytes = new Set(Buffer.from(secrets.join('')));
  return new RegExp(`\\\\|%(?:${[...bytes].map(hexOf).join('|')})`);
}

/**
 * Matches a text of which each character may be plain, percent-encoded, or escaped as in JSON, up to four times over; a
 * short one only where it is whole.
 */
function anyForm(text: string, before = BEFORE_WORD): string {
  const forms = [...text].map((character) => {
    const bytes = [...Buffer.from(character)].map((byte) => `%${hexOf(byte)}`);
    const unit = anyCase(character.charCodeAt(0).toString(16).padStart(4, '0'));
    const plain = character === '\\' ? '\\\\{1,16}' : `\\\\{0,15}${escaped(character)}`;
    return `(?:${plain}|${bytes.join('')}|\\\\{1,15}u${unit})`;
  });
  if (text.length >= LEAST_UNMISTAKABLE) return forms.join('');
  return `${/^\w/.test(text) ? before : ''}${forms.join('')}${/\w$/.test(text) ? '(?!\\w)' : ''}`;
}

function hexOf(byte: number): string {
  return anyCase(byte.toString(16).padStart(2, '0'));
}

function anyCase(hex: string): string {
  return hex.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64').replace(/=+$/, '');
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

function prettyRenderer(colorize: boolean): (line: Line) => string {
  const { prettyFactory }: typeof import('pino-pretty') = load('pino-pretty');
  const pretty = prettyFactory({ colorize, singleLine: true, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname' });
  return (line) => {
    const harmless = Object.entries(line).map(([key, value]) => [
      safe(key),
      mapTexts(value, key === 'msg' ? safe : safeLines),
    ]);
    return String(pretty(Object.fromEntries(harmless)) ?? '');
  };
}
