import fc from 'fast-check';
import { expect, it } from 'vitest';
import { seeds } from '../../given/at-length.js';
import { PacedKey, type PacedKeyOptions } from './paced-key.js';
import { LIMITER_KINDS, RATE_HEADERS } from './simulated-limiter.js';

const MINUTE_MS = 60_000;

async function asked(options: PacedKeyOptions, minutes: number): Promise<PacedKey> {
  const key = new PacedKey(options);
  key.askAllTheTime();
  await key.time.pass(minutes * MINUTE_MS);
  return key;
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
    { numRuns: 4 * seeds(1).length },
  );
});

it('an unlimited client learns a hidden limit', async () => {
  const limiter = { limit: 60, windowMs: 1000, kind: 'sliding', headers: 'off' } as const;
  const key = await asked({ ...limiter, configured: Number.POSITIVE_INFINITY, concurrency: 50 }, 3);
  expect(key.ours.refused / key.ours.answered).toBeLessThan(0.02);
  expect(key.utilisation).toBeGreaterThan(0.85);
  const reported = learned(key);
  expect([1, 2]).toContain(reported.length);
  expect(Math.abs((reported.at(-1) ?? 0) / 3600 - 1)).toBeLessThan(0.2);
});

it('a limit that was momentary is left behind', async () => {
  const options = { limit: 60, configured: 600, headers: 'off', kind: 'sliding', concurrency: 16 } as const;
  const key = await asked(options, 10);
  key.allow(600);
  await key.time.pass(15 * MINUTE_MS);
  const before = { ...key.ours };
  await key.time.pass(10 * MINUTE_MS);
  expect(key.ours.answered - before.answered).toBeGreaterThan(0.85 * 600 * 10);
  expect(key.ours.refused / key.ours.answered).toBeLessThan(0.02);
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

it('a service that refuses at random is not slowed down for ever: no pace would spare that', async () => {
  const key = refusing(25, { configured: 600 });
  const minutes = 10;
  await key.time.pass(minutes * MINUTE_MS);
  expect(key.ours.answered / minutes).toBeGreaterThan(150);
});

it('a 429 among requests that are answered does not slow a client without a configured rate', async () => {
  const key = refusing(40, { configured: Number.POSITIVE_INFINITY, concurrency: 8 });
  await key.time.pass(MINUTE_MS);
  // A pause of a second for each forty, and next to nothing besides.
  expect(key.ours.answered).toBeGreaterThan(30 * 60);
  expect(learned(key)).toEqual([]);
});
