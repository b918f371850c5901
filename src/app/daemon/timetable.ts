import { maintainJob } from '../../../jobs/maintain.js';
import { nightlySync } from '../../../jobs/nightly-sync.js';
import { reportJob } from '../../../jobs/report.js';
import { verifyJob } from '../../../jobs/verify.js';
import type { Config } from '../../base/config/schema.js';
import { nearest } from '../../base/config/suggest.js';
import { JOB_NAMES, type Job, type JobName } from './job.js';

const JOBS = {
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

/** The job of this name, or null. */
export function jobNamed(name: string): Job | null {
  const known = JOB_NAMES.find((one) => one === name);
  return known ? JOBS[known] : null;
}

/** A hint for an unknown name, such as: `Jobs are: nightly-sync, maintain, verify, report.` */
export function whichJobs(name: string): string {
  const meant = nearest(name, JOB_NAMES);
  return meant ? `Did you mean ${meant}?` : `Jobs are: ${JOB_NAMES.join(', ')}.`;
}
