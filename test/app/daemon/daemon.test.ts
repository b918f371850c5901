import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { JobBoard, runDaemon } from '../../../src/app/daemon/daemon.js';
import type { Job, JobContext } from '../../../src/app/daemon/job.js';
import type { Config } from '../../../src/base/config/schema.js';
import { BusyError, Stopped } from '../../../src/base/exit.js';
import { createLogger } from '../../../src/base/observe/log.js';
import { temporaryFolder } from '../../given/folder.js';

const NIGHTLY = '0 2 * * *';
const FIRST_NIGHT = '2026-01-01T02:00:00.000Z';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MINUTE_MS = 60_000;

// The clock stands a minute before the first night, and only the tests move it.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: Date.parse(FIRST_NIGHT) - MINUTE_MS });
});
afterEach(() => void vi.useRealTimers());

interface Given {
  cron?: string | null;
  /** What the warehouse knows of the job's last time. */
  lastBegun?: string;
  isUnfinished?: boolean;
  board?: JobBoard;
  hourly?: () => Promise<unknown>;
  /** Beside it. */
  others?: { name: string; job: Job; cron: string }[];
}

/** A daemon over one job; its log as objects. */
function daemon(run: Job['run'], given: Given = {}) {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger({ destination: { write: (line) => lines.push(JSON.parse(line)) }, pretty: false });
  const stop = new AbortController();
  const { cron = NIGHTLY, lastBegun, isUnfinished = false, hourly, board, others = [] } = given;
  const last = lastBegun && { lastBegun: async () => Date.parse(lastBegun) };
  const job: Job = { run, isUnfinished: async () => isUnfinished, ...last };
  const ended = runDaemon({
    jobs: [{ name: 'a-job', job, cron }, ...others],
    config: { warehouse: { time_zone: 'UTC' } } as Config,
    version: '0.0.0',
    logger,
    board: board ?? new JobBoard(null, logger),
    signal: stop.signal,
    ...(hourly && { hourly }),
  });
  return { lines, stop: () => stop.abort(), ended, said: (text: string) => lines.filter(({ msg }) => msg === text) };
}

/** So many nights pass. */
async function pass(nights: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(nights * DAY_MS);
}

describe('the daemon', () => {
  test('runs jobs that take the run lock one after the other, others beside them', async () => {
    const seen: string[] = [];
    const job = (name: string, hours: number, writes = false) => {
      const run = async () => {
        seen.push(`${name} begins`);
        await new Promise((resolve) => setTimeout(resolve, hours * HOUR_MS));
        seen.push(`${name} ends`);
        return 0;
      };
      return { name, cron: NIGHTLY, job: { ...(writes && { writes }), run } };
    };
    const others = [job('report', 1), job('sync', 3, true), job('maintain', 1, true)];
    const { stop, ended } = daemon(async () => 0, { cron: null, others });
    await vi.advanceTimersByTimeAsync(6 * HOUR_MS);
    stop();
    await ended;
    const wanted = ['report begins', 'sync begins', 'report ends', 'sync ends', 'maintain begins', 'maintain ends'];
    expect(seen).toEqual(wanted);
  });

  test('runs a job on its time, and logs the next time at the start and after each run', async () => {
    let [runs, hours] = [0, 0];
    const { lines, said, stop, ended } = daemon(async () => ++runs, { hourly: async () => ++hours });
    await pass(3);
    expect([runs, hours]).toEqual([3, 72]);
    stop();
    await ended;
    expect(lines[0]).toMatchObject({ msg: 'next run', job: 'a-job' });
    const nights = [0, 1, 2, 3].map((night) => new Date(Date.parse(FIRST_NIGHT) + night * DAY_MS).toISOString());
    expect(said('next run').map(({ next_run }) => next_run)).toEqual(nights);
    expect(said('ended')[0]).toMatchObject({ job: 'a-job', exit_code: 1 });
  });

  test('skips a tick while the job still runs; at the end asks the job to stop, and waits for it', async () => {
    let running = 0;
    let cleanedUp = false;
    const { said, stop, ended } = daemon(async ({ signal }: JobContext) => {
      running++;
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      await new Promise((resolve) => setImmediate(resolve));
      cleanedUp = true;
      throw new Stopped();
    });
    await pass(2);
    expect(said('skipped: the job is still running')).toHaveLength(1);
    stop();
    await ended;
    expect({ running, cleanedUp }).toEqual({ running: 1, cleanedUp: true });
    expect(said(new Stopped().message)[0]).toMatchObject({ level: 'info' });
  });

  test('goes on after a job that failed, and after one that found the warehouse busy', async () => {
    const errors = [new Error('a bug'), new BusyError('process 4711 is working on it')];
    const { said, stop, ended } = daemon(async () => {
      const error = errors.shift();
      if (error) throw error;
      return 0;
    });
    await pass(3);
    stop();
    await ended;
    expect(said('failed; it runs again at its next scheduled time: a bug')).toMatchObject([{ level: 'error' }]);
    expect(said('process 4711 is working on it')).toMatchObject([{ level: 'warn' }]);
  });

  test.each([
    ['is caught up once where the last time passed while no daemon ran', '2026-01-01T01:00:00Z', 3, 1],
    ['is not where it ran', '2026-01-01T02:00:01Z', 3, 0],
    ['is not where that is too long ago', '2026-01-01T01:00:00Z', 13, 0],
  ])('a job %s', async (_, lastBegun, hoursLate, caughtUp) => {
    vi.setSystemTime(Date.parse(FIRST_NIGHT) + hoursLate * HOUR_MS);
    let runs = 0;
    const { said, stop, ended } = daemon(async () => ++runs, { lastBegun });
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    expect([runs, said('catching up: no process was running at that time').length]).toEqual([caughtUp, caughtUp]);
    stop();
    await ended;
  });

  test('a job that the warehouse knows nothing of is caught up by what was recorded, once', async () => {
    const warehouse = temporaryFolder();
    const opened = () => JobBoard.open(warehouse, createLogger({ level: 'silent' }));
    const begunAt = async (job: () => Promise<number>, at: number) => {
      vi.setSystemTime(at);
      const { stop, ended, said } = daemon(job, { board: await opened() });
      await vi.waitFor(() => expect(said('next run').length).toBeGreaterThan(0));
      stop();
      await ended;
      return said('started').length;
    };
    const first = Date.parse(FIRST_NIGHT);
    expect(await begunAt(async () => 0, first + HOUR_MS)).toBe(0);
    vi.setSystemTime(first);
    await (await opened()).begun('a-job');
    // As after a kill: nothing says how it ended.
    const later = first + DAY_MS + HOUR_MS;
    expect(await begunAt(() => Promise.reject(new Error('out of memory')), later)).toBe(1);
    expect(await begunAt(async () => 0, later + MINUTE_MS)).toBe(0);
    writeFileSync(join(warehouse, 'jobs.json'), '{"a-job":');
    expect((await opened()).lastBegun('a-job')).toBeNull();
  });

  test('resumes at its start what another process left unfinished', async () => {
    let runs = 0;
    const { stop, ended } = daemon(async () => ++runs, { isUnfinished: true });
    await vi.advanceTimersByTimeAsync(0);
    stop();
    await ended;
    expect(runs).toBe(1);
  });

  test.each([
    ['runs a job soon after the machine has slept over its time', 3 * HOUR_MS, 1],
    ['runs it once, however many times passed', 2 * DAY_MS + HOUR_MS, 1],
    ['says what it missed where that is too long ago', 13 * HOUR_MS, 0],
  ])('%s', async (_, asleep, expected) => {
    let runs = 0;
    const { said, stop, ended } = daemon(async () => ++runs);
    await vi.advanceTimersByTimeAsync(0);
    // The clock goes on while the machine sleeps, and its timers do not.
    vi.setSystemTime(Date.parse(FIRST_NIGHT) + asleep);
    await vi.advanceTimersByTimeAsync(10 * MINUTE_MS);
    const missed = said('missed: the process was not running at that time');
    expect([runs, missed.length]).toEqual([expected, 1 - expected]);
    stop();
    await ended;
  });
});
