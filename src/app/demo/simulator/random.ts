const UINT32_RANGE = 2 ** 32;

/**
 * A hash of up to four integers as an unsigned 32-bit integer (murmur3). There is no state to advance: the number for
 * a page and a night is the same whatever was asked for before, which is what makes a world reproducible.
 */
export function hash(seed: number, a: number, b = 0, c = 0): number {
  let h = mix(mix(mix(seed | 0, a), b), c);
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** A number from 0 to 1, 1 excluded. */
export function unit(seed: number, a: number, b = 0, c = 0): number {
  return hash(seed, a, b, c) / UINT32_RANGE;
}

/** A hash of a text. */
export function hashText(seed: number, text: string): number {
  let h = seed | 0;
  for (let i = 0; i < text.length; i++) h = mix(h, text.charCodeAt(i));
  return hash(h, text.length);
}

function mix(h: number, value: number): number {
  let k = Math.imul(value | 0, 0xcc9e2d51);
  k = (k << 15) | (k >>> 17);
  const mixed = h ^ Math.imul(k, 0x1b873593);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}
