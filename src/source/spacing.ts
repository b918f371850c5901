import { MINUTE_MS } from '../time.js';

/**
 * Requests do not all travel equally fast, and the service counts when they arrive: a minute is counted as this much
 * longer, and any other time in proportion. It costs half a percent.
 */
const MARGIN = 300 / MINUTE_MS;
/** A quiet spell is caught up with as many requests as this share of a minute's. */
const BURST_SHARE = 1 / 20;
/** What is caught up where bursts are not liked: how late a timer may ring. */
const CALM_BURST_MS = 50;

/** Times that are kept. */
const MAX_KEPT = 100_000;

/** When the requests of a key were sent, counted from 1. Times are milliseconds that never go back. */
export class SentLog {
  #times: number[] = [];
  #dropped = 0;

  get count(): number {
    return this.#dropped + this.#times.length;
  }

  add(now: number): void {
    this.#times.push(now);
    if (this.#times.length < 2 * MAX_KEPT) return;
    this.#times = this.#times.slice(MAX_KEPT);
    this.#dropped += MAX_KEPT;
  }

  /** When this request was sent; long ago where that is not known any more, or it is none. */
  at(sequence: number): number {
    return this.#times[sequence - 1 - this.#dropped] ?? Number.NEGATIVE_INFINITY;
  }

  /** Requests that were sent after this moment; Infinity where so long ago is not known any more. */
  countSince(moment: number): number {
    if (this.#dropped > 0 && moment < this.at(this.#dropped + 1)) return Number.POSITIVE_INFINITY;
    let [low, high] = [0, this.#times.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#times[middle] ?? 0) > moment) high = middle;
      else low = middle + 1;
    }
    return this.#times.length - low;
  }
}

/** No more than so many requests in any such time. */
export interface Pace {
  requests: number;
  perMs: number;
}

/** @param requestsPerMinute more than 0; Infinity for no limit */
export function minutePace(requestsPerMinute: number): Pace {
  // A part of a request in a minute is one request in more than a minute.
  const minutes = Math.max(1, 1 / requestsPerMinute);
  return { requests: requestsPerMinute * minutes, perMs: MINUTE_MS * minutes };
}

/** A time as our clock must count it, so that the service does not count less. */
export function withMargin(ms: number): number {
  return ms * (1 + MARGIN);
}

export function slower(one: Pace, other: Pace): Pace {
  return intervalOf(one) >= intervalOf(other) ? one : other;
}

function intervalOf({ requests, perMs }: Pace): number {
  return requests === Number.POSITIVE_INFINITY ? 0 : withMargin(perMs) / requests;
}

/**
 * Even spacing with a small burst: what a late timer or a pause for work left unused is caught up, and still no minute
 * holds more requests than the pace, wherever it begins. Times are milliseconds that never go back.
 */
export class Spacing {
  #pace: Pace;
  #isCalm = false;
  /** When the last request was due if none had come early. */
  #evenAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly configured: Pace,
    private readonly sent: SentLog,
  ) {
    this.#pace = configured;
  }

  /** When the next request may be sent. */
  get dueAt(): number {
    return this.dueAtPace(this.#pace);
  }

  /** When it may be sent at this pace, or at the configured one where that is slower. */
  dueAtPace(wanted: Pace): number {
    const pace = slower(this.configured, wanted);
    const intervalMs = intervalOf(pace);
    if (intervalMs === 0) return Number.NEGATIVE_INFINITY;
    const evenAt = this.#evenAt + intervalMs - this.#burstMs(intervalMs);
    return Math.max(evenAt, this.#roomAt(this.configured), this.#roomAt(pace));
  }

  sentOne(now: number): void {
    this.sent.add(now);
    this.#evenAt = Math.max(now, this.#evenAt + intervalOf(this.#pace));
  }

  /** From now on no faster than this, and never faster than configured. */
  slowTo(pace: Pace): void {
    this.#pace = slower(this.configured, pace);
  }

  /** From now on no more is caught up than a late timer: the service has refused a request. */
  calm(): void {
    this.#isCalm = true;
  }

  #burstMs(intervalMs: number): number {
    const burst = Math.max(1, withMargin(MINUTE_MS * BURST_SHARE) / intervalMs);
    const burstMs = (burst - 1) * intervalMs;
    return this.#isCalm ? Math.min(burstMs, CALM_BURST_MS) : burstMs;
  }

  /** When as many requests as the pace allows are long enough ago but one. */
  #roomAt({ requests, perMs }: Pace): number {
    if (requests === Number.POSITIVE_INFINITY) return Number.NEGATIVE_INFINITY;
    const most = Math.max(1, Math.floor(requests));
    return this.sent.at(this.sent.count - most + 1) + (withMargin(perMs) / requests) * most;
  }
}
