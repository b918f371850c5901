import { randomBytes, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { duration } from '../../base/config/scalars.js';
import { UsageError } from '../../base/exit.js';
import { DAY_MS } from '../../base/time.js';
import { changeKeys, hashOf, type StoredKey, TOKEN_PREFIX } from './key-file.js';

const MAX_LABEL_CHARACTERS = 200;

/** A key as it is shown, without its token or its hash. */
export type KnownKey = Omit<StoredKey, 'sha256'>;

export interface AddedKey {
  key: KnownKey;
  token: string;
}

/**
 * Adds a key to a warehouse.
 *
 * @param websites ids, which the warehouse need not hold yet; or all that it holds, later ones included
 * @param expires a date, a time or a duration, see `expiryOf`
 * @param show shows the key and its token before they are stored, so that a token that nobody saw is never valid
 * @returns the key and its token, which cannot be shown again
 * @throws UsageError for an invalid or taken label, or an invalid expiry; also what `changeKeys` throws
 */
export async function addKey(
  warehouse: string,
  { label, websites, expires }: Pick<StoredKey, 'label' | 'websites'> & { expires?: string | undefined },
  { now = Date.now, show }: { now?: () => number; show?: (added: AddedKey) => Promise<void> } = {},
): Promise<AddedKey> {
  checkLabel(label);
  // 256 random bits, so that the plain SHA-256 cannot be reversed.
  const token = TOKEN_PREFIX + randomBytes(32).toString('base64url');
  const key: StoredKey = {
    id: randomUUID(),
    label,
    websites: websites === 'all' ? websites : [...new Set(websites)],
    sha256: hashOf(token).toString('hex'),
    created_at: new Date(now()).toISOString(),
    ...(expires === undefined ? {} : { expires_at: new Date(expiryOf(expires, now())).toISOString() }),
  };
  const added = { key: known(key), token };
  await changeKeys(warehouse, 'keys add', async (keys) => {
    const same = keys.find((other) => other.label === label);
    if (same) {
      throw new UsageError(
        `there is a key with the label ${label} (${same.id}); choose another label, or revoke that key`,
      );
    }
    await show?.(added);
    return [...keys, key];
  });
  return added;
}

/**
 * Revokes a key; a running service refuses it within a second.
 *
 * @param idOrLabel its id or its label
 * @throws UsageError if that names no key; also what `changeKeys` throws
 */
export async function revokeKey(warehouse: string, idOrLabel: string): Promise<KnownKey> {
  const before = await changeKeys(warehouse, 'keys revoke', (keys) => {
    const key = theKey(keys, idOrLabel);
    return keys.filter((other) => other !== key);
  });
  return known(theKey(before, idOrLabel));
}

export function known({ sha256: _, ...key }: StoredKey): KnownKey {
  return key;
}

function checkLabel(label: string): void {
  const isUsable = label.trim() === label && label !== '' && !/\p{Cc}/u.test(label) && label.isWellFormed();
  if (isUsable && label.length <= MAX_LABEL_CHARACTERS) return;
  throw new UsageError(
    `a label is 1 to ${MAX_LABEL_CHARACTERS} characters, without control characters or surrounding spaces`,
  );
}

/**
 * When a key expires, in milliseconds since 1970.
 *
 * @param text a date, through whose end (UTC) it is valid, a time with its offset, or a duration such as `90d`
 * @throws UsageError if it is none of these, or in the past
 */
function expiryOf(text: string, now: number): number {
  const length = duration().safeParse(text);
  let at = length.success ? now + length.data : null;
  if (z.iso.date().safeParse(text).success) at = Date.parse(text) + DAY_MS;
  if (z.iso.datetime({ offset: true }).safeParse(text).success) at = Date.parse(text);
  if (at === null)
    throw new UsageError('--expires takes a date (2027-01-31), a time (2027-01-31T12:00:00Z) or a duration (90d)');
  if (at <= now) throw new UsageError(`${text} is in the past: choose a later time`);
  return at;
}

function theKey(keys: readonly StoredKey[], idOrLabel: string): StoredKey {
  const key = keys.find(({ id }) => id === idOrLabel) ?? keys.find(({ label }) => label === idOrLabel);
  if (key) return key;
  throw new UsageError(`no key with the id or label ${idOrLabel}; \`indexhouse keys list\` shows all keys`);
}
