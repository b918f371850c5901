import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import type { z } from 'zod';
import { JournalError } from './header.js';

const NEWLINE = 0x0a;

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
  let damaged: { number: number; at: number } | null = null;
  let number = 0;
  for await (const { bytes, end } of rawLines(file)) {
    number++;
    if (damaged) throw damagedLine(file, damaged.number, damaged.at);
    const value = parse(bytes, schema);
    if (value === undefined) damaged = { number, at: end - bytes.length - 1 };
    else yield { value, end };
  }
}

async function* rawLines(file: string): AsyncGenerator<{ bytes: Buffer; end: number }> {
  let rest: Buffer[] = [];
  let offset = 0;
  for await (const chunk of chunks(file)) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      const bytes = rest.length > 0 ? Buffer.concat([...rest, chunk.subarray(from, at)]) : chunk.subarray(from, at);
      rest = [];
      offset += bytes.length + 1;
      from = at + 1;
      yield { bytes, end: offset };
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
  }
}

async function* chunks(file: string): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 })) yield chunk;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
    throw error;
  }
}

function parse<T>(bytes: Buffer, schema: z.ZodType<T>): T | undefined {
  // JavaScript would put a replacement character there; DuckDB refuses the whole file.
  if (!isUtf8(bytes)) return undefined;
  try {
    const parsed = schema.safeParse(JSON.parse(bytes.toString('utf8')));
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
