import type { RateReading } from './rate-headers.js';

/** The right to send one request. Its holder must report how the request ended, because others wait for the place. */
export interface Slot {
  /** Of the request, counted from 1. */
  readonly sequence: number;
  /** Whether the others wait for its answer, because the key was refused before. */
  readonly isProbe: boolean;
  /** The key answered something other than 429. */
  answered(reading: RateReading | null): void;
  /** The service refused the request, and asks to wait. */
  throttled(waitMs: number): void;
  /** No answer came, or one that says nothing about the pace, or nothing was sent. A probe's turn then goes to another. */
  failed(): void;
}

export interface SlotRequest {
  /** Requests of different lanes take turns, so that a huge website does not starve a small one. */
  lane: string;
  signal?: AbortSignal | undefined;
  /** Milliseconds since 1970: a later slot is of no use. */
  notAfter?: number | undefined;
}

/** A request that waits for a slot. */
export interface Waiter {
  notAfter: number;
  grant(slot: Slot): void;
  refuse(error: Error): void;
}

/** The waiting requests by lane; the lane whose turn it is comes first, and no lane is empty. */
export class Lanes {
  readonly #lanes = new Map<string, Waiter[]>();

  get isEmpty(): boolean {
    return this.#lanes.size === 0;
  }

  add(lane: string, waiter: Waiter): void {
    const waiting = this.#lanes.get(lane);
    if (waiting) waiting.push(waiter);
    else this.#lanes.set(lane, [waiter]);
  }

  /** Removes and returns the first waiter of the lane whose turn it is; the lane goes to the end. */
  next(): Waiter | undefined {
    const [next] = this.#lanes;
    if (!next) return undefined;
    const [lane, waiting] = next;
    const waiter = waiting.shift();
    this.#lanes.delete(lane);
    if (waiting.length > 0) this.#lanes.set(lane, waiting);
    return waiter;
  }

  /** Removes and returns the waiters for which `isMeant` holds. */
  take(isMeant: (waiter: Waiter) => boolean): Waiter[] {
    const taken: Waiter[] = [];
    for (const [lane, waiting] of this.#lanes) {
      if (!waiting.some(isMeant)) continue;
      taken.push(...waiting.filter(isMeant));
      const left = waiting.filter((waiter) => !isMeant(waiter));
      if (left.length > 0) this.#lanes.set(lane, left);
      else this.#lanes.delete(lane);
    }
    return taken;
  }
}
