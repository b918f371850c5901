import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Lets people and scanners recognise a leaked token. */
const PREFIX = 'ih_';
const TOKEN_BYTES = 32;

/** What the tokens of keys look like, anywhere in a text. */
export const TOKENS = /ih_[A-Za-z0-9_-]{43}/g;

/** A new bearer token: 256 random bits, so that its plain SHA-256 cannot be reversed. */
export function newToken(): string {
  return PREFIX + randomBytes(TOKEN_BYTES).toString('base64url');
}

export function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** The key of this token, found in constant time, so that guesses reveal nothing. */
export function keyOfToken<K extends { hash: Buffer }>(keys: readonly K[], token: string): K | null {
  const hash = hashOf(token);
  let found: K | null = null;
  for (const key of keys) if (timingSafeEqual(key.hash, hash)) found = key;
  return found;
}
