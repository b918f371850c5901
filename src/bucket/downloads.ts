import { randomUUID } from 'node:crypto';
import { rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../exit.js';
import { ifThere, makeFolders } from '../storage/durable.js';
import { whyNotParquet } from '../storage/parquet-file.js';
import { HOUR_MS } from '../time.js';
import { namesIn } from '../warehouse/layout.js';
import type { Bucket } from './client.js';
import { BucketError } from './errors.js';

const AT_ONCE = 8;

/** Where a cache keeps files until they are complete. */
export function downloads(folder: string): string {
  return join(folder, 'downloads');
}

/** Removes files that killed processes have left. */
export async function removeLeft(folder: string): Promise<void> {
  for (const name of await namesIn(downloads(folder))) {
    const file = join(downloads(folder), name);
    const begun = (await ifThere(stat(file), null))?.mtimeMs ?? 0;
    if (Date.now() - begun > HOUR_MS) await rm(file, { force: true });
  }
}

/**
 * Processes all items, several at once. After a failure no more are started, and it ends when the running ones have.
 */
export async function each<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  // Shared by the loops: one that throws ends it for all.
  const left = (function* () {
    yield* all;
  })();
  const worker = async () => {
    for (const one of left) await work(one);
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(AT_ONCE, all.length) }, worker));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}

/**
 * Fetches a file of a warehouse under a unique name, because another process may be fetching the same file.
 *
 * @returns its path, to be passed to `place`; null if the bucket has no such object
 * @throws BucketError also if it is damaged
 */
export async function fetchFile(bucket: Bucket, folder: string, key: string, sha256?: string): Promise<string | null> {
  const file = join(downloads(folder), randomUUID());
  try {
    if (!(await bucket.download(key, file, sha256))) return null;
    const reason = await whyNotParquet(file);
    if (reason === null) return file;
    throw new Failure(`${bucket.url}/${key} ${reason}`);
  } catch (error) {
    await rm(file, { force: true });
    if (!(error instanceof Failure) || error instanceof BucketError) throw error;
    const remedy = '`indexhouse verify --repair` on the machine that writes there sends it again';
    throw new BucketError(`${error.message}; ${remedy}`);
  }
}

/** Moves a fetched file into its place. */
export async function place(fetched: string, file: string): Promise<void> {
  await makeFolders(dirname(file));
  await rename(fetched, file);
}
