import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Config } from '../../src/config/schema.js';
import { BusyError, Stopped } from '../../src/exit.js';
import { createLogger } from '../../src/observe/log.js';
import { runDaemon } from '../../src/schedule/daemon.js';
import type { Job, JobContext } from '../../src/schedule/job.js';

/** node-cron takes a field for seconds before the five. */
const EVERY_SECOND = '* * * * * *';

/** A daemon over one job; its log as objects. */
function daemon(run: Job['run'], cron: string | null = EVERY_SECOND) {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => lines.push(JSON.parse(line)) };
  const stop = new AbortController();
  const job: Job = { name: 'a-job', description: '', defaultCron: '0 2 * * *', run };
  const ended = runDaemon({
    jobs: [{ job, cron }],
    timeZone: 'UTC',
    config: {} as Config,
    version: '0.0.0',
    log: createLogger({ destination, pretty: false }),
    signal: stop.signal,
  });
  return { lines, stop: () => stop.abort(), ended, said: (text: string) => lines.filter(({ msg }) => msg === text) };
}

async function until(condition: () => boolean): Promise<void> {
  for (const end = Date.now() + 8000; !condition() && Date.now() < end; ) await delay(10);
}

describe.concurrent('the daemon', () => {
  test('runs a job on its time, and tells the next time at the start and after each run', async () => {
    let runs = 0;
    const { lines, said, stop, ended } = daemon(async () => ++runs);
    await until(() => said('next run').length >= 2);
    stop();
    await ended;
    expect(lines[0]).toMatchObject({ msg: 'next run', job: 'a-job', next_run: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect(said('ended')[0]).toMatchObject({ job: 'a-job', exit_code: 1 });
    const before = runs;
    await delay(1100);
    expect(runs).toBe(before);
  });

  test('skips a tick while the job still runs; at the end asks the job to stop, and waits for it', async () => {
    let running = 0;
    let most = 0;
    let cleanedUp = false;
    const { said, stop, ended } = daemon(async ({ signal }: JobContext) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      await delay(50);
      cleanedUp = true;
      throw new Stopped();
    });
    await until(() => said('skipped: the job is still running').length > 0);
    expect(said('skipped: the job is still running')).toHaveLength(1);
    stop();
    await ended;
    expect({ most, cleanedUp }).toEqual({ most: 1, cleanedUp: true });
    expect(said(new Stopped().message)[0]).toMatchObject({ level: 'info' });
  });

  test('goes on after a job that failed, and after one that found the warehouse busy', async () => {
    const errors = [new Error('a bug'), new BusyError('process 4711 is working on it')];
    const { said, stop, ended } = daemon(async () => {
      const error = errors.shift();
      if (error) throw error;
      return 0;
    });
    await until(() => said('ended').length > 0);
    stop();
    await ended;
    expect(said('failed; it runs again at its next time')).toMatchObject([
      { level: 'error', err: { message: 'a bug' } },
    ]);
    expect(said('process 4711 is working on it')).toMatchObject([{ level: 'warn' }]);
  });

  test('stays, and says so, where every job is switched off', async () => {
    let runs = 0;
    const { said, stop, ended } = daemon(async () => ++runs, null);
    expect(said('switched off')).toMatchObject([{ job: 'a-job' }]);
    expect(said('every job is switched off under `schedule`: nothing will run')).toHaveLength(1);
    stop();
    await ended;
    expect(runs).toBe(0);
  });
});
