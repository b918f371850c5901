import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ask, askIntoParquet, type Question, type Result } from '../analysis/question.js';
import { type Reader, type ReaderOptions, withReader } from '../analysis/reader.js';
import { Stopped, UsageError } from '../exit.js';
import { csvText } from '../observe/csv.js';
import { colorsWanted, escapedJson } from '../observe/terminal.js';
import { exists } from '../storage/durable.js';
import type { Value } from '../storage/values.js';
import { type Io, stoppable, widthOf } from './io.js';
import { formatTable } from './output.js';

export type Format = 'table' | 'json' | 'csv' | 'parquet';

export interface Sink {
  format: Format;
  /** A file instead of stdout. */
  out: string | undefined;
  /** Write over an existing file. */
  force: boolean;
  /** In CSV. */
  guardFormulas: boolean;
  io: Io;
}

/**
 * Opens a reader for `work`, and interrupts its query when the process receives a stop signal.
 *
 * @returns the result of `work`, and the damaged files that it had to leave out
 */
export function answered<T>(options: ReaderOptions, io: Io, work: (reader: Reader) => Promise<T>) {
  return withReader(options, (reader) =>
    stoppable(io, async (signal) => {
      signal.addEventListener('abort', () => reader.engine.raw.interrupt());
      try {
        return { answer: await work(reader), damaged: reader.damaged };
      } catch (error) {
        throw signal.aborted ? new Stopped('stopped before the answer was complete') : error;
      }
    }),
  );
}

/** @throws UsageError where a result could not be written, before it is computed */
export async function checkSink({ format, out, force, io }: Sink): Promise<void> {
  if (out !== undefined && !force && (await exists(out))) {
    throw new UsageError(`${out} already exists: choose another name, or use --force to overwrite it`);
  }
  if (format === 'parquet' && out === undefined && io.stdout.isTTY) {
    throw new UsageError('Parquet cannot be printed to a terminal: use --out FILE or a pipe');
  }
}

/** @throws UsageError for a file within the warehouse, where every file is the warehouse's own, or taken for one */
export async function checkOutside(warehouse: string, out: string): Promise<void> {
  const [folder, root] = await Promise.all([realOf(dirname(resolve(out))), realOf(resolve(warehouse))]);
  const way = relative(root, join(folder, basename(resolve(out))));
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) return;
  throw new UsageError(`${out} is inside the warehouse ${warehouse}: choose a path outside of it`);
}

/** A path without symbolic links, as far as there is such a place. */
async function realOf(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

/** Runs a query and streams its rows, so that they need not fit into memory (except as a table). */
export async function writeAnswer(reader: Reader, question: Question, sink: Sink): Promise<void> {
  if (sink.format === 'parquet') return writeParquet(reader, question, sink);
  const answer = await ask(reader, question);
  await writeText(textOf(answer, sink), sink);
}

async function writeParquet(reader: Reader, question: Question, sink: Sink): Promise<void> {
  const file = join(reader.folder, 'answer.parquet');
  await askIntoParquet(reader, question, file);
  if (sink.out === undefined) return pipeline(createReadStream(file), sink.io.stdout, { end: false });
  await inPlace(sink.out, (temporary) => copyFile(file, temporary));
}

/** Writes text part by part, to a file or to stdout. */
export async function writeText(parts: AsyncIterable<string>, { out, io }: Pick<Sink, 'out' | 'io'>): Promise<void> {
  if (out === undefined) return pipeline(Readable.from(parts), io.stdout, { end: false });
  await inPlace(out, (temporary) => pipeline(Readable.from(parts), createWriteStream(temporary)));
}

/** A file gets its final name only once it is complete. */
async function inPlace(out: string, write: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = `${out}.${process.pid}.tmp`;
  try {
    await write(temporary);
    await rename(temporary, out);
  } catch (error) {
    await rm(temporary, { force: true });
    if (error instanceof Error && 'path' in error) throw new UsageError(`cannot write ${out}: ${error.message}`);
    throw error;
  }
}

function textOf(answer: Result, sink: Sink): AsyncIterable<string> {
  if (sink.format === 'json') return jsonText(answer);
  if (sink.format === 'csv') return csvText(answer.columns, answer.parts, { guardFormulas: sink.guardFormulas });
  return tableText(answer, sink);
}

async function* jsonText({ columns, parts }: Result): AsyncGenerator<string> {
  let before = '[\n';
  for await (const rows of parts) {
    const texts = rows.map((row) =>
      JSON.stringify(Object.fromEntries(columns.map((name, at) => [name, row[at] ?? null]))),
    );
    yield `${before}  ${escapedJson(texts.join(',\n  '))}`;
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}

/** All rows at once, for a column is as wide as its widest cell. */
async function* tableText({ columns, parts }: Result, { out, io }: Sink): AsyncGenerator<string> {
  const rows: Value[][] = [];
  for await (const part of parts) for (const row of part) rows.push(row);
  const toTerminal = out === undefined && io.stdout.isTTY === true;
  const width = toTerminal ? widthOf(io.stdout) : undefined;
  yield formatTable(columns, rows, { width, color: toTerminal && colorsWanted(io.stdout, io.env) });
  if (rows.length === 0) yield '(no rows)\n';
}
