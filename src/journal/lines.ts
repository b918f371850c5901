import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import type { z } from 'zod';
import { JournalError } from './header.js';

const NEWLINE = 0x0a;
/** Small enough that what is read of it is used up before the garbage collector has met it twice. */
const PIECE_BYTES = 64 * 1024;

/** One line of a journal and the offset behind it. */
export interface JournalLine<T> {
  value: T;
  end: number;
}

/**
 * Reads a journal line by line. The process may have died in the middle of its last line, so what stands behind the
 * last newline, and a last line that is damaged, are left out; a missing file has no lines.
 *
 * @throws JournalError where a line that is not the last is damaged
 */
export async function* readLines<T>(file: string, schema: z.ZodType<T>): AsyncGenerator<JournalLine<T>> {
  for await (const lines of readLineGroups(file, schema)) yield* lines;
}

/** The same in groups, each of what lies in one piece of the file. */
export async function* readLineGroups<T>(file: string, schema: z.ZodType<T>): AsyncGenerator<JournalLine<T>[]> {
  let damaged: { number: number; at: number } | null = null;
  let number = 0;
  let offset = 0;
  for await (const piece of wholeLines(file)) {
    const lines: JournalLine<T>[] = [];
    for (const { text, bytes } of textsOf(piece)) {
      number++;
      if (damaged) throw damagedLine(file, damaged.number, damaged.at);
      const value = parse(text, schema);
      if (value === undefined) damaged = { number, at: offset };
      offset += bytes + 1;
      if (value !== undefined) lines.push({ value, end: offset });
    }
    yield lines;
  }
}

/** The file in pieces that end where a line does, each without its last newline. */
async function* wholeLines(file: string): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for await (const chunk of chunks(file)) {
    const end = chunk.lastIndexOf(NEWLINE);
    if (end >= 0) {
      yield Buffer.concat([...rest, chunk.subarray(0, end)]);
      rest = [];
    }
    if (end + 1 < chunk.length) rest.push(chunk.subarray(end + 1));
  }
}

interface RawLine {
  /** Null where it is not UTF-8: JavaScript would put a replacement character there; DuckDB refuses the whole file. */
  text: string | null;
  bytes: number;
}

/** One text for all lines of a piece is several times faster than one for each. */
function textsOf(piece: Buffer): RawLine[] {
  if (!isUtf8(piece)) return linesOf(piece).map((line) => ({ text: textOf(line), bytes: line.length }));
  const whole = piece.toString('utf8');
  const isAscii = whole.length === piece.length;
  return whole.split('\n').map((text) => ({ text, bytes: isAscii ? text.length : Buffer.byteLength(text) }));
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

function textOf(line: Buffer): string | null {
  return isUtf8(line) ? line.toString('utf8') : null;
}

async function* chunks(file: string): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: PIECE_BYTES })) yield chunk;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
    throw error;
  }
}

function parse<T>(text: string | null, schema: z.ZodType<T>): T | undefined {
  if (text === null) return undefined;
  try {
    const parsed = schema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

function damagedLine(file: string, number: number, at: number): JournalError {
  return new JournalError(
    `line ${number} of ${file} (byte ${at}) is damaged, and lines follow it, so this is no interrupted write. ` +
      'The files are kept. Check the disk; then mend or cut the line, or move the run’s folder away to begin anew',
  );
}
