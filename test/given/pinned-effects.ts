import { Stopped } from '../../src/exit.js';
import type { Effects } from '../../src/source/effects.js';

export interface PinnedEffects extends Effects {
  /** Every wait that was asked for, in milliseconds. */
  slept: number[];
}

/** A clock that only sleeping moves, and moves at once; chance is always the same. */
export function pinnedEffects(start = 1_700_000_000_000, random = 0): PinnedEffects {
  let now = start;
  const slept: number[] = [];
  return {
    slept,
    now: () => now,
    random: () => random,
    sleep: async (ms, signal) => {
      if (signal?.aborted) throw new Stopped();
      slept.push(ms);
      now += ms;
    },
  };
}
