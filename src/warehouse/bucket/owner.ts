import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { z } from 'zod';
import type { Config } from '../../base/config/schema.js';
import { UnreachableError } from '../../base/exit.js';
import { moment } from '../../base/observe/format.js';
import type { Logger } from '../../base/observe/log.js';
import { safe } from '../../base/observe/terminal.js';
import { readJson, readSummedJson, summedJson, writeJson } from '../../base/storage/json-file.js';
import { warehouseFolder } from '../log/folder/layout.js';
import { AWAITED, type Bucket, IF_ABSENT, withBucket } from './client.js';
import { BucketError } from './errors.js';

const KEY = 'owner.json';
const TAKE_OVER = '`indexhouse restore --take-over`';

/** `owner.json`, in the bucket and in the folder that may write there. It does not expire. */
const ownerSchema = z.object({
  /** Each claim has a new id. What `restore` and `backup` make has none. */
  folder: z.uuid(),
  /** Machine and path, for people. */
  machine: z.string(),
  since: z.iso.datetime(),
});

/** The bucket belongs to another folder or warehouse, or the folder lacks commits of it. */
export class OwnerError extends UnreachableError {}

/** @returns whether this folder owns the bucket; false: nobody does. @throws OwnerError if another one does; BucketError */
export async function checkOwner(bucket: Bucket, warehouse: string): Promise<boolean> {
  const stored = await bucket.get(KEY);
  if (!stored) return false;
  const owner = readSummedJson(ownerSchema, stored.text);
  if (!owner) throw new OwnerError(`${bucket.url}/${KEY} is damaged: ${TAKE_OVER} replaces it`);
  const mine = await readJson(warehouseFolder(warehouse).owner, ownerSchema);
  if (mine?.folder === owner.folder) return true;
  const who = `${safe(owner.machine)} since ${moment(owner.since)} (folder ${owner.folder})`;
  throw new OwnerError(
    `${bucket.url} belongs to ${who}. If nothing syncs there any more, ${TAKE_OVER} makes this folder the owner`,
  );
}

/** Makes the folder the owner of a bucket that has none. @throws OwnerError if another one owns it; BucketError */
export async function own(bucket: Bucket, warehouse: string): Promise<void> {
  if (await checkOwner(bucket, warehouse)) return;
  // Before the owner: a machine that loses its disk in the first night goes on with the same warehouse.
  await sendIdentity(bucket, warehouse);
  await claim(bucket, warehouse, IF_ABSENT);
}

/** Makes the folder the owner in place of another one. @throws OwnerError if a third one did so meanwhile; BucketError */
export async function takeOwnership(bucket: Bucket, warehouse: string): Promise<void> {
  const stored = await bucket.get(KEY);
  await claim(bucket, warehouse, stored ? { 'if-match': stored.etag } : IF_ABSENT);
}

async function claim(bucket: Bucket, warehouse: string, condition: Record<string, string>): Promise<void> {
  const owner = { folder: randomUUID(), machine: `${hostname()}:${warehouse}`, since: new Date().toISOString() };
  await writeJson(warehouseFolder(warehouse).owner, owner);
  await bucket.put(KEY, summedJson(owner), condition);
  // What is there counts: the answer may have been lost, or another folder was first.
  await checkOwner(bucket, warehouse);
}

/** Sends `warehouse.json`. @throws OwnerError if the bucket holds another warehouse, or overwrites objects */
export async function sendIdentity(bucket: Bucket, warehouse: string): Promise<void> {
  const text = await readFile(warehouseFolder(warehouse).identity, 'utf8');
  const send = () => bucket.put('warehouse.json', text);
  if ((await send()) && (await send())) throw unconditional(bucket);
  if ((await bucket.get('warehouse.json'))?.text !== text) throw otherWarehouse(bucket, warehouse);
}

export function otherWarehouse({ url }: Bucket, warehouse: string): OwnerError {
  return new OwnerError(`${url} holds another warehouse than ${warehouse}: name another prefix under \`bucket\``);
}

/** @throws OwnerError if the server ignores that a write is conditional, or another folder owns the bucket; BucketError */
export function checkWritable(url: string, warehouse: string): Promise<void> {
  return withBucket(url, async (bucket) => {
    const key = `probe-${randomUUID()}`;
    await bucket.put(key, '');
    const isOverwritten = (await bucket.put(key, '')) || (await bucket.put(key, '', { 'if-match': '"0"' }));
    await bucket.remove(key);
    if (isOverwritten) throw unconditional(bucket);
    await checkOwner(bucket, warehouse);
  });
}

/** Two folders could own such a bucket unnoticed. */
function unconditional({ url }: Bucket): OwnerError {
  const asked = 'although it is asked not to (If-None-Match, If-Match)';
  return new OwnerError(`${url} overwrites objects ${asked}: use a server that supports conditional writes`);
}

/**
 * Asks, before anything is written, whether this folder may write to its bucket. If the bucket cannot be reached, the
 * work goes on, and the copy lags.
 *
 * @param ask `own`: under the run lock, also makes it the owner if there is none
 * @throws OwnerError
 */
export async function checkOwnership(
  { config, warehouse, logger }: { config: Pick<Config, 'bucket'>; warehouse: string; logger: Logger },
  ask: (bucket: Bucket, warehouse: string) => Promise<unknown> = checkOwner,
): Promise<void> {
  if (!config.bucket) return;
  try {
    await withBucket(config.bucket, (bucket) => ask(bucket, warehouse), AWAITED);
  } catch (error) {
    if (!(error instanceof BucketError)) throw error;
    logger.warn(`the bucket cannot be asked who owns it: ${error.message}`);
  }
}
