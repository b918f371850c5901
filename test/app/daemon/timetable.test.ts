import { expect, test } from 'vitest';
import { timetable } from '../../../src/app/daemon/daemon.js';
import { lastTime, longestGap, nextTimes } from '../../../src/base/config/cron.js';
import { configSchema } from '../../../src/base/config/schema.js';
import { DAY_MS, HOUR_MS } from '../../../src/base/time.js';

test('the nightly sync runs by default, and each other job on its time', () => {
  const timesOf = (schedule: object) => {
    const api = { base_url: 'https://api.example.com', token: 'abc' };
    return Object.fromEntries(timetable(configSchema.parse({ api, schedule })).map(({ name, cron }) => [name, cron]));
  };
  const verify = '0 6 * * 0';
  expect(timesOf({ verify })).toEqual({ 'nightly-sync': '0 2 * * *', maintain: null, verify, report: null });
  expect(timesOf({ 'nightly-sync': false })['nightly-sync']).toBeNull();
});

test('the longest gap of working days is the weekend', () => {
  expect(longestGap('0 2 * * *', 'UTC')).toBe(DAY_MS);
  expect(longestGap('0 2 * * 1-5', 'UTC')).toBe(3 * DAY_MS);
});

test('the last time is found in the time zone, and not before the limit', () => {
  const now = Date.parse('2026-07-01T08:30:15Z');
  const due = Date.parse('2026-07-01T00:00:00Z');
  expect(lastTime('0 2 * * *', 'Europe/Berlin', { now, since: now - 12 * HOUR_MS })).toBe(due);
  expect(lastTime('0 2 * * *', 'Europe/Berlin', { now, since: due + 1 })).toBeNull();
});

test.each([
  ['0 2 * * *', 'Europe/Berlin', '2027-03-27T12:00:00Z', '2027-03-28T01:00:00.000Z', '2027-03-29T00:00:00.000Z'],
  ['30 2 * * *', 'America/New_York', '2027-03-13T12:00:00Z', '2027-03-14T07:00:00.000Z', '2027-03-15T06:30:00.000Z'],
  ['30 2 * * *', 'Europe/Berlin', '2027-10-30T12:00:00Z', '2027-10-31T00:30:00.000Z', '2027-11-01T01:30:00.000Z'],
  ['30 1 * * *', 'America/New_York', '2027-11-06T12:00:00Z', '2027-11-07T05:30:00.000Z', '2027-11-08T06:30:00.000Z'],
])('%s in %s comes once a night, whether its hour is skipped or repeated', (cron, timeZone, after, ...times) => {
  expect(nextTimes(cron, timeZone, 2, new Date(after)).map((time) => time.toISOString())).toEqual(times);
  const now = Date.parse(times[0] ?? '');
  const last = (at: number) => lastTime(cron, timeZone, { now: at, since: now - HOUR_MS });
  expect([last(now - 1), last(now), last(now + 2 * HOUR_MS)]).toEqual([null, now, now]);
});
