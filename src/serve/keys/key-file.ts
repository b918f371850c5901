import { createHash } from 'node:crypto';
import { z } from 'zod';
import { codeOf, readIfThere, writeDurably } from '../../base/storage/durable.js';
import { waitingForLock } from '../../base/storage/locks.js';
import { issuesOf, jsonOf } from '../../base/validate.js';
import { warehouseFolder } from '../../warehouse/log/folder/layout.js';
import { checkWarehouseThere, WarehouseError } from '../../warehouse/log/folder/prepare.js';
import { RunLock } from '../../warehouse/log/lock.js';

const OWNER_ONLY = 0o600;
/** A change takes milliseconds; one that takes longer than this hangs. */
const LOCK_TRIES = { withinMs: 10_000, everyMs: 20 };

/** Lets people and scanners recognise a leaked token. */
export const TOKEN_PREFIX = 'ih_';
/** What the tokens of keys look like, anywhere in a text. */
export const TOKENS = /ih_[A-Za-z0-9_-]{43}/g;

export function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

const storedKey = z.strictObject({
  id: z.uuid(),
  label: z.string().min(1),
  /** Ids of websites, or all that the warehouse holds, later ones included. */
  websites: z.union([z.literal('all'), z.array(z.string().min(1)).min(1)]),
  /** Of the token; hexadecimal. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  created_at: z.iso.datetime(),
  /** When the key expires; without it, the key is valid until it is revoked. */
  expires_at: z.iso.datetime().optional(),
});

/** A key as it is stored, without its token. */
export type StoredKey = z.infer<typeof storedKey>;

/** Strict, so that a key with rights that a later version knows is not read as one without them. */
const keyFile = z.strictObject({ keys: z.array(storedKey) });

/**
 * The keys of a warehouse, oldest first; none if none was ever added.
 *
 * @throws WarehouseError if the file is damaged
 */
export async function readKeys(warehouse: string): Promise<StoredKey[]> {
  const file = warehouseFolder(warehouse).keys;
  const text = await readText(file);
  if (text === null) return [];
  const parsed = keyFile.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data.keys;
  const place = issuesOf(parsed.error)[0]?.path;
  throw new WarehouseError(
    `${file} is damaged${place ? ` (at ${place})` : ''}: restore it from a backup, or delete it and add new keys ` +
      'with `indexhouse keys add`; the old tokens then stop working',
  );
}

/**
 * Changes the keys: reads them, and writes the result of `change`. Only one process at a time, so that no change is
 * lost. Returns those before.
 *
 * @param what the command, for error messages
 * @throws WarehouseError if there is no warehouse, or if the file is damaged, which is then left as it is
 * @throws BusyError if another process is changing them and does not finish
 */
export async function changeKeys(
  warehouse: string,
  what: string,
  change: (keys: readonly StoredKey[]) => readonly StoredKey[] | Promise<readonly StoredKey[]>,
): Promise<readonly StoredKey[]> {
  await checkWarehouseThere(warehouse);
  // Not the run lock: a key can be revoked while a sync of many hours runs.
  const { keysLock } = warehouseFolder(warehouse);
  const lock = await waitingForLock(() => RunLock.take(warehouse, what, keysLock), LOCK_TRIES);
  try {
    const before = await readKeys(warehouse);
    const keys = await change(before);
    await writeDurably(warehouseFolder(warehouse).keys, `${JSON.stringify({ keys }, null, 2)}\n`, OWNER_ONLY);
    return before;
  } finally {
    lock.release();
  }
}

async function readText(file: string): Promise<string | null> {
  try {
    return await readIfThere(file);
  } catch (cause) {
    const remedy = 'only the user who added the keys can read them; run this as that user';
    const isForbidden = codeOf(cause) === 'EACCES';
    throw new Error(isForbidden ? `${file} may not be read: ${remedy}` : `cannot read ${file}: ${cause}`, { cause });
  }
}
