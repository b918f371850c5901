import { execFile } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { LastNight } from '../../../answers/status/last-night.js';
import { figuresOf, type Gauges, lastNightIn, metricsText } from '../../../answers/status/metrics.js';
import { agesIn } from '../../../answers/status/status-input.js';
import type { Config } from '../../../base/config/schema.js';
import { EXIT, Failure, messageOf } from '../../../base/exit.js';
import type { Logger } from '../../../base/observe/log.js';
import { packageFolder } from '../../../base/storage/sql.js';
import { MINUTE_MS } from '../../../base/time.js';
import { isLoopback } from '../../../serve/api/addresses.js';
import { presentedKey, readableBy } from '../../../serve/api/admission.js';
import { ServiceError } from '../../../serve/api/errors.js';
import { refuseOtherHosts } from '../../../serve/api/hosts.js';
import { plainServer } from '../../../serve/api/http.js';
import { errorLog } from '../../../serve/api/request-log.js';
import { readKeys } from '../../../serve/keys/key-file.js';
import { LiveKeys } from '../../../serve/keys/live-keys.js';
import { TOKENS } from '../../../serve/keys/token.js';
import { readRunFile, type Waiting } from '../../../warehouse/journal/run-file.js';
import { warehouseFolder, websitesIn } from '../../../warehouse/log/folder/layout.js';
import type { JobBoard, JobFigures } from '../../daemon/job-board.js';
import { addMetrics, drained, known, listen, remembered } from './http-server.js';

/** Monitoring asks often, and each verdict takes a process. */
const VERDICT_FOR_MS = 10 * MINUTE_MS;
const STATUS_LIMIT_MS = 2 * MINUTE_MS;
const STATUS_BYTES = 64 * 1024 * 1024;
/** What `execFile` rejects with. */
const endOfProcess = z.looseObject({
  code: z.unknown(),
  stdout: z.string().default(''),
  stderr: z.string().default(''),
});
/** If a job has not started this long after its time, the daemon hangs: it checks the clock every ten minutes. */
const LATE_MS = 15 * MINUTE_MS;

/** Gauges of each job, which come after those of the warehouse. */
const OF_A_JOB: Gauges<JobFigures> = {
  job_running: ['Whether the job is running.', ({ isRunning }) => isRunning],
  job_last_begun_timestamp_seconds: [
    'When the job last started.',
    ({ last }) => last && Date.parse(last.begun_at) / 1000,
  ],
  job_last_duration_seconds: [
    'Duration of the last run of the job that ended.',
    ({ last }) => (last?.ended_at ? (Date.parse(last.ended_at) - Date.parse(last.begun_at)) / 1000 : null),
  ],
  job_last_exit_code: ['Exit code of the last run of the job that ended.', ({ last }) => last?.exit_code],
  job_next_timestamp_seconds: ['When the job runs next.', ({ next }) => next && next.getTime() / 1000],
};

export interface DaemonServiceOptions {
  config: Config;
  logger: Logger;
  board: JobBoard;
  /** The jobs that are switched on. */
  names: readonly string[];
  host: string;
  port: number;
  /** The warehouse's figures in Prometheus' text format. Tests replace the process that reads them. */
  readMetrics: () => Promise<string>;
}

/**
 * Serves `/healthz`, `/readyz` and `/metrics` of the daemon until it is closed. Except on loopback, `/metrics` needs a
 * key that may read every website of the warehouse.
 *
 * @throws Failure if it cannot listen on the address
 */
export async function startDaemonService(options: DaemonServiceOptions) {
  const { config, logger, board, names, host } = options;
  const figures = () => names.map((name) => board.figuresOf(name));
  const admit = isLoopback(host) ? async () => {} : await admission(options);
  // The figures change when a job starts or ends.
  const stamp = () => JSON.stringify(figures().map(({ last }) => last));
  const ofWarehouse = remembered(MINUTE_MS, lastKnown(options), stamp);
  const lastNight = known(remembered(VERDICT_FOR_MS, async () => lastNightIn(await ofWarehouse()), stamp));
  const app = plainServer({
    onError: errorLog(logger, TOKENS),
    setup: (server) => {
      refuseOtherHosts(server, { listensOn: host, allowed: config.service.allowed_hosts });
      addHealth(server, { figures, lastNight, config });
      addMetrics(server, '/metrics', async (request) => {
        await admit(request);
        const jobs = figures().map((job) => [{ job: job.name }, job] as const);
        return `${await ofWarehouse()}${await metricsText(figuresOf(OF_A_JOB, jobs))}`;
      });
    },
  });
  const url = await listen(app, options);
  logger.info({ url }, 'serving /healthz, /readyz and /metrics');
  return {
    url,
    close: async (): Promise<void> => {
      await drained(app, () => {});
      await app.close();
    },
  };
}

/**
 * Adds `/livez`, a 503 if the daemon hangs; `/readyz`, a 200 once every job has its next time; and `/healthz`, a 200 only
 * if the daemon does not hang, every job's last run ended well, no run waits, no night is missed, and no snapshot is old.
 */
function addHealth(
  server: FastifyInstance,
  { figures, lastNight, config }: { figures: () => JobFigures[]; lastNight: () => Promise<LastNight>; config: Config },
): void {
  const isLate = () => figures().some(({ next }) => next !== null && Date.now() - next.getTime() > LATE_MS);
  server.get('/livez', async (_, reply) => {
    reply.header('cache-control', 'no-store').code(isLate() ? 503 : 200);
    return { status: isLate() ? 'late' : 'ok' };
  });
  server.get('/healthz', async (_, reply) => {
    const jobs = figures();
    const waiting = jobs.some(({ isRunning }) => isRunning) ? await waitingIn(config) : null;
    const ages = await agesIn(config, Date.now());
    const overdue = jobs.some(({ isRunning }) => isRunning) ? null : ages.overdue;
    const status = isLate() ? 'late' : healthOf(jobs, waiting !== null, ages.stale.length > 0 || overdue !== null);
    reply.header('cache-control', 'no-store').code(status === 'ok' ? 200 : 503);
    const last_night = await lastNight();
    return { last_night, status, ...(waiting ? { waiting } : {}), overdue, stale: ages.stale, jobs: jobs.map(jobOf) };
  });
  server.get('/readyz', async (_, reply) => {
    const isReady = figures().every(({ next }) => next !== null);
    reply.header('cache-control', 'no-store').code(isReady ? 200 : 503);
    return { status: isReady ? 'ready' : 'starting' };
  });
}

function healthOf(jobs: readonly JobFigures[], isWaiting: boolean, isStale: boolean): string {
  const codes = jobs.map(({ last }) => last?.exit_code ?? 0);
  const wasKilled = jobs.some(({ isRunning, last }) => !isRunning && last !== null && last.ended_at === null);
  if (isWaiting) return 'waiting';
  if (wasKilled || codes.some((code) => code === EXIT.failed || code === EXIT.usage)) return 'failed';
  return codes.some((code) => code !== EXIT.done) || isStale ? 'warnings' : 'ok';
}

async function waitingIn({ warehouse }: Config): Promise<Waiting | null> {
  return (await readRunFile(warehouseFolder(warehouse.path).run))?.waiting ?? null;
}

function jobOf({ name, isRunning, last, next }: JobFigures) {
  return {
    name,
    is_running: isRunning,
    ...(last ?? { begun_at: null, ended_at: null, exit_code: null }),
    next_at: next,
  };
}

/** Checks that a request has a key that may read every website. The check throws ServiceError: 401, 403. */
async function admission({ config, logger, host }: DaemonServiceOptions) {
  const { path } = config.warehouse;
  if ((await readKeys(path)).length === 0) {
    logger.warn(
      `${host} can be reached from other machines: /metrics needs a key, and \`indexhouse keys add\` made none yet`,
    );
  }
  const keys = new LiveKeys(path, async () => (await websitesIn(path)).map((id) => ({ id, name: id })));
  return async (request: FastifyRequest): Promise<void> => {
    const readable = readableBy(await presentedKey(request, { findKey: (token) => keys.find(token) }));
    if ((await websitesIn(path)).every((id) => readable.includes(id))) return;
    throw new ServiceError(403, 'These metrics cover all websites, and this key does not have access to all of them.');
  };
}

/** Reads the figures; if that fails, returns the last ones, whose age `checked_timestamp_seconds` shows. */
function lastKnown({ readMetrics, logger }: DaemonServiceOptions): () => Promise<string> {
  let last = '';
  let logged: string | null = null;
  return async () => {
    try {
      last = await readMetrics();
      logged = null;
    } catch (error) {
      const reason = messageOf(error);
      // Logged once, because Prometheus scrapes every minute.
      if (reason !== logged) logger.warn(`cannot read the figures for /metrics: ${reason}`);
      logged = reason;
    }
    return last;
  };
}

/**
 * Reads the figures in another process of lower priority. That does not block this one, and it may probe the run lock,
 * which a probe by this process would release.
 */
export async function readInOtherProcess(
  { file }: Pick<Config, 'file'>,
  { env, signal }: { env: Readonly<Record<string, string | undefined>>; signal: AbortSignal },
): Promise<string> {
  const program = join(packageFolder(), 'dist', 'src', 'app', 'cli', 'indexhouse.cjs');
  const args = [program, 'status', '--metrics', '--config', file, '--log-level', 'error'];
  const limits = { timeout: STATUS_LIMIT_MS, maxBuffer: STATUS_BYTES, signal };
  const running = promisify(execFile)(process.execPath, args, { env: { ...env }, ...limits });
  try {
    setPriority(running.child.pid ?? 0, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The process may have ended already.
  }
  try {
    return (await running).stdout;
  } catch (error) {
    const { code, stdout, stderr } = endOfProcess.parse(error);
    // Also the exit codes of what they show.
    if (code === EXIT.warnings || (code === EXIT.failed && stdout !== '')) return stdout;
    throw new Failure(stderr.trim() || messageOf(error), { cause: error });
  }
}
