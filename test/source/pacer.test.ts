import { describe, expect, it } from 'vitest';
import { realEffects } from '../../src/source/effects.js';
import { Stopped } from '../../src/source/errors.js';
import { Pacer, type Slot } from '../../src/source/pacer.js';
import { pinnedEffects } from '../given/pinned-effects.js';

const START = 1_700_000_000_000;

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

/** A clock that stands still until the test moves it. */
function steppedClock() {
  let now = START;
  let wake: { at: number; resolve: () => void }[] = [];
  return {
    effects: {
      now: () => now,
      random: () => 0,
      sleep: (ms: number, signal?: AbortSignal) =>
        new Promise<void>((resolve, reject) => {
          wake.push({ at: now + ms, resolve });
          signal?.addEventListener('abort', () => reject(new Stopped()));
        }),
    },
    advance: async (ms: number) => {
      now += ms;
      const due = wake.filter(({ at }) => at <= now);
      wake = wake.filter(({ at }) => at > now);
      for (const { resolve } of due) resolve();
      await settle();
    },
    asleep: () => wake.length,
  };
}

/** Asks for slots and keeps what was granted, in order. */
function asking(pacer: Pacer, names: string[]): [string, Slot][] {
  const granted: [string, Slot][] = [];
  for (const name of names) void pacer.slot().then((slot) => granted.push([name, slot]));
  return granted;
}

describe('a pace', () => {
  it('is even, never above the rate, first come first served', async () => {
    const effects = pinnedEffects();
    const pacer = new Pacer(60, effects);
    const at: [string, number][] = [];
    await Promise.all(
      ['a', 'b', 'c', 'd'].map(async (name) => {
        const slot = await pacer.slot();
        at.push([name, effects.now() - START]);
        slot.passed();
      }),
    );
    expect(at.map(([name]) => name)).toEqual(['a', 'b', 'c', 'd']);
    expect(effects.slept).toEqual([1000, 1000, 1000]);
  });

  it('does not save up what a quiet hour left unused', async () => {
    const { effects, advance } = steppedClock();
    const pacer = new Pacer(60, effects);
    await advance(3_600_000);
    const granted = asking(pacer, ['a', 'b', 'c']);
    await settle();
    expect(granted).toHaveLength(1);
    await advance(1000);
    expect(granted).toHaveLength(2);
  });

  it('can be unlimited', async () => {
    const effects = pinnedEffects();
    const pacer = new Pacer(Number.POSITIVE_INFINITY, effects);
    await Promise.all(Array.from({ length: 100 }, () => pacer.slot()));
    expect(effects.slept).toEqual([]);
  });
});

describe('a pause', () => {
  it('holds everyone, then lets one probe, and the rest when that passed', async () => {
    const { effects, advance } = steppedClock();
    const pacer = new Pacer(Number.POSITIVE_INFINITY, effects);
    const first = asking(pacer, ['a', 'b']);
    await settle();
    first[0]?.[1].throttled(5000);
    first[1]?.[1].throttled(3000);
    const later = asking(pacer, ['c', 'd', 'e']);
    await advance(4999);
    expect(later).toEqual([]);
    await advance(1);
    expect(later.map(([name]) => name)).toEqual(['c']);
    await advance(60_000);
    expect(later).toHaveLength(1);
    later[0]?.[1].passed();
    await settle();
    expect(later.map(([name]) => name)).toEqual(['c', 'd', 'e']);
  });

  it('goes on where the probe is throttled again', async () => {
    const { effects, advance } = steppedClock();
    const pacer = new Pacer(Number.POSITIVE_INFINITY, effects);
    const granted = asking(pacer, ['a', 'b']);
    await settle();
    for (const [, slot] of granted) slot.throttled(1000);
    const later = asking(pacer, ['d', 'e']);
    await advance(1000);
    expect(later).toHaveLength(1);
    later[0]?.[1].throttled(2000);
    await advance(1999);
    expect(later).toHaveLength(1);
    await advance(1);
    expect(later).toHaveLength(2);
  });

  it('is not lifted by what was already under way', async () => {
    const { effects, advance } = steppedClock();
    const pacer = new Pacer(Number.POSITIVE_INFINITY, effects);
    const first = asking(pacer, ['a', 'b']);
    await settle();
    first[0]?.[1].throttled(1000);
    first[1]?.[1].passed();
    const later = asking(pacer, ['c', 'd']);
    await settle();
    expect(later).toEqual([]);
    await advance(1000);
    expect(later).toHaveLength(1);
  });
});

describe('a stop', () => {
  it('ends the waiting, and only that of its own signal', async () => {
    const { effects, advance } = steppedClock();
    const pacer = new Pacer(60, effects);
    await pacer.slot();
    const stop = new AbortController();
    const stopped = pacer.slot(stop.signal).then(
      () => 'granted',
      (error: unknown) => error,
    );
    const others = asking(pacer, ['b']);
    stop.abort();
    expect(await stopped).toBeInstanceOf(Stopped);
    await advance(1000);
    expect(others.map(([name]) => name)).toEqual(['b']);
    await expect(pacer.slot(stop.signal)).rejects.toBeInstanceOf(Stopped);
  });

  it('leaves no timer behind that would keep the process alive', async () => {
    const pacer = new Pacer(1, realEffects);
    const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    await pacer.slot();
    const stop = new AbortController();
    const waiting = pacer.slot(stop.signal).catch((error: unknown) => error);
    expect(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length).toBe(before + 1);
    stop.abort();
    await waiting;
    await settle();
    expect(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length).toBe(before);
  });
});
