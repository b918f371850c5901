import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import type { z } from 'zod';
import { codeOf } from '../../base/storage/durable.js';
import { JournalError } from './header.js';

const NEWLINE = 0x0a;
/** Small enough to be garbage before the collector moves it to the old generation. */
const PIECE_BYTES = 64 * 1024;

/** One line of a journal, counted from 1, and the offset after it. */
export interface JournalLine<T> {
  value: T;
  text: string;
  end: number;
  number: number;
}

/** One line as it is in the file, and the offset after it. */
interface RawLine {
  /** Null if it is not UTF-8: JavaScript would put a replacement character there; DuckDB refuses the whole file. */
  text: string | null;
  end: number;
}

/**
 * The lines of a journal, grouped by the piece of the file in which they end. What follows the last newline is left
 * out; a missing file has no lines.
 */
async function* rawLineGroups(file: string): AsyncGenerator<RawLine[]> {
  let offset = 0;
  for await (const piece of wholeLines(file)) {
    yield linesOf(piece).map((line) => {
      offset += line.length + 1;
      return { text: isUtf8(line) ? line.toString('utf8') : null, end: offset };
    });
  }
}

/**
 * Reads lines of one kind, in the same groups. A damaged last line is left out, because the process may have died while
 * it wrote that.
 *
 * @param isWhole whether a line is as it was written, beyond its schema
 * @throws JournalError if any other line is damaged
 */
export async function* readLineGroups<T>(
  file: string,
  schema: z.ZodType<T>,
  isWhole: (text: string) => boolean = () => true,
): AsyncGenerator<JournalLine<T>[]> {
  let damaged: number | null = null;
  let number = 0;
  for await (const group of rawLineGroups(file)) {
    const lines: JournalLine<T>[] = [];
    for (const { text, end } of group) {
      number++;
      if (damaged !== null) throw new JournalError(`line ${damaged} of ${file} is damaged`);
      const value = parseLine(text, schema);
      if (text === null || value === undefined || !isWhole(text)) damaged = number;
      else lines.push({ value, text, end, number });
    }
    yield lines;
  }
}

/** The file in pieces that end where a line does, each without its last newline. */
async function* wholeLines(file: string): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for await (const chunk of chunksOf(file)) {
    const end = chunk.lastIndexOf(NEWLINE);
    if (end >= 0) {
      yield Buffer.concat([...rest, chunk.subarray(0, end)]);
      rest = [];
    }
    if (end + 1 < chunk.length) rest.push(chunk.subarray(end + 1));
  }
}

function linesOf(piece: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let from = 0;
  for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, from)) {
    lines.push(piece.subarray(from, at));
    from = at + 1;
  }
  return [...lines, piece.subarray(from)];
}

/** The bytes of a file; a missing one has none. A folder in its place is damage; any other error is the disk's. */
export async function* chunksOf(file: string): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: PIECE_BYTES })) yield chunk;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    if (codeOf(error) === 'EISDIR') throw new JournalError(`${file} is a folder`);
    throw error;
  }
}

/** The value of a line, or undefined if it is damaged. */
export function parseLine<T>(text: string | null, schema: z.ZodType<T>): T | undefined {
  if (text === null) return undefined;
  try {
    const parsed = schema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
