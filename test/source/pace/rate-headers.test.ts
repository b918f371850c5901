import { describe, expect, it } from 'vitest';
import { readRate, retryAfterMs, ServerClock } from '../../../src/source/pace/rate-headers.js';

const NOW = Date.parse('2026-03-01T02:00:00.000Z');
const SECONDS = NOW / 1000;

function reading(reset: string, clock = new ServerClock()) {
  return readRate({ 'x-ratelimit-remaining': '7', 'x-ratelimit-reset': reset }, clock, NOW);
}

/** A clock that has seen answers of a service whose clock is this much ahead. */
function clockAhead(aheadMs: number): ServerClock {
  const clock = new ServerClock();
  for (const at of [0, 400, 950, 1900]) {
    const serverSecond = Math.floor((NOW + at + aheadMs) / 1000) * 1000;
    clock.observe(new Date(serverSecond).toUTCString(), NOW + at - 5, NOW + at + 5);
  }
  return clock;
}

describe('the reset of the rate limit', () => {
  it.each([
    ['seconds to go', '30', 30_000],
    ['nothing to go', '0', 0],
    ['seconds since 1970', String(SECONDS + 30), 30_000],
    ['milliseconds since 1970', String(NOW + 30_500), 30_500],
    ['a date of HTTP', new Date(NOW + 30_000).toUTCString(), 30_000],
    ['a date of ISO 8601', new Date(NOW + 30_000).toISOString(), 30_000],
  ])('is understood as %s', (_, reset, inMs) => {
    expect(reading(reset)).toMatchObject({ remaining: 7, resetAt: NOW + inMs });
  });

  it.each([-90_000, 86_400_000])('is corrected for a clock that is %i ms ahead', (ahead) => {
    const clock = clockAhead(ahead);
    for (const reset of [String(NOW + ahead + 30_000), new Date(NOW + ahead + 30_000).toUTCString()]) {
      const resetAt = reading(reset, clock)?.resetAt ?? 0;
      expect(Math.abs(resetAt - (NOW + 30_000))).toBeLessThan(100);
    }
    expect(reading('30', clock)?.resetAt).toBe(NOW + 30_000);
  });

  it('follows a clock that is set, and needs no correction where the two may show the same', () => {
    const clock = clockAhead(3_600_000);
    clock.observe(new Date(NOW).toUTCString(), NOW, NOW + 10);
    for (const one of [clock, clockAhead(0)]) {
      expect(reading(String(SECONDS + 30), one)?.resetAt).toBe(NOW + 30_000);
    }
  });

  it.each(['soon', '-5', '', '1e3'])('is ignored, as Retry-After is, if it is %j', (text) => {
    expect(reading(text)).toBeNull();
    expect(retryAfterMs({ 'retry-after': text }, new ServerClock(), NOW)).toBeNull();
  });
});

describe('the clock of the service', () => {
  const at = (ms: number) => new Date(NOW + ms).toUTCString();
  it.each<[string, string | string[], string | undefined, number | null]>([
    ['a date', at(-7_200_000), undefined, -7_200_000],
    ['of a cache', at(-7_200_000), '7200', 0],
    ['garbage', 'noon 5 GMT', undefined, null],
    ['two dates', [at(-7_200_000), at(0)], undefined, null],
    ['a negative age', at(-7_200_000), '-1', null],
  ])('is compared with ours, if there is one: %s', (_, date, age, ahead) => {
    const clock = new ServerClock();
    // Repeated headers are a list, though their type has none.
    clock.observe(date as string | undefined, NOW, NOW + 10, age);
    expect(clock.ahead && Math.round(clock.ahead / 1000)).toBe(ahead && ahead / 1000);
  });

  it('is not blamed for a machine that slept while the answer was under way', () => {
    const clock = new ServerClock();
    clock.observe(at(0), NOW, NOW + 8 * 3_600_000);
    expect(clock.ahead).toBe(0);
  });
});

it.each([
  [{ 'x-ratelimit-reset': '30' }],
  [{ 'x-ratelimit-remaining': '7' }],
  [{ 'x-ratelimit-remaining': '-1', 'x-ratelimit-reset': '30' }],
])('rate headers are ignored where one is missing or unusable: %o', (headers) => {
  expect(readRate(headers, new ServerClock(), NOW)).toBeNull();
});

it('rate headers are known under the names of other services too', () => {
  const standard = { 'ratelimit-limit': '5, 5;w=60', 'ratelimit-remaining': '3', 'ratelimit-reset': '10' };
  const reading = { limit: 5, remaining: 3, resetAt: NOW + 10_000 };
  expect(readRate(standard, new ServerClock(), NOW)).toEqual(reading);
});

it('Retry-After is seconds, or a date by the clock of the service', () => {
  const clock = clockAhead(3_600_000);
  const date = new Date(NOW + 3_600_000 + 7000).toUTCString();
  expect(retryAfterMs({ 'retry-after': '7' }, clock, NOW)).toBe(7000);
  expect(Math.abs((retryAfterMs({ 'retry-after': date }, clock, NOW) ?? 0) - 7000)).toBeLessThan(100);
});
