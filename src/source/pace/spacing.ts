import { MINUTE_MS } from '../../base/time.js';

/**
 * Requests travel at different speeds, and the service counts them on arrival. So a minute is counted as this much
 * longer, and any other period in proportion. It costs half a percent.
 */
const MARGIN = 300 / MINUTE_MS;
/** After a quiet spell, up to this share of a minute's requests is caught up at once. */
const BURST_SHARE = 1 / 20;
/** What is still caught up once a request was refused: the delay of a late timer. */
const LIMITED_BURST_MS = 50;

/** At least this many times are kept, and at most twice as many. */
const MAX_KEPT = 100_000;

/** When the requests of a key were sent, numbered from 1. Times are milliseconds that never go back. */
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

  /** When this request was sent; `-Infinity` if that is no longer known, or if there is no such request. */
  at(sequence: number): number {
    return this.#times[sequence - 1 - this.#dropped] ?? Number.NEGATIVE_INFINITY;
  }

  /** Number of requests sent after this moment; Infinity if the log no longer goes back that far. */
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

/** At most `requests` in any period of `perMs` milliseconds. */
export interface Pace {
  requests: number;
  perMs: number;
}

/** @param requestsPerMinute more than 0; Infinity for no limit */
export function minutePace(requestsPerMinute: number): Pace {
  // Less than one request per minute is one request per longer period.
  const minutes = Math.max(1, 1 / requestsPerMinute);
  return { requests: requestsPerMinute * minutes, perMs: MINUTE_MS * minutes };
}

/** A period as our clock must measure it, so that the service does not measure less. */
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
 * Even spacing with a small burst: slots left unused by a late timer or a pause for work are caught up, and yet no
 * minute, wherever it begins, holds more requests than the pace. Times are milliseconds that never go back.
 */
export class Spacing {
  #pace: Pace;
  #hasLimitedBursts = false;
  /** When the last request was due under even spacing. */
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

  /** When the next request may be sent at this pace, or at the configured one if that is slower. */
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

  /** Limits the pace from now on; it never exceeds the configured one. */
  slowTo(pace: Pace): void {
    this.#pace = slower(this.configured, pace);
  }

  /** From now on, catches up only the delay of a late timer, because the service has refused a request. */
  limitBursts(): void {
    this.#hasLimitedBursts = true;
  }

  #burstMs(intervalMs: number): number {
    const burst = Math.max(1, withMargin(MINUTE_MS * BURST_SHARE) / intervalMs);
    const burstMs = (burst - 1) * intervalMs;
    return this.#hasLimitedBursts ? Math.min(burstMs, LIMITED_BURST_MS) : burstMs;
  }

  /** When this pace has room for one more request. */
  #roomAt({ requests, perMs }: Pace): number {
    if (requests === Number.POSITIVE_INFINITY) return Number.NEGATIVE_INFINITY;
    const most = Math.max(1, Math.floor(requests));
    return this.sent.at(this.sent.count - most + 1) + (withMargin(perMs) / requests) * most;
  }
}
