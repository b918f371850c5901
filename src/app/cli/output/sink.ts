import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { UsageError } from '../../../base/exit.js';
import { exists } from '../../../base/storage/durable.js';
import type { Io } from '../io.js';

export type Format = 'table' | 'json' | 'csv' | 'parquet' | 'xlsx' | 'md';

/** The format that a file's extension stands for. */
const EXTENSIONS: Readonly<Record<string, Format>> = {
  '.json': 'json',
  '.csv': 'csv',
  '.parquet': 'parquet',
  '.xlsx': 'xlsx',
  '.md': 'md',
  '.txt': 'table',
};
/** Formats that a terminal would garble. */
const BINARY: Readonly<Record<string, string>> = { parquet: 'Parquet', xlsx: 'A spreadsheet' };

export interface Sink {
  format: Format;
  /** A file instead of stdout. */
  out: string | undefined;
  /** Overwrite an existing file. */
  force: boolean;
  /** For no spreadsheet. */
  rawCsv: boolean;
  io: Io;
}

export interface SinkFlags {
  json?: boolean;
  format?: Format;
  out?: string;
  force?: boolean;
  rawCsv?: boolean;
}

/** Where an answer goes, and in which format. @throws UsageError for flags that name two formats */
export function sinkOf(flags: SinkFlags, io: Io): Sink {
  const { json, format, out } = flags;
  const ending = extname(out ?? '').toLowerCase();
  const named = EXTENSIONS[ending];
  if (ending && !named && !format && !json) {
    throw new UsageError(`--out ${out}: use one of ${Object.keys(EXTENSIONS).join(', ')}, or name the --format`);
  }
  const claims: (readonly [string, Format])[] = [
    ...(json ? [['--json', 'json'] as const] : []),
    ...(format ? [[`--format ${format}`, format] as const] : []),
    ...(named ? [[`--out ${out}`, named] as const] : []),
  ];
  const [first] = claims;
  const other = claims.find(([, claimed]) => claimed !== first?.[1]);
  if (first && other) throw new UsageError(`${first[0]} and ${other[0]} cannot be combined: they are two formats`);
  return {
    format: first?.[1] ?? 'table',
    out: fileOf(out, io),
    force: flags.force === true,
    rawCsv: flags.rawCsv === true,
    io,
  };
}

/** The file that `--out` names; undefined for stdout, which is `-`. */
export function fileOf(out: string | undefined, { cwd }: Pick<Io, 'cwd'>): string | undefined {
  return out === undefined || out === '-' ? undefined : resolve(cwd, out);
}

/** Checks, before a result is computed, that it could be written. @throws UsageError if not */
export async function checkSink({ format, out, force, io }: Sink): Promise<void> {
  if (out !== undefined && !force && (await exists(out)))
    throw new UsageError(`${out} already exists: choose another name, or use --force to overwrite it`);
  const binary = BINARY[format];
  if (binary !== undefined && out === undefined && io.stdout.isTTY) {
    throw new UsageError(`${binary} cannot be printed to a terminal: use --out FILE or a pipe`);
  }
}

/** @throws UsageError for a file within the warehouse, where every file counts as the warehouse's own */
export async function checkOutside(warehouse: string, out: string): Promise<void> {
  const [folder, root] = await Promise.all([realOf(dirname(resolve(out))), realOf(resolve(warehouse))]);
  const way = relative(root, join(folder, basename(resolve(out))));
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) return;
  throw new UsageError(`${out} is inside the warehouse ${warehouse}: choose a path outside of it`);
}

/** A path without symbolic links, as far as it exists. */
async function realOf(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

/** Writes part by part, to a file or to stdout. */
export async function writeStream(
  parts: AsyncIterable<string | Uint8Array>,
  { out, io }: Pick<Sink, 'out' | 'io'>,
): Promise<void> {
  if (out === undefined) return pipeline(Readable.from(parts), io.stdout, { end: false });
  await inPlace(out, (temporary) => pipeline(Readable.from(parts), createWriteStream(temporary)));
}

/** A file gets its final name only once it is complete. */
export async function inPlace(out: string, write: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = `${out}.${randomUUID()}.tmp`;
  try {
    await write(temporary);
    await rename(temporary, out);
  } catch (error) {
    await rm(temporary, { force: true });
    if (error instanceof Error && 'path' in error) throw new UsageError(`cannot write ${out}: ${error.message}`);
    throw error;
  }
}
