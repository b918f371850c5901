import fc from 'fast-check';
import { expect, it } from 'vitest';
import { seeds } from '../../given/seeds.js';
import { PacedKey, type PacedKeyOptions } from './paced-key.js';
import { LIMITER_KINDS, RATE_HEADERS } from './simulated-limiter.js';

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
        const key = await new PacedKey({ ...options, travelMs: [leastMs, leastMs + jitterMs] }).askFor(3);
        expect(key.ours.refused).toBe(0);
        expect(key.utilisation).toBeGreaterThan(0.98);
      },
    ),
    { numRuns: seeds(4).length },
  );
});

it('a key that is shared with somebody else is reported once', async () => {
  const key = new PacedKey({ limit: 60 });
  key.shareWithOthers(18);
  const { notices } = await key.askFor(5);
  const shared = notices.flatMap((notice) => (notice.kind === 'shared_key' ? [notice.othersPerMinute] : []));
  expect(shared).toEqual([expect.closeTo(18, -1)]);
});

it('an unlimited client learns a hidden limit', async () => {
  const limiter = { limit: 60, windowMs: 1000, kind: 'sliding', headers: 'off' } as const;
  const options = { ...limiter, configured: Number.POSITIVE_INFINITY, concurrency: 50 };
  const { ours, utilisation, learned } = await new PacedKey(options).askFor(3);
  expect(ours.refused / ours.answered).toBeLessThan(0.02);
  expect(utilisation).toBeGreaterThan(0.85);
  expect([1, 2]).toContain(learned.length);
  expect(Math.abs((learned.at(-1) ?? 0) / 3600 - 1)).toBeLessThan(0.2);
});

it('a limit that was momentary is left behind', async () => {
  const options = { limit: 60, configured: 600, headers: 'off', kind: 'sliding', concurrency: 16 } as const;
  const key = await new PacedKey(options).askFor(10);
  key.allow(600);
  await key.time.pass(15 * 60_000);
  const before = key.ours.answered;
  await key.time.pass(10 * 60_000);
  expect(key.ours.answered - before).toBeGreaterThan(0.85 * 600 * 10);
  expect(key.ours.refused / key.ours.answered).toBeLessThan(0.02);
});

const REFUSING: [each: number, Partial<PacedKeyOptions>, least: number][] = [
  // No pace would spare what is refused at random.
  [25, { configured: 600 }, 150],
  // A pause of a second for each forty, and next to nothing besides.
  [40, { configured: Number.POSITIVE_INFINITY }, 1800],
];
it.each(REFUSING)(
  'a service that refuses one of %i requests, whatever the pace, is not slowed down for ever: %j',
  async (each, options, least) => {
    const key = new PacedKey({ limit: 1, ...options });
    let requests = 0;
    const refused = { allowed: false, headers: { 'retry-after': '1' } };
    key.limiter = { take: () => (++requests % each === 0 ? refused : { allowed: true, headers: {} }) };
    await key.askFor(10);
    expect(key.ours.answered / 10).toBeGreaterThan(least);
    if (options.configured === Number.POSITIVE_INFINITY) expect(key.learned).toEqual([]);
  },
);
