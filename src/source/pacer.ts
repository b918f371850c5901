import { type Effects, realEffects } from './effects.js';
import { Stopped } from './errors.js';

const MINUTE_MS = 60_000;

/** The right to send one request. Whoever holds it says how the request ended, so that a pause can be lifted. */
export interface Slot {
  /** The key answered something other than 429, or the request never reached it. */
  passed(): void;
  /** The key was told to wait. */
  throttled(waitMs: number): void;
}

interface Waiter {
  grant(slot: Slot): void;
  refuse(error: Error): void;
}

/**
 * Paces the requests of one API key, whatever website they are for: evenly spaced, never above the configured rate,
 * first come first served. A 429 stops the whole key for as long as the service asks; then **one** request probes and
 * the others wait for its answer, because all at once would only be throttled together again.
 */
export class Pacer {
  readonly #intervalMs: number;
  readonly #effects: Effects;
  readonly #waiting: Waiter[] = [];
  #nextAt = 0;
  #pausedUntil = 0;
  #mustProbe = false;
  #probe: symbol | null = null;
  #sleeping = false;
  /** Ends the sleep when nobody waits any more: a pause of an hour must not keep the process alive. */
  #alarm = new AbortController();

  /** @param requestsPerMinute more than 0; Infinity for no limit. */
  constructor(requestsPerMinute: number, effects: Effects = realEffects) {
    this.#intervalMs = MINUTE_MS / requestsPerMinute;
    this.#effects = effects;
  }

  /** Waits for the next slot. Rejects with `Stopped` when the signal fires first. */
  slot(signal?: AbortSignal): Promise<Slot> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(new Stopped());
      const stop = () => {
        const at = this.#waiting.indexOf(waiter);
        if (at >= 0) this.#waiting.splice(at, 1);
        if (this.#waiting.length === 0) this.close();
        reject(new Stopped());
      };
      const waiter: Waiter = {
        grant: (slot) => {
          signal?.removeEventListener('abort', stop);
          resolve(slot);
        },
        refuse: reject,
      };
      signal?.addEventListener('abort', stop, { once: true });
      this.#waiting.push(waiter);
      this.#grantWhatIsDue();
    });
  }

  /** Stops waiting for whatever it waits for. */
  close(): void {
    this.#alarm.abort();
    this.#alarm = new AbortController();
  }

  #grantWhatIsDue(): void {
    while (this.#waiting.length > 0 && !this.#sleeping && this.#probe === null) {
      const waitMs = Math.max(this.#nextAt, this.#pausedUntil) - this.#effects.now();
      if (waitMs > 0) {
        this.#wakeIn(waitMs);
        return;
      }
      this.#nextAt = Math.max(this.#effects.now(), this.#nextAt) + this.#intervalMs;
      this.#waiting.shift()?.grant(this.#newSlot());
    }
  }

  #wakeIn(ms: number): void {
    this.#sleeping = true;
    const { signal } = this.#alarm;
    this.#effects.sleep(ms, signal).then(
      () => {
        this.#sleeping = false;
        this.#grantWhatIsDue();
      },
      (error) => {
        this.#sleeping = false;
        if (signal.aborted) return this.#grantWhatIsDue();
        for (const waiter of this.#waiting.splice(0)) waiter.refuse(error);
      },
    );
  }

  #newSlot(): Slot {
    const id = Symbol('slot');
    if (this.#mustProbe) this.#probe = id;
    return {
      passed: () => this.#ended(id, false),
      throttled: (waitMs) => {
        this.#pausedUntil = Math.max(this.#pausedUntil, this.#effects.now() + waitMs);
        this.#ended(id, true);
      },
    };
  }

  #ended(id: symbol, throttled: boolean): void {
    if (throttled) this.#mustProbe = true;
    if (this.#probe === id) {
      this.#probe = null;
      if (!throttled) this.#mustProbe = false;
    }
    this.#grantWhatIsDue();
  }
}
