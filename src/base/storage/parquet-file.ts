import { open } from 'node:fs/promises';
import { z } from 'zod';
import { codeOf } from './durable.js';
import type { Engine } from './engine.js';
import { whyNotFile } from './only-files.js';

const MAGIC = 'PAR1';
const LEAST_BYTES = 12;
/**
 * The options of `copy` for a file of the warehouse. Zstd files are the smallest, and every reader of today knows it. The
 * row groups have so few rows that DuckDB's memory does not grow with the number of pages.
 */
export const PARQUET_FORMAT = 'format parquet, compression zstd, row_group_size 20480';

/** Whether a file exists and begins and ends like a whole Parquet file. A torn or foreign one does not. */
export async function isWholeParquet(file: string): Promise<boolean> {
  return (await whyNotParquet(file)) === null;
}

/** Those of some files that exist and are whole. */
export async function wholeFiles(files: readonly string[]): Promise<string[]> {
  const areWhole = await Promise.all(files.map(isWholeParquet));
  return files.filter((_, at) => areWhole[at]);
}

/**
 * Checks both ends of a file.
 *
 * @returns what is wrong with it, as it follows the file's name in a sentence; null if it can be a Parquet file
 */
export async function whyNotParquet(file: string): Promise<string | null> {
  const otherwise = whyNotFile(file);
  if (otherwise !== null) return otherwise;
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(file, 'r');
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'is missing';
    if (code === 'EACCES' || code === 'EPERM') return 'cannot be read by this user';
    throw error;
  }
  try {
    const { size } = await handle.stat();
    if (size === 0) return 'is empty';
    const ends = Buffer.alloc(2 * MAGIC.length);
    if (size >= LEAST_BYTES) {
      await handle.read(ends, 0, MAGIC.length, 0);
      await handle.read(ends, MAGIC.length, MAGIC.length, size - MAGIC.length);
    }
    return ends.toString('latin1') === MAGIC + MAGIC ? null : 'is truncated, or not a Parquet file';
  } finally {
    await handle.close();
  }
}

const counted = z.object({ rows: z.coerce.number() });

/** The number of rows that a file's footer states. */
export async function rowsIn(engine: Engine, file: string): Promise<number> {
  const [found] = await engine.rows(counted, 'select num_rows as rows from parquet_file_metadata($file)', { file });
  return found?.rows ?? 0;
}
