import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { expect, onTestFinished, vi } from 'vitest';
import {
  type DaemonServiceOptions,
  readInOtherProcess,
  startDaemonService,
} from '../../../src/app/cli/serving/daemon-service.js';
import { JobBoard } from '../../../src/app/daemon/job-board.js';
import { createLogger } from '../../../src/base/observe/log.js';
import { DAY_MS } from '../../../src/base/time.js';
import { tableFile } from '../../../src/warehouse/log/folder/layout.js';
import { once, testAtLength } from '../../given/at-length.js';
import { run, start } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { holdOpen } from '../../given/holder.js';
import { buildWarehouse, configFor, sharedWarehouse } from '../../given/warehouse.js';

const built = sharedWarehouse(() => {
  const page = { url: 'https://shop.example/a', entry: { index_summary: 'Indexed' }, report: {} };
  const lists = { shop: [page], blog: [page] };
  return buildWarehouse([{ at: '2025-03-01T02:00:00Z', lists }]);
});

async function given(options: Partial<DaemonServiceOptions> = {}) {
  const logger = createLogger({ level: 'silent' });
  const board = new JobBoard(null, logger);
  const config = configFor({ baseUrl: 'http://127.0.0.1:9', warehouse: built.path });
  const address = { host: '127.0.0.1', port: 0 };
  const readMetrics = async () => 'figures 1\n';
  const service = await startDaemonService({
    config,
    logger,
    board,
    names: ['verify'],
    ...address,
    readMetrics,
    ...options,
  });
  onTestFinished(() => service.close());
  const get = async (path: string, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await fetch(`${service.url}${path}`, { headers });
    return { status: answer.status, text: await answer.text() };
  };
  return { board, get, warehouse: built.path };
}

once('reports when it is ready, how the jobs do, and figures, read once until a job changes them', async () => {
  let reads = 0;
  const { board, get } = await given({ readMetrics: async () => `figures ${++reads}\n` });
  expect(await get('/readyz')).toEqual({ status: 503, text: '{"status":"starting"}' });
  const next = new Date(Date.now() + 60_000);
  board.setNext('verify', next);
  expect((await get('/readyz')).status).toBe(200);
  expect((await get('/metrics')).text).toContain('figures 1\n');
  expect((await get('/metrics')).text).not.toContain('exit_code');
  await board.begun('verify');
  const running = (await get('/metrics')).text;
  expect(running).toContain('figures 2\n');
  expect(running).toContain('indexhouse_job_running{job="verify"} 1');
  await board.ended('verify', 3);
  await get('/metrics');
  expect((await get('/metrics')).text.split('\n')).toEqual(
    expect.arrayContaining(['figures 3', 'indexhouse_job_last_exit_code{job="verify"} 3']),
  );
  expect(JSON.parse((await get('/healthz')).text)).toMatchObject({
    status: 'warnings',
    jobs: [{ name: 'verify', is_running: false, exit_code: 3, next_at: next.toISOString() }],
  });
  board.setNext('verify', new Date(Date.now() - 3_600_000));
  expect((await get('/healthz')).status).toBe(503);
});

once('is not healthy while a run waits for the service, which is no reason to restart the daemon', async () => {
  const usual = configFor({ baseUrl: 'http://127.0.0.1:9', warehouse: built.path });
  const { board, get, warehouse } = await given({ config: { ...usual, status: { max_age: 0 } } });
  const waiting = { for: 'the service', error: '503', since: '2026-01-01T02:00:00Z', until: '2026-01-01T02:05:00Z' };
  const content = { started_at: '2026-01-01T02:00:00Z', waiting, stopped: null, clock: null, failed: {} };
  writeFileSync(join(warehouse, 'run.json'), JSON.stringify(content));
  onTestFinished(() => rmSync(join(warehouse, 'run.json')));
  await board.begun('verify');
  const { status, text } = await get('/healthz');
  expect([status, JSON.parse(text)]).toMatchObject([503, { status: 'waiting', waiting }]);
  expect(await get('/livez')).toEqual({ status: 200, text: '{"status":"ok"}' });
  await board.ended('verify', 0);
  expect(JSON.parse((await get('/healthz')).text)).toMatchObject({ status: 'warnings', stale: ['blog', 'shop'] });
  board.setNext('verify', new Date(Date.now() - 3_600_000));
  expect((await get('/livez')).status).toBe(503);
});

once(
  '/healthz starts with the last known verdict, waits only for the first, and says that a night is missed',
  async () => {
    const text = (sentence: string) =>
      `indexhouse_last_night_good 0\nindexhouse_last_night_info{sentence="${sentence}"} 1\n`;
    const reads = [text('First.'), text('Second.')];
    let isSlow = false;
    const readMetrics = async () => {
      if (isSlow) await delay(200);
      return reads.shift() ?? Promise.reject(new Error('no third one'));
    };
    const warehouse = join(temporaryFolder(), 'warehouse');
    const usual = configFor({ baseUrl: 'http://127.0.0.1:9', warehouse });
    // The ids of runs have the time at which they began.
    const id = uuidv7({ msecs: Date.now() - 3 * DAY_MS });
    const run = tableFile(warehouse, 'runs', { websiteId: 'shop', date: '2025-03-01', id });
    mkdirSync(dirname(run), { recursive: true });
    writeFileSync(run, '');
    const { board, get } = await given({ readMetrics, config: { ...usual, hasSchedule: true } });
    const health = async () => JSON.parse((await get('/healthz')).text);
    const first = await health();
    expect(Object.keys(first)[0]).toBe('last_night');
    expect(first).toMatchObject({
      last_night: { is_good: false, sentence: 'First.' },
      status: 'warnings',
      overdue: expect.stringMatching(/^no run since .* was due at .* by schedule.nightly-sync/),
    });
    isSlow = true;
    await board.begun('verify');
    expect((await health()).last_night.sentence).toBe('First.');
    await vi.waitFor(async () => expect((await health()).last_night.sentence).toBe('Second.'), 5000);
  },
);

once('figures that cannot be read stay what they were', async () => {
  const texts = ['figures 1\n'];
  const readMetrics = async () => texts.shift() ?? Promise.reject(new Error('no warehouse'));
  const { board, get } = await given({ readMetrics });
  await get('/metrics');
  await board.begun('verify');
  expect(await get('/metrics')).toEqual({ status: 200, text: expect.stringMatching(/^figures 1\n/) });
  expect(texts).toEqual([]);
});

once('beyond loopback the figures need a key that may read every website', async () => {
  const keyFor = async (label: string, websites: string[]) => {
    const flags = ['--label', label, '--website', ...websites, '--warehouse', built.path, '--json'];
    return JSON.parse((await run(['keys', 'add', ...flags])).stdout).token;
  };
  const { get } = await given({ host: '0.0.0.0' });
  const [all, shop] = [await keyFor('all', ['all']), await keyFor('shop', ['shop'])];
  expect((await get('/metrics')).status).toBe(401);
  expect((await get('/metrics', shop)).status).toBe(403);
  expect((await get('/metrics', all)).status).toBe(200);
  expect((await get('/livez')).status).toBe(200);
});

testAtLength('another process reads the figures, also while a sync holds the run lock', async () => {
  const config = writeConfig(temporaryFolder(), { sections: { warehouse: { path: built.path } } });
  const lock = join(built.path, 'run.lock.duckdb');
  await holdOpen(lock, 'READ_WRITE');
  const env = { PATH: process.env['PATH'] };
  const read = () => readInOtherProcess({ file: config }, { env, signal: new AbortController().signal });
  expect(await read()).toContain('indexhouse_running 1');
  const missing = { file: join(temporaryFolder(), 'none.yaml') };
  await expect(readInOtherProcess(missing, { env, signal: new AbortController().signal })).rejects.toThrow(
    'there is no such file',
  );
});

testAtLength('schedule --port serves them until it is stopped', async () => {
  const config = writeConfig(temporaryFolder(), { sections: { warehouse: { path: built.path } } });
  const daemon = start(['schedule', '--port', '0', '--config', config]);
  let url = '';
  while (url === '') {
    await delay(20);
    url = /"url":"([^"]+)"/.exec(daemon.logged())?.[1] ?? '';
  }
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toContain('indexhouse_snapshots{website_id="shop"');
  expect(metrics).toContain('indexhouse_job_running{job="nightly-sync"} 0');
  daemon.kill('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
});
