import { maintainJob } from '../../../jobs/maintain.js';
import { nightlySync } from '../../../jobs/nightly-sync.js';
import { reportJob } from '../../../jobs/report.js';
import { verifyJob } from '../../../jobs/verify.js';
import type { Config } from '../../base/config/schema.js';
import { JOB_NAMES, type Job, type JobName } from './job.js';

/** Each job, by its name. */
export const JOBS = {
  'nightly-sync': nightlySync,
  maintain: maintainJob,
  verify: verifyJob,
  report: reportJob,
} satisfies Record<JobName, Job>;

/** A job and its times; `cron` is null if it is switched off. */
export interface TimedJob {
  name: string;
  job: Job;
  cron: string | null;
}

/** When each job runs. */
export function timetable({ schedule }: Pick<Config, 'schedule'>): TimedJob[] {
  return JOB_NAMES.map((name) => ({ name, job: JOBS[name], cron: schedule[name] || null }));
}
