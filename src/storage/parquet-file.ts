import { open } from 'node:fs/promises';

const MAGIC = 'PAR1';
const LEAST_BYTES = 12;

/** Whether a file is there and begins and ends as a whole Parquet file does. A torn or foreign one does not. */
export async function isWholeParquet(file: string): Promise<boolean> {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(file, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
  try {
    const { size } = await handle.stat();
    if (size < LEAST_BYTES) return false;
    const ends = Buffer.alloc(2 * MAGIC.length);
    await handle.read(ends, 0, MAGIC.length, 0);
    await handle.read(ends, MAGIC.length, MAGIC.length, size - MAGIC.length);
    return ends.toString('latin1') === MAGIC + MAGIC;
  } finally {
    await handle.close();
  }
}
