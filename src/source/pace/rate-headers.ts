import type { IncomingHttpHeaders } from 'node:http';
import { SECOND_MS } from '../../base/time.js';

const LIMIT = ['x-ratelimit-limit', 'x-rate-limit-limit', 'ratelimit-limit'];
const REMAINING = ['x-ratelimit-remaining', 'x-rate-limit-remaining', 'ratelimit-remaining'];
const RESET = ['x-ratelimit-reset', 'x-rate-limit-reset', 'ratelimit-reset'];
const NUMBER = /^\d+(\.\d+)?$/;
/** Other forms of dates are obsolete, and `Date.parse` makes a date of almost any text. */
const HTTP_DATE = /^[a-z]{3}, \d\d [a-z]{3} \d{4} \d\d:\d\d:\d\d gmt$/i;
/** In seconds, up to three years. */
const AGE = /^\d{1,8}$/;
/** From here on, a number is a date and not a wait: as seconds to go it is 31 years, as a date September 2001. */
const LEAST_EPOCH_S = 1e9;
/** From here on, a date is in milliseconds: as such this is 1973, as seconds the year 5138. */
const LEAST_EPOCH_MS = 1e11;

/** What the rate headers of one answer say about the key. */
export interface RateReading {
  /** Requests in a window; null if the service does not say. */
  limit: number | null;
  /** Requests that are left until the reset. */
  remaining: number;
  /** Milliseconds since 1970 by our clock. */
  resetAt: number;
}

/**
 * The offset of the service's clock from ours, derived from the `Date` headers of its answers. One header is exact only
 * to the second, but several narrow the offset down to the travel time of an answer.
 */
export class ServerClock {
  #least = Number.NEGATIVE_INFINITY;
  #most = Number.POSITIVE_INFINITY;

  /**
   * @param sentAt, receivedAt milliseconds since 1970 by our clock; the service wrote `date` between them
   * @param age the seconds that a cache, if one answered, had kept the answer
   */
  observe(date = '', sentAt: number, receivedAt: number, age = '0'): void {
    const at = timeOf(date, age);
    if (Number.isNaN(at)) return;
    const [least, most] = [at - receivedAt, at + SECOND_MS - sentAt];
    const agrees = least <= this.#most && most >= this.#least;
    // If not, one of the two clocks was set.
    this.#least = agrees ? Math.max(this.#least, least) : least;
    this.#most = agrees ? Math.min(this.#most, most) : most;
  }

  /** Converts a time from the service's clock to ours; both in milliseconds since 1970. */
  toOurs(at: number): number {
    return at - (this.ahead ?? 0);
  }

  /** Milliseconds, negative if it is behind ours; null before its first usable date. */
  get ahead(): number | null {
    if (this.#least === Number.NEGATIVE_INFINITY) return null;
    if (this.#least <= 0 && this.#most >= 0) return 0;
    return (this.#least + this.#most) / 2;
  }
}

function timeOf(date: string, age: string): number {
  return HTTP_DATE.test(date) && AGE.test(age) ? Date.parse(date) + Number(age) * SECOND_MS : Number.NaN;
}

/**
 * Reads the rate headers of an answer; null if they are missing or unusable. The reset may be seconds to go, seconds or
 * milliseconds since 1970, which follows from its magnitude, or a date.
 */
export function readRate(headers: IncomingHttpHeaders, clock: ServerClock, receivedAt: number): RateReading | null {
  const remaining = firstOf(headers, REMAINING);
  const reset = remaining === null ? null : firstOf(headers, RESET);
  if (remaining === null || reset === null || !NUMBER.test(remaining)) return null;
  const resetAt = momentOf(reset, clock, receivedAt);
  return resetAt === null ? null : { limit: limitOf(headers), remaining: Math.floor(Number(remaining)), resetAt };
}

/** `Retry-After`, in seconds or a date, as milliseconds from now; null without a usable one. */
export function retryAfterMs(headers: IncomingHttpHeaders, clock: ServerClock, now: number): number | null {
  const value = firstOf(headers, ['retry-after']);
  if (value === null) return null;
  if (NUMBER.test(value)) return Number(value) * SECOND_MS;
  const date = dateOf(value);
  return date === null ? null : Math.max(0, clock.toOurs(date) - now);
}

/** Some services write the window after it: `100, 100;w=60`. */
function limitOf(headers: IncomingHttpHeaders): number | null {
  const [limit] = /^\d+/.exec(firstOf(headers, LIMIT) ?? '') ?? [];
  return limit === undefined ? null : Number(limit);
}

function momentOf(text: string, clock: ServerClock, now: number): number | null {
  if (!NUMBER.test(text)) {
    const date = dateOf(text);
    return date === null ? null : clock.toOurs(date);
  }
  const value = Number(text);
  if (value >= LEAST_EPOCH_MS) return clock.toOurs(value);
  if (value >= LEAST_EPOCH_S) return clock.toOurs(value * SECOND_MS);
  return now + value * SECOND_MS;
}

/** Accepts only what begins with a letter or a four-digit year: `Date.parse` would make a date of `-5`, too. */
function dateOf(text: string): number | null {
  const date = /^([A-Za-z]|\d{4}-)/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : date;
}

function firstOf(headers: IncomingHttpHeaders, names: string[]): string | null {
  for (const name of names) {
    const value = headers[name];
    const text = Array.isArray(value) ? value[0] : value;
    if (text !== undefined) return text.trim();
  }
  return null;
}
