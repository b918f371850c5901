import { createTask, type ScheduledTask, type TaskOptions } from 'node-cron';
import { BusyError, EXIT, Failure, Stopped } from '../exit.js';
import type { Logger } from '../observe/log.js';
import { HOUR_MS } from '../time.js';
import { lastTime } from './cron.js';
import type { JobContext } from './job.js';
import type { JobBoard } from './job-board.js';
import type { TimedJob } from './timetable.js';

export interface DaemonOptions extends JobContext {
  jobs: readonly TimedJob[];
  board: JobBoard;
  /** Called every hour; it never throws. */
  hourly?: () => Promise<unknown>;
}

/** A job that is not switched off. */
type Timed = TimedJob & { cron: string };

/**
 * Runs each job on its time until the signal fires; then stops the clock, asks what runs to stop, and waits for it.
 * A job never runs twice at once, and one that fails does not end the daemon.
 */
export async function runDaemon(options: DaemonOptions): Promise<void> {
  const { jobs, log } = options;
  const running = new Set<Promise<void>>();
  const timed = jobs.flatMap(({ cron, ...job }) => (cron === null ? [] : [{ ...job, cron }]));
  const tasks = timed.map((job) => newTask(job, options, running));
  for (const { name, cron } of jobs) if (cron === null) log.info({ job: name }, 'switched off');
  if (tasks.length === 0) log.warn('every job under `schedule` is switched off: nothing will run');
  try {
    for (const [at, task] of tasks.entries()) {
      await task.start();
      noteNextRun(task, options);
      const job = timed[at];
      if (job && (await isMissed(job, options))) void task.execute();
    }
    await untilAborted(options);
  } finally {
    log.info({ running: running.size }, running.size > 0 ? 'stopping; waiting for running jobs' : 'stopping');
    for (const task of tasks) await task.stop();
    await Promise.all(running);
    for (const task of tasks) await task.destroy();
  }
}

/** Whether a job's last time passed while no daemon ran, within `schedule.catch_up`: late is better than a night lost. */
async function isMissed({ name, job, cron }: Timed, { config, log, board }: DaemonOptions): Promise<boolean> {
  const { catch_up, time_zone } = config.schedule;
  const { last } = board.figuresOf(name);
  const recorded = last && Date.parse(last.begun_at);
  const lastBegun = job.lastBegun ? await job.lastBegun(config) : recorded;
  if (lastBegun === null) return false;
  const now = Date.now();
  const due = lastTime(cron, time_zone, { now, since: Math.max(now - catch_up, lastBegun + 1) });
  if (due !== null) log.info({ job: name, due: new Date(due) }, 'catching up: no process was running at that time');
  return due !== null;
}

function newTask({ name, job, cron }: Timed, options: DaemonOptions, running: Set<Promise<void>>): ScheduledTask {
  const log = options.log.child({ job: name });
  const { time_zone, catch_up, jitter } = options.config.schedule;
  const settings: TaskOptions = {
    name,
    timezone: time_zone,
    noOverlap: true,
    // Also where the machine slept.
    missedExecutionTolerance: catch_up,
    maxRandomDelay: jitter,
    logger: quiet(log),
  };
  const run = async () => {
    const ended = runJob({ name, job }, { ...options, log });
    running.add(ended);
    await ended;
    running.delete(ended);
    if (!options.signal.aborted) noteNextRun(task, { ...options, log });
  };
  const task = createTask(cron, run, settings);
  task.on('execution:overlap', () => log.warn('skipped: the job is still running'));
  task.on('execution:missed', ({ date }) =>
    log.warn({ due: date }, 'missed: the process was not running at that time'),
  );
  return task;
}

/** Runs a job once. Whatever becomes of it is a line in the log. */
async function runJob(timed: Pick<Timed, 'name' | 'job'>, options: RecordedContext): Promise<void> {
  const { log, signal } = options;
  // A signal of its own, so that its listeners end with the run instead of accumulating.
  const own = new AbortController();
  const stop = () => own.abort();
  signal.addEventListener('abort', stop, { once: true });
  const startedAt = Date.now();
  try {
    log.info('started');
    const exitCode = await runRecorded(timed, { ...options, signal: own.signal });
    log.info({ exit_code: exitCode, duration_ms: Date.now() - startedAt }, 'ended');
  } catch (error) {
    logFailure(error, log);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

export interface RecordedContext extends JobContext {
  board: JobBoard;
}

/** Runs a job once between two lines on the board. @throws what the job throws */
export async function runRecorded(
  { name, job }: Pick<Timed, 'name' | 'job'>,
  { board, ...context }: RecordedContext,
): Promise<number> {
  await board.begun(name);
  try {
    const exitCode = await job.run(context);
    await board.ended(name, exitCode);
    return exitCode;
  } catch (error) {
    await board.ended(name, error instanceof Failure ? error.exitCode : EXIT.failed);
    throw error;
  }
}

function logFailure(error: unknown, log: Logger): void {
  if (error instanceof BusyError) log.warn(error.message);
  else if (error instanceof Stopped) log.info(error.message);
  else log.error({ err: error }, 'failed; it runs again at its next scheduled time');
}

function noteNextRun(task: ScheduledTask, { board, log }: Pick<DaemonOptions, 'board' | 'log'>): void {
  const next = task.getNextRun();
  board.setNext(task.name ?? '', next);
  log.info({ job: task.name, cron: task.getPattern(), next_run: next }, 'next run');
}

/** What matters comes as events; node-cron's own log lines are for debugging. */
function quiet(log: Logger): NonNullable<TaskOptions['logger']> {
  const debug = (message: string | Error) => log.debug(String(message));
  return { info: debug, warn: debug, debug, error: (message) => log.error(String(message)) };
}

/** Keeps the process alive until the signal fires, also where no job has a time. */
async function untilAborted({ signal, hourly }: DaemonOptions): Promise<void> {
  while (!signal.aborted) {
    await anHour(signal);
    if (!signal.aborted) await hourly?.();
  }
}

/** Or until the signal fires. */
function anHour(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, HOUR_MS);
    signal.addEventListener('abort', end);
  });
}
