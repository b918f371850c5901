import { createRequire } from 'node:module';
import type { Logger } from 'pino';
import { messageOf } from '../exit.js';
import { masker } from './masker.js';
import { colorsWanted, escapedJson, safe, safeLines } from './terminal.js';

/** Loads pino only if something may be logged, and pino-pretty with the first line for people. */
const load = createRequire(import.meta.url);
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
