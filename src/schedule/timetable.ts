import { maintainJob } from '../../jobs/maintain.js';
import { nightlySync } from '../../jobs/nightly-sync.js';
import { reportJob } from '../../jobs/report.js';
import { verifyJob } from '../../jobs/verify.js';
import type { Config } from '../config/schema.js';
import { nearest } from '../config/suggest.js';
import type { Job } from './job.js';

/** Every job, by the key under `schedule` that sets its time. */
const JOBS = {
  'nightly-sync': nightlySync,
  maintain: maintainJob,
  verify: verifyJob,
  report: reportJob,
} satisfies Partial<Record<keyof Config['schedule'], Job>>;
type JobName = keyof typeof JOBS;
const NAMES = Object.keys(JOBS);

/** A job and when it runs; null: it is switched off. */
export interface TimedJob {
  name: string;
  job: Job;
  cron: string | null;
}

/** When each job runs. */
export function timetable({ schedule }: Pick<Config, 'schedule'>): TimedJob[] {
  return NAMES.filter(isJobName).map((name) => ({ name, job: JOBS[name], cron: schedule[name] || null }));
}

/** The job of this name, or null. */
export function jobNamed(name: string): Job | null {
  return isJobName(name) ? JOBS[name] : null;
}

function isJobName(name: string): name is JobName {
  return Object.hasOwn(JOBS, name);
}

/** Such as: `Jobs are: nightly-sync, maintain, verify, report.` */
export function whichJobs(name: string): string {
  const meant = nearest(name, NAMES);
  return meant ? `Did you mean ${meant}?` : `Jobs are: ${NAMES.join(', ')}.`;
}
