import { setTimeout as delay } from 'node:timers/promises';
import { Stopped } from './exit.js';

/** Clock, timers and randomness, passed in so that tests can control them. */
export interface Effects {
  /** Milliseconds since 1970. */
  now(): number;
  /** Waits; rejects with `Stopped` when the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** 0 ≤ x < 1. */
  random(): number;
}

export const realEffects: Effects = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    try {
      await delay(ms, undefined, signal ? { signal } : {});
    } catch (error) {
      if (signal?.aborted) throw new Stopped();
      throw error;
    }
  },
  random: () => Math.random(),
};
