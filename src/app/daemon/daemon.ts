import { maintainJob } from '../../../jobs/maintain.js';
import { nightlySync } from '../../../jobs/nightly-sync.js';
import { reportJob } from '../../../jobs/report.js';
import { verifyJob } from '../../../jobs/verify.js';
import { lastTime, nextTimes } from '../../base/config/cron.js';
import type { Config } from '../../base/config/schema.js';
import { BusyError, EXIT, Failure, messageOf, Stopped } from '../../base/exit.js';
import type { Logger } from '../../base/observe/log.js';
import { makeFolder } from '../../base/storage/durable.js';
import { writeJson } from '../../base/storage/json-file.js';
import { HOUR_MS, MINUTE_MS } from '../../base/time.js';
import { warehouseFolder } from '../../warehouse/log/folder/layout.js';
import { type Jobs, readJobs } from '../../warehouse/upkeep/jobs.js';
import { JOB_NAMES, type Job, type JobContext, type JobName } from './job.js';

/** Each job, by its name. */
export const JOBS = {
  'nightly-sync': nightlySync,
  maintain: maintainJob,
  verify: verifyJob,
  report: reportJob,
} satisfies Record<JobName, Job>;

/** A job and its times; `cron` is null if it is switched off. */
interface TimedJob {
  name: string;
  job: Job;
  cron: string | null;
}

/** When each job runs. */
export function timetable({ schedule }: Pick<Config, 'schedule'>): TimedJob[] {
  return JOB_NAMES.map((name) => ({ name, job: JOBS[name], cron: schedule[name] || null }));
}

/** How often to check the clock, because timers stand still while a machine sleeps. */
const LOOK_MS = 10 * MINUTE_MS;
/** A job that was missed by less still runs: a night by noon is worth having, a later one would disturb the next. */
const CATCH_UP_MS = 12 * HOUR_MS;

interface DaemonOptions extends JobContext {
  jobs: readonly TimedJob[];
  board: JobBoard;
  /** Called every hour; it never throws. */
  hourly?: () => Promise<unknown>;
}

/**
 * Runs each job at its times until the signal fires; then asks running jobs to stop, and waits for them.
 * A job never runs twice at once, and one that fails does not end the daemon.
 *
 * | state of a job | left when                                                                                        |
 * |----------------|--------------------------------------------------------------------------------------------------|
 * | `waiting`      | its time has come, was missed by less than 12 hours, or a run was left unfinished: `running` |
 * | `running`      | it ends, however: `waiting` for the next time; times that pass meanwhile are skipped             |
 *
 * Of jobs that take the run lock, one whose time comes during another one runs after it.
 */
export async function runDaemon(options: DaemonOptions): Promise<void> {
  const { jobs, logger, signal } = options;
  const writing = new Turns();
  const timed = jobs.flatMap((job) =>
    job.cron === null ? [] : [new Timed({ ...job, cron: job.cron }, options, writing)],
  );
  for (const { name, cron } of jobs) if (cron === null) logger.info({ job: name }, 'switched off');
  if (timed.length === 0) logger.warn('every job under `schedule` is switched off: nothing will run');
  const checks = hourly(options);
  for (const job of timed) await job.begin();
  while (!signal.aborted) {
    const now = Date.now();
    for (const job of timed) job.look(now);
    const next = Math.min(...timed.map(({ next }) => next), Date.now() + LOOK_MS);
    await passing(next - Date.now(), signal);
  }
  const running = timed.filter((job) => job.running !== null);
  logger.info({ running: running.length }, running.length > 0 ? 'stopping; waiting for running jobs' : 'stopping');
  await Promise.all([checks, ...running.map((job) => job.running)]);
}

/** Lets one piece of work after the other run. */
class Turns {
  #last: Promise<unknown> = Promise.resolve();

  take(work: () => Promise<void>): Promise<void> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => {});
    return mine;
  }
}

/** A job that is not switched off, and its times. */
class Timed {
  /** When it runs next, in milliseconds since 1970; Infinity if its expression has no further date. */
  next = Number.POSITIVE_INFINITY;
  /** Settles when the current run ends. */
  running: Promise<void> | null = null;
  readonly #logger: Logger;

  constructor(
    private readonly timed: TimedJob & { cron: string },
    private readonly options: DaemonOptions,
    private readonly writing: Turns,
  ) {
    this.#logger = options.logger.child({ job: timed.name });
  }

  /** Sets the first time. Starts the job at once if it missed its time, or to resume an interrupted run. */
  async begin(): Promise<void> {
    const { config, board } = this.options;
    const { name, job } = this.timed;
    const now = Date.now();
    this.#setNext(now);
    this.#logNext();
    const lastBegun = job.lastBegun ? await job.lastBegun(config) : board.lastBegun(name);
    const due = lastBegun === null ? null : this.#last(now, Math.max(now - CATCH_UP_MS, lastBegun + 1));
    if (due !== null) this.#logger.info({ due: new Date(due) }, 'catching up: no process was running at that time');
    else if (await job.isUnfinished?.(config)) this.#logger.info('resuming what another process left unfinished');
    else return;
    this.#start();
  }

  /** Starts the job if its time has come: once, however many of its times have passed since the last check. */
  look(now: number): void {
    if (now < this.next) return;
    const due = this.#last(now, this.next) ?? this.next;
    this.#setNext(now);
    if (this.running) this.#logger.warn('skipped: the job is still running');
    else if (now - due > CATCH_UP_MS) {
      this.#logger.warn({ due: new Date(due) }, 'missed: the process was not running at that time');
    } else this.#start();
  }

  #start(): void {
    const { signal } = this.options;
    const run = async () => {
      if (signal.aborted) return;
      await runJob(this.timed, { ...this.options, logger: this.#logger });
      if (!signal.aborted) this.#logNext();
    };
    this.running = (this.timed.job.writes ? this.writing.take(run) : run()).finally(() => {
      this.running = null;
    });
  }

  #last(now: number, since: number): number | null {
    return lastTime(this.timed.cron, this.options.config.warehouse.time_zone, { now, since });
  }

  #setNext(now: number): void {
    const [next] = nextTimes(this.timed.cron, this.options.config.warehouse.time_zone, 1, new Date(now));
    this.next = next?.getTime() ?? Number.POSITIVE_INFINITY;
  }

  #logNext(): void {
    if (Number.isFinite(this.next))
      this.#logger.info({ cron: this.timed.cron, next_run: new Date(this.next) }, 'next run');
  }
}

/** Runs a job once, and logs its result or its failure. */
async function runJob(timed: Pick<TimedJob, 'name' | 'job'>, options: RecordedContext): Promise<void> {
  const { logger, signal } = options;
  const startedAt = Date.now();
  // A signal of its own, so that what listens to a run ends with it. `AbortSignal.any` would keep its listeners alive.
  const own = new AbortController();
  const stop = () => own.abort();
  signal.addEventListener('abort', stop);
  try {
    logger.info('started');
    const exitCode = await runRecorded(timed, { ...options, signal: own.signal });
    const level = exitCode === EXIT.done ? 'info' : 'warn';
    logger[level]({ exit_code: exitCode, duration_ms: Date.now() - startedAt }, 'ended');
  } catch (error) {
    if (error instanceof BusyError) logger.warn(error.message);
    else if (error instanceof Stopped) logger.info(error.message);
    else logger.error({ err: error }, 'failed; it runs again at its next scheduled time');
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

interface RecordedContext extends JobContext {
  board: JobBoard;
}

/** Runs a job once, and records its start and its end. @throws what the job throws */
export async function runRecorded(
  { name, job }: Pick<TimedJob, 'name' | 'job'>,
  { board, ...context }: RecordedContext,
): Promise<number> {
  await board.begun(name);
  try {
    const exitCode = await job.run(context);
    await board.ended(name, exitCode);
    return exitCode;
  } catch (error) {
    const hasFailed = !(error instanceof Stopped || error instanceof BusyError);
    if (hasFailed) await board.ended(name, error instanceof Failure ? error.exitCode : EXIT.failed);
    throw error;
  }
}

async function hourly({ signal, hourly: work }: DaemonOptions): Promise<void> {
  while (!signal.aborted) {
    await passing(HOUR_MS, signal);
    if (!signal.aborted) await work?.();
  }
}

/** Waits, at most until the signal fires. Keeps the process alive meanwhile. */
function passing(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, Math.max(0, ms));
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });
}

/**
 * When each job last began and how it ended, kept in a small file in the warehouse folder, so that a restarted daemon
 * knows what it missed, and `status` what failed. If the file cannot be written, a warning is logged.
 */
export class JobBoard {
  #written: Promise<void> = Promise.resolve();

  /** @param warehouse where it is recorded; null: nowhere */
  constructor(
    private readonly warehouse: string | null,
    private readonly logger: Logger,
    private readonly jobs: Jobs = {},
  ) {}

  static async open(warehouse: string, logger: Logger): Promise<JobBoard> {
    return new JobBoard(warehouse, logger, await readJobs(warehouse));
  }

  /** Records the start before the job does anything, so that one that crashes the process is not started repeatedly. */
  begun(name: string): Promise<void> {
    return this.#record(name, { begun_at: new Date().toISOString(), exit_code: null });
  }

  ended(name: string, exit_code: number): Promise<void> {
    return this.#record(name, { begun_at: new Date().toISOString(), ...this.jobs[name], exit_code });
  }

  #record(name: string, job: Jobs[string]): Promise<void> {
    this.jobs[name] = job;
    this.#written = this.#written.then(() => this.#write(this.warehouse));
    return this.#written;
  }

  /** When a job last began, in milliseconds since 1970; null if it never did. */
  lastBegun(name: string): number | null {
    const { [name]: job } = this.jobs;
    return job === undefined ? null : Date.parse(job.begun_at);
  }

  async #write(warehouse: string | null): Promise<void> {
    if (warehouse === null) return;
    try {
      await makeFolder(warehouse);
      await writeJson(warehouseFolder(warehouse).jobs, this.jobs);
    } catch (error) {
      this.logger.warn(`cannot record when jobs ran: ${messageOf(error)}`);
    }
  }
}
