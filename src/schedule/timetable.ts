import { createTask } from 'node-cron';
import { nightlySync } from '../../jobs/nightly-sync.js';
import { ConfigError } from '../config/errors.js';
import type { Config } from '../config/schema.js';
import { nearest } from '../config/suggest.js';
import type { Job } from './job.js';

/** Every job that there is. */
export const JOBS: readonly Job[] = [nightlySync];

/** Enough for a week of working days. */
const NEXT_RUNS = 10;

/** A job and when it runs; null: it is switched off. */
export interface TimedJob {
  job: Job;
  cron: string | null;
}

/**
 * When each job runs: `schedule.<name>` of the configuration, else the job's own default.
 *
 * @throws ConfigError naming a job that does not exist
 */
export function timetable({ schedule, file }: Pick<Config, 'schedule' | 'file'>, jobs = JOBS): TimedJob[] {
  const { time_zone: _zone, ...times } = schedule;
  const names = jobs.map(({ name }) => name);
  const unknown = Object.keys(times).filter((name) => !names.includes(name));
  const problems = unknown.map((name) => {
    const remedy = whichJobs(name, names);
    return { file, line: null, column: null, path: `schedule.${name}`, message: 'is not a job', remedy };
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return jobs.map((job) => {
    const cron = times[job.name] ?? job.defaultCron;
    return { job, cron: cron === false ? null : cron };
  });
}

/**
 * The longest time between two of a cron expression's next runs, in milliseconds; null where fewer than two are left.
 *
 * @param timeZone IANA name
 */
export function longestGap(cron: string, timeZone: string): number | null {
  const times = createTask(cron, () => {}, { timezone: timeZone })
    .getNextRuns(NEXT_RUNS)
    .map(Number);
  const gaps = times.slice(1).map((time, at) => time - (times[at] ?? time));
  return gaps.length > 0 ? Math.max(...gaps) : null;
}

/** The job of this name, or null. */
export function jobNamed(name: string, jobs = JOBS): Job | null {
  return jobs.find((job) => job.name === name) ?? null;
}

/** Such as: `Jobs are: nightly-sync.` */
export function whichJobs(name: string, names: readonly string[] = JOBS.map((job) => job.name)): string {
  const meant = nearest(name, names);
  return meant ? `Did you mean ${meant}?` : `Jobs are: ${names.join(', ')}.`;
}
