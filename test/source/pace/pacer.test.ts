import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Stopped } from '../../../src/base/exit.js';
import { TooLate } from '../../../src/source/errors.js';
import { type PaceNotice, Pacer, type PacerOptions } from '../../../src/source/pace/pacer.js';
import type { Slot } from '../../../src/source/pace/slot.js';
import { settled, VirtualTime } from './virtual-time.js';

const MINUTE_MS = 60_000;
const UNLIMITED = { requestsPerMinute: Number.POSITIVE_INFINITY };

function given(options: Partial<PacerOptions> = {}, time = new VirtualTime()) {
  const notices: PaceNotice[] = [];
  const pacer = new Pacer({
    requestsPerMinute: 60,
    concurrency: 1000,
    effects: time.effects,
    onNotice: (notice) => notices.push(notice),
    ...options,
  });
  /** Asks for slots, a name before `/` being the lane, and keeps what is granted, in order. */
  const ask = (names: string[]) => {
    const granted: { name: string; at: number; slot: Slot }[] = [];
    for (const name of names) {
      const lane = name.split('/')[0] ?? '';
      void pacer.slot({ lane }).then((slot) => granted.push({ name, at: time.elapsed, slot }));
    }
    return granted;
  };
  return { time, pacer, notices, ask };
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, at) => String(at));
}

it('spaces requests evenly after a small burst, which catches up no more than that after a pause', async () => {
  const { time, ask } = given();
  const granted = ask(numbered(10));
  await time.pass(8000);
  const gaps = granted.slice(1).map(({ at }, before) => Math.round((at - (granted[before]?.at ?? 0)) / 100) / 10);
  expect(gaps).toEqual([0, 0, 1, 1, 1, 1, 1, 1, 1]);
  await time.pass(3_600_000);
  const later = ask(numbered(20));
  await settled();
  expect(later).toHaveLength(3);
});

it('sends no more in a minute than the rate, wherever it begins, however late timers ring', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.double({ min: 0.5, max: 90, noNaN: true }),
      fc.array(fc.tuple(fc.nat(40_000), fc.integer({ min: 1, max: 30 })), { minLength: 1, maxLength: 12 }),
      fc.nat(3000),
      async (requestsPerMinute, bursts, lateMs) => {
        const time = new VirtualTime();
        const sleep = (ms: number, signal?: AbortSignal) => time.effects.sleep(ms + lateMs, signal);
        const { ask } = given({ requestsPerMinute, effects: { ...time.effects, sleep } }, time);
        const all: ReturnType<typeof ask>[] = [];
        for (const [pauseMs, count] of bursts) {
          await time.pass(pauseMs);
          all.push(ask(numbered(count)));
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
  const { time, pacer, ask } = given({ ...UNLIMITED, concurrency: 3 });
  const granted = ask(numbered(5));
  await settled();
  expect(granted.map(({ name }) => name)).toEqual(['0', '1', '2']);
  granted[1]?.slot.answered(null);
  granted[2]?.slot.failed();
  await settled();
  expect(granted.map(({ name }) => name)).toEqual(['0', '1', '2', '3', '4']);
  expect([time.elapsed, pacer.utilisation]).toEqual([0, null]);
});

it('goes on where the clock is set back', async () => {
  const time = new VirtualTime();
  let ahead = 0;
  const { ask } = given({ effects: { ...time.effects, now: () => time.effects.now() + ahead } }, time);
  const granted = ask(numbered(30));
  await time.pass(10_000);
  const before = granted.length;
  ahead = -3_600_000;
  await time.pass(10_000);
  expect(granted.length - before).toBeGreaterThanOrEqual(9);
});

it('lanes take turns', async () => {
  const { ask } = given({ ...UNLIMITED, concurrency: 1 });
  const granted = ask(['a/1', 'a/2', 'a/3', 'b/1']);
  for (let answered = 0; answered < 4; answered++) {
    await settled();
    granted.at(-1)?.slot.answered(null);
  }
  expect(granted.map(({ name }) => name)).toEqual(['a/1', 'a/2', 'b/1', 'a/3']);
});

it('a pause is not lifted by what was already under way', async () => {
  const { time, ask } = given(UNLIMITED);
  const first = ask(['a', 'b']);
  await settled();
  first[0]?.slot.throttled(1000);
  first[1]?.slot.answered(null);
  const later = ask(['c', 'd']);
  await settled();
  expect(later).toEqual([]);
  await time.pass(1000);
  expect(later).toHaveLength(1);
});

it('a refusal ends the bursts, and a slot that is needed before the pause is over is given up at once', async () => {
  const { time, pacer, ask } = given();
  (await pacer.slot({ lane: '' })).throttled(MINUTE_MS);
  const now = time.effects.now();
  await expect(pacer.slot({ lane: '', notAfter: now + MINUTE_MS - 1 })).rejects.toBeInstanceOf(TooLate);
  const patient = pacer.slot({ lane: '', notAfter: now + MINUTE_MS });
  expect(time.elapsed).toBe(0);
  await time.pass(600_000);
  (await patient).answered(null);
  await time.pass(600_000);
  const granted = ask(['a', 'b', 'c']);
  await settled();
  expect(granted).toHaveLength(1);
});

it('a stop ends the waiting, and only that of its own signal', async () => {
  const { time, pacer, ask } = given();
  ask(['a', 'b', 'c']);
  const stop = new AbortController();
  const stopped = expect(pacer.slot({ lane: '', signal: stop.signal })).rejects.toBeInstanceOf(Stopped);
  const others = ask(['d']);
  stop.abort();
  await stopped;
  await time.pass(2000);
  expect(others.map(({ name }) => name)).toEqual(['d']);
  await expect(pacer.slot({ lane: '', signal: stop.signal })).rejects.toBeInstanceOf(Stopped);
});

it('a header that was misread does not stop a run for longer than five minutes', async () => {
  const { time, pacer, notices, ask } = given();
  const slot = await pacer.slot({ lane: '' });
  slot.answered({ limit: null, remaining: 0, resetAt: time.effects.now() + 30_000_000 });
  const later = ask(['c']);
  await time.pass(4 * MINUTE_MS);
  expect(later).toEqual([]);
  expect(notices).toEqual([{ kind: 'spent', waitMs: 5 * MINUTE_MS }]);
  await time.pass(MINUTE_MS);
  expect(later).toHaveLength(1);
});
