import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atLength, once } from '../../given/at-length.js';
import { PacedKey, type PacedKeyOptions } from './paced-key.js';
import { LIMITER_KINDS, type LimiterKind, RATE_HEADERS } from './simulated-limiter.js';

const MINUTE_MS = 60_000;

async function asked(options: PacedKeyOptions, minutes: number): Promise<PacedKey> {
  const key = new PacedKey(options);
  key.askAllTheTime();
  await key.time.pass(minutes * MINUTE_MS);
  return key;
}

function refusedShare({ ours: { answered, refused } }: PacedKey): number {
  return refused / (answered + refused);
}

function learned({ notices }: PacedKey): number[] {
  return notices.flatMap((notice) => (notice.kind === 'learned_pace' ? [notice.perMinute] : []));
}

it('every limiter is used to the full without a 429, whatever the rate, the latency and the clock', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        kind: fc.constantFrom(...LIMITER_KINDS),
        headers: fc.constantFrom(...RATE_HEADERS),
        limit: fc.constantFrom(30, 60, 100, 600),
        concurrency: fc.constantFrom(16, 50),
        leastMs: fc.integer({ min: 0, max: 300 }),
        jitterMs: fc.integer({ min: 0, max: 250 }),
        lateMs: fc.integer({ min: 0, max: 50 }),
        skewMs: fc.oneof(fc.constant(0), fc.integer({ min: -100_000, max: 100_000 })),
        seed: fc.nat(1_000_000),
      }),
      async ({ leastMs, jitterMs, ...options }) => {
        const key = await asked({ ...options, travelMs: [leastMs, leastMs + jitterMs] }, 3);
        expect(key.ours.refused).toBe(0);
        expect(key.utilisation).toBeGreaterThan(0.98);
      },
    ),
    { numRuns: atLength(4, 60) },
  );
});

it.each(atLength<LimiterKind[]>(['sliding'], [...LIMITER_KINDS]))(
  'an unlimited client learns a hidden limit: %s',
  async (kind) => {
    const limiter = { limit: 60, windowMs: 1000, kind, headers: 'off' as const };
    const key = await asked({ ...limiter, configured: Number.POSITIVE_INFINITY, concurrency: 50 }, 3);
    expect(refusedShare(key)).toBeLessThan(0.02);
    expect(key.utilisation).toBeGreaterThan(0.85);
    const reported = learned(key);
    expect(reported.length).toBeGreaterThan(0);
    expect(reported.length).toBeLessThanOrEqual(2);
    expect((reported.at(-1) ?? 0) / 3600).toBeGreaterThan(0.8);
    expect((reported.at(-1) ?? 0) / 3600).toBeLessThan(1.2);
  },
);

describe('a limit that was momentary', () => {
  const unlimited = { configured: Number.POSITIVE_INFINITY, low: 60, high: 1200, minutes: 20 };
  const configured = { configured: 600, low: 60, high: 600, minutes: 15 };
  it.each(atLength([configured], [configured, unlimited]))(
    'is left behind: $low, then $high a minute',
    async (given) => {
      const { low, high, minutes } = given;
      const key = new PacedKey({
        limit: low,
        configured: given.configured,
        headers: 'off',
        kind: 'sliding',
        concurrency: 16,
      });
      key.askAllTheTime();
      await key.time.pass(10 * MINUTE_MS);
      key.allow(high);
      await key.time.pass(minutes * MINUTE_MS);
      const before = { ...key.ours };
      await key.time.pass(10 * MINUTE_MS);
      expect(key.ours.answered - before.answered).toBeGreaterThan(0.85 * high * 10);
      expect(key.ours.refused / key.ours.answered).toBeLessThan(0.02);
    },
  );
});

/** A service that refuses each so many-th request, whatever the pace. */
function refusing(each: number, options: Partial<PacedKeyOptions>): PacedKey {
  const key = new PacedKey({ limit: 1, ...options });
  let requests = 0;
  const refused = { allowed: false, headers: { 'retry-after': '1' } };
  key.limiter = { take: () => (++requests % each === 0 ? refused : { allowed: true, headers: {} }) };
  key.askAllTheTime();
  return key;
}

once('a service that refuses at random is not slowed down for ever: no pace would spare that', async () => {
  const key = refusing(25, { configured: 600 });
  const minutes = 10;
  await key.time.pass(minutes * MINUTE_MS);
  expect(key.ours.answered / minutes).toBeGreaterThan(150);
});

once('a 429 among requests that are answered does not slow a client without a configured rate', async () => {
  const key = refusing(40, { configured: Number.POSITIVE_INFINITY, concurrency: 8 });
  await key.time.pass(MINUTE_MS);
  // A pause of a second for each forty, and next to nothing besides.
  expect(key.ours.answered).toBeGreaterThan(30 * 60);
  expect(learned(key)).toEqual([]);
});
