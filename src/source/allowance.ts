import type { RateReading } from './rate-headers.js';

/** No longer than this is waited because of a header alone: a unit that was misread must not stop a run. */
const MAX_WAIT_MS = 5 * 60_000;
/** A reset that is this much later belongs to the next window. */
const SAME_WINDOW_MS = 1500;
/** The use by others is smoothed over this long, so that one answer out of order does not look like a stranger. */
const SMOOTHING_MS = 10_000;
/** Others are told of after this long, when they took this many requests, and this share of ours. */
const CERTAIN_AFTER_MS = 10_000;
const CERTAIN_REQUESTS = 3;
const CERTAIN_SHARE = 0.02;

interface Observed {
  remaining: number;
  /** How many requests were sent when the one that was answered was. */
  sequence: number;
  at: number;
}

/** Requests that others took of the allowance, as far as the answers of one window tell. */
interface Others {
  since: number;
  until: number;
  answers: number;
  /** What was taken beside ours, counted from anywhere: at the window's beginning, and now. */
  takenFirst: number;
  taken: number;
}

/**
 * What the service says is left of a key's allowance, and so how slow to go: what is left is spread over the time until
 * the reset, less what others who use the same key are going to take of it.
 */
export class Allowance {
  #resetAt = Number.NEGATIVE_INFINITY;
  #resetStep = 0;
  #last: Observed | null = null;
  #others: Others | null = null;
  /** Requests a millisecond that others took in earlier windows. */
  #othersBefore = 0;
  /** Whether the configured pace was too fast for this window. */
  #slowed = false;

  /** @param intervalMs between two requests at the configured pace */
  constructor(private readonly intervalMs: number) {}

  /**
   * @param sequence of the request that was answered, counted from 1 as they were sent
   * @param underWay requests at that time, this one included: so many answers may come out of order
   */
  observe({ remaining, resetAt, resetStep }: RateReading, sequence: number, underWay: number, now: number): void {
    if (resetAt < this.#resetAt - SAME_WINDOW_MS) return;
    if (resetAt > this.#resetAt + SAME_WINDOW_MS || now >= this.#resetAt) {
      this.#othersBefore = this.#othersAt(this.#resetAt);
      this.#others = null;
      this.#last = null;
      this.#slowed = false;
      this.#resetAt = resetAt;
    }
    if (this.#last === null || sequence > this.#last.sequence) {
      this.#last = { remaining, sequence, at: now };
      this.#resetAt = Math.max(this.#resetAt, resetAt);
    }
    this.#resetStep = resetStep;
    this.#others = withAnswer(this.#others, -(remaining + sequence), underWay, now);
  }

  /**
   * When the next request may be sent.
   *
   * @param sent requests so far, the last of them at `sentAt`
   */
  dueAt(now: number, sent: number, sentAt: number): number {
    if (this.#last === null || now >= this.#resetAt) return Number.NEGATIVE_INFINITY;
    const left = this.#last.remaining - (sent - this.#last.sequence);
    if (left <= 0) return Math.min(this.#safeResetAt, this.#last.at + MAX_WAIT_MS);
    const others = Math.min(left / 2, this.#othersAt(now) * (this.#resetAt - now));
    const toGo = Math.max(0, this.#resetAt - this.#resetStep - now);
    const intervalMs = toGo / (left - others);
    // The configured pace is slow enough, and makes up for late timers.
    if (intervalMs <= this.intervalMs) return Number.NEGATIVE_INFINITY;
    this.#slowed = true;
    return sentAt + Math.min(MAX_WAIT_MS, intervalMs);
  }

  /** Requests a minute that others take of the key; null while nobody is known to. */
  get othersPerMinute(): number | null {
    if (!this.#others) return null;
    const { since, until, answers } = this.#others;
    const taken = takenIn(this.#others);
    if (until - since < CERTAIN_AFTER_MS || taken < CERTAIN_REQUESTS + CERTAIN_SHARE * answers) return null;
    return Math.round((taken / (until - since)) * 60_000);
  }

  /** At the configured pace alone the limit is not reached before the reset, so the last second need not be waited for. */
  get #safeResetAt(): number {
    return this.#slowed ? this.#resetAt : this.#resetAt - this.#resetStep;
  }

  #othersAt(now: number): number {
    if (!this.#others) return this.#othersBefore;
    const elapsed = Math.max(0, now - this.#others.since);
    return (this.#othersBefore * SMOOTHING_MS + takenIn(this.#others)) / (SMOOTHING_MS + elapsed);
  }
}

/** Answers that come out of order look like requests of others, first more and then fewer: their mean does not. */
function withAnswer(others: Others | null, taken: number, underWay: number, now: number): Others {
  if (!others) return { since: now, until: now, answers: 1, takenFirst: taken, taken };
  const answers = others.answers + 1;
  const isFirst = answers <= underWay;
  const mean = others.taken + (taken - others.taken) / (isFirst ? answers : Math.max(1, underWay));
  return { since: others.since, until: now, answers, takenFirst: isFirst ? mean : others.takenFirst, taken: mean };
}

function takenIn({ takenFirst, taken }: Others): number {
  return Math.max(0, taken - takenFirst);
}
