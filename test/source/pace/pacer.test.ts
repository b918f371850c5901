import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Stopped } from '../../../src/base/exit.js';
import { TooLate } from '../../../src/source/errors.js';
import { type PaceNotice, Pacer, type PacerOptions } from '../../../src/source/pace/pacer.js';
import type { Slot } from '../../../src/source/pace/slot.js';
import { PacedKey } from './paced-key.js';
import { settled, VirtualTime } from './virtual-time.js';

const MINUTE_MS = 60_000;

function given(options: Partial<PacerOptions> = {}) {
  const time = new VirtualTime();
  const notices: PaceNotice[] = [];
  const pacer = new Pacer({
    requestsPerMinute: 60,
    concurrency: 1000,
    effects: time.effects,
    onNotice: (notice) => notices.push(notice),
    ...options,
  });
  return { time, pacer, notices };
}

interface Granted {
  name: string;
  at: number;
  slot: Slot;
}

/** Asks for slots, a name before `/` being the lane, and keeps what is granted, in order. */
function asking(time: VirtualTime, pacer: Pacer, names: string[]): Granted[] {
  const granted: Granted[] = [];
  for (const name of names) {
    const lane = name.split('/')[0] ?? '';
    void pacer.slot({ lane }).then((slot) => granted.push({ name, at: time.elapsed, slot }));
  }
  return granted;
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, at) => String(at));
}

describe('a pace', () => {
  it('is even after a small burst', async () => {
    const { time, pacer } = given();
    const granted = asking(time, pacer, numbered(10));
    await time.pass(8000);
    const gaps = granted.slice(1).map(({ at }, before) => Math.round((at - (granted[before]?.at ?? 0)) / 100) / 10);
    expect(gaps).toEqual([0, 0, 1, 1, 1, 1, 1, 1, 1]);
  });

  it('catches up what a pause left unused, but no more than the burst', async () => {
    const { time, pacer } = given();
    asking(time, pacer, numbered(5));
    await time.pass(3_600_000);
    const granted = asking(time, pacer, numbered(20));
    await settled();
    expect(granted).toHaveLength(3);
  });

  it('has no minute above the rate, wherever it begins, however late timers ring', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.double({ min: 0.5, max: 90, noNaN: true }),
        fc.array(fc.tuple(fc.nat(40_000), fc.integer({ min: 1, max: 30 })), { minLength: 1, maxLength: 12 }),
        fc.nat(3000),
        async (requestsPerMinute, bursts, lateMs) => {
          const time = new VirtualTime();
          const effects = {
            ...time.effects,
            sleep: (ms: number, signal?: AbortSignal) => time.effects.sleep(ms + lateMs, signal),
          };
          const pacer = new Pacer({ requestsPerMinute, concurrency: 1000, effects });
          const all: Granted[][] = [];
          for (const [pauseMs, count] of bursts) {
            await time.pass(pauseMs);
            all.push(asking(time, pacer, numbered(count)));
          }
          await time.pass(20 * MINUTE_MS);
          const at = all.flatMap((granted) => granted.map((one) => one.at)).sort((a, b) => a - b);
          const most = Math.max(1, Math.floor(requestsPerMinute));
          const span = (most / requestsPerMinute) * MINUTE_MS;
          const tooMany = at.filter((first, index) => (at[index + most] ?? Number.POSITIVE_INFINITY) < first + span);
          expect(tooMany).toEqual([]);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('can be unlimited; then only the concurrency bounds it', async () => {
    const { time, pacer } = given({ requestsPerMinute: Number.POSITIVE_INFINITY, concurrency: 3 });
    const granted = asking(time, pacer, numbered(5));
    await settled();
    expect(granted.map(({ name }) => name)).toEqual(['0', '1', '2']);
    granted[1]?.slot.answered(null);
    granted[2]?.slot.failed();
    await settled();
    expect(granted.map(({ name }) => name)).toEqual(['0', '1', '2', '3', '4']);
    expect([time.elapsed, pacer.utilisation]).toEqual([0, null]);
  });

  it('goes on where the clock is set back', async () => {
    const { time, pacer } = given();
    const granted = asking(time, pacer, numbered(30));
    await time.pass(10_000);
    const before = granted.length;
    time.clockAhead = -3_600_000;
    await time.pass(10_000);
    expect(granted.length - before).toBeGreaterThanOrEqual(9);
  });
});

describe('a pause', () => {
  const UNLIMITED = { requestsPerMinute: Number.POSITIVE_INFINITY };

  it('is not lifted by what was already under way', async () => {
    const { time, pacer } = given(UNLIMITED);
    const first = asking(time, pacer, ['a', 'b']);
    await settled();
    first[0]?.slot.throttled(1000);
    first[1]?.slot.answered(null);
    const later = asking(time, pacer, ['c', 'd']);
    await settled();
    expect(later).toEqual([]);
    await time.pass(1000);
    expect(later).toHaveLength(1);
  });

  it('ends the bursts of a service that does not like them', async () => {
    const { time, pacer } = given();
    const [first] = await Promise.all([pacer.slot({ lane: '' })]);
    first.throttled(1000);
    await time.pass(600_000);
    (await pacer.slot({ lane: '' })).answered(null);
    await time.pass(600_000);
    const granted = asking(time, pacer, ['a', 'b', 'c']);
    await settled();
    expect(granted).toHaveLength(1);
  });
});

describe('a request that is of no use after a moment', () => {
  it('is given up as soon as it is clear that its slot comes later', async () => {
    const { time, pacer } = given({ requestsPerMinute: Number.POSITIVE_INFINITY });
    const [first] = await Promise.all([pacer.slot({ lane: '' })]);
    first.throttled(3_600_000);
    const now = time.effects.now();
    const patient = pacer.slot({ lane: '', notAfter: now + 4_000_000 });
    await expect(pacer.slot({ lane: '', notAfter: now + 600_000 })).rejects.toBeInstanceOf(TooLate);
    expect(time.elapsed).toBe(0);
    await time.pass(3_600_000);
    (await patient).answered(null);
  });
});

describe('a stop', () => {
  it('ends the waiting, and only that of its own signal', async () => {
    const { time, pacer } = given();
    asking(time, pacer, ['a', 'b', 'c']);
    const stop = new AbortController();
    const stopped = pacer.slot({ lane: '', signal: stop.signal }).then(
      () => 'granted',
      (error: unknown) => error,
    );
    const others = asking(time, pacer, ['d']);
    stop.abort();
    expect(await stopped).toBeInstanceOf(Stopped);
    await time.pass(2000);
    expect(others.map(({ name }) => name)).toEqual(['d']);
    await expect(pacer.slot({ lane: '', signal: stop.signal })).rejects.toBeInstanceOf(Stopped);
  });
});

it('a key that is shared with somebody else is reported once', async () => {
  const key = new PacedKey({ limit: 60 });
  key.askAllTheTime();
  key.shareWithOthers(18);
  await key.time.pass(5 * MINUTE_MS);
  const shared = key.notices.flatMap((notice) => (notice.kind === 'shared_key' ? [notice.othersPerMinute] : []));
  expect(shared).toEqual([expect.closeTo(18, -1)]);
});

it('a header that was misread does not stop a run for longer than five minutes', async () => {
  const { time, pacer, notices } = given();
  const slot = await pacer.slot({ lane: '' });
  const resetAt = time.effects.now() + 30_000_000;
  slot.answered({ limit: null, remaining: 0, resetAt });
  const later = asking(time, pacer, ['c']);
  await time.pass(4 * MINUTE_MS);
  expect(later).toEqual([]);
  expect(notices).toEqual([{ kind: 'spent', waitMs: 5 * MINUTE_MS }]);
  await time.pass(MINUTE_MS);
  expect(later).toHaveLength(1);
});
