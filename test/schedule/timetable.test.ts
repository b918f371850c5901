import { describe, expect, test } from 'vitest';
import { configSchema } from '../../src/config/schema.js';
import { lastTime, longestGap } from '../../src/schedule/cron.js';
import { jobNamed, timetable, whichJobs } from '../../src/schedule/timetable.js';
import { DAY_MS, HOUR_MS } from '../../src/time.js';

function timesOf(schedule: Record<string, string | false>) {
  const api = { base_url: 'https://api.example.com', token: 'abc' };
  const config = configSchema.parse({ api, schedule });
  return timetable(config).map(({ name, cron }) => [name, cron]);
}

describe('timetable', () => {
  test('runs the nightly sync by default, and each other job on its time', () => {
    expect(timesOf({ verify: '0 6 * * 0' })).toEqual([
      ['nightly-sync', '0 2 * * *'],
      ['maintain', null],
      ['verify', '0 6 * * 0'],
      ['report', null],
    ]);
    expect(timesOf({ 'nightly-sync': false })[0]).toEqual(['nightly-sync', null]);
  });

  test('knows its jobs by name', () => {
    expect([jobNamed('report'), jobNamed('backup')]).toEqual([expect.anything(), null]);
    expect(whichJobs('backup')).toBe('Jobs are: nightly-sync, maintain, verify, report.');
  });
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
