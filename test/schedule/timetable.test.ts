import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/config/errors.js';
import type { Config } from '../../src/config/schema.js';
import type { Job } from '../../src/schedule/job.js';
import { JOBS, timetable } from '../../src/schedule/timetable.js';

const WEEKLY: Job = { name: 'weekly', description: '', defaultCron: '0 5 * * 0', run: async () => 0 };

function timesOf(schedule: Record<string, string | false>, jobs?: Job[]) {
  const given = { time_zone: 'UTC', 'nightly-sync': '0 2 * * *', ...schedule } as Config['schedule'];
  return timetable({ schedule: given, file: '/etc/indexhouse.yaml' }, jobs).map(({ job, cron }) => [job.name, cron]);
}

describe('timetable', () => {
  test('takes the time of the configuration, else the one of the job, and null for a job that is off', () => {
    expect(timesOf({}, [...JOBS, WEEKLY])).toEqual([
      ['nightly-sync', '0 2 * * *'],
      ['weekly', '0 5 * * 0'],
    ]);
    expect(timesOf({ 'nightly-sync': '30 4 * * *' })).toEqual([['nightly-sync', '30 4 * * *']]);
    expect(timesOf({ 'nightly-sync': false })).toEqual([['nightly-sync', null]]);
  });

  test('refuses a job that does not exist and lists those that do', () => {
    expect(() => timesOf({ backup: '0 1 * * *' })).toThrow(ConfigError);
    expect(() => timesOf({ backup: false })).toThrow('schedule.backup is not a job. Jobs are: nightly-sync.');
  });
});
