import { Stopped } from '../../../src/base/exit.js';
import type { Effects } from '../../../src/base/time.js';

const START_MS = 1_700_000_000_000;

interface Timer {
  at: number;
  ring: () => void;
}

/**
 * Time that passes only while nothing else is to be done: hours of waiting take no time, and everything happens in the
 * order of its moment.
 */
export class VirtualTime {
  #now = START_MS;
  #timers: Timer[] = [];

  readonly effects: Effects = {
    now: () => this.#now,
    random: () => 0.5,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const stop = () => {
          this.#timers = this.#timers.filter((one) => one !== timer);
          reject(new Stopped());
        };
        const ring = () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        };
        const timer = { at: this.#now + Math.max(0, ms), ring };
        this.#timers.push(timer);
        signal?.addEventListener('abort', stop);
      }),
  };

  /** Milliseconds since the beginning. */
  get elapsed(): number {
    return this.#now - START_MS;
  }

  /** Lets this much time pass. */
  async pass(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      await settled();
      const next = this.#timers.reduce<Timer | null>((first, one) => (first && first.at <= one.at ? first : one), null);
      if (next === null || next.at > until) break;
      this.#timers.splice(this.#timers.indexOf(next), 1);
      this.#now = Math.max(this.#now, next.at);
      next.ring();
    }
    this.#now = until;
  }
}

/** Lets everything run that waits for nothing but its turn. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}
