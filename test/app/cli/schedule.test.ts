import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import type { Simulator } from '../../../src/app/demo/simulator/simulator.js';
import { warehouseFolder } from '../../../src/warehouse/log/folder/layout.js';
import { RunLock } from '../../../src/warehouse/log/lock.js';
import { once, testAtLength } from '../../given/at-length.js';
import { run, start } from '../../given/cli.js';
import { reportCounts, startSimulator } from '../../given/client-clock.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { holdOpen } from '../../given/holder.js';
import { readTable } from '../../given/parquet.js';
import { findingsOf } from '../../given/verified.js';
import { startReceiver } from '../notify/given.js';

const PAGES = 30;
const CONCURRENCY = 2;
/** A field for seconds may stand before the five. */
const EVERY_SECOND = '* * * * * *';

async function service(slowBodyMs = 100): Promise<Simulator> {
  const websites = [{ id: 'site-a', pages: PAGES }];
  const started = await startSimulator({ websites, slowBodyMs });
  return started;
}

function configured(baseUrl: string, schedule: object = {}, others: object = {}, folder = temporaryFolder()) {
  const sections = { api: { concurrency: CONCURRENCY }, schedule, ...others };
  const file = writeConfig(folder, { baseUrl, websites: ['site-a'], sections });
  return { file, warehouse: join(folder, 'warehouse') };
}

/** The URLs of the reports that the only unfinished journal holds. */
function journaledReports(warehouse: string): string[] {
  const runs = join(warehouse, 'runs');
  const names = readdirSync(runs, { recursive: true, encoding: 'utf8' });
  const journals = names.filter((name) => name.endsWith('reports.ndjson'));
  const text = journals.map((name) => readFileSync(join(runs, name), 'utf8')).join('');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [String(JSON.parse(line).url)]));
}

describe('indexhouse schedule', () => {
  testAtLength('syncs on its time; SIGTERM in the middle leaves a journal that the next sync finishes', async () => {
    const upstream = await service();
    upstream.setFaults({ slow: 1 }, ['report']);
    const { file, warehouse } = configured(upstream.url, { 'nightly-sync': EVERY_SECOND });
    const daemon = start(['schedule', '--config', file]);
    while (upstream.requests.answered < 6) await delay(10);
    daemon.kill('SIGTERM');
    const { code, stderr } = await daemon.ended;
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('"next_run"') });
    expect(stderr).toContain('waiting for running jobs');
    const journaled = journaledReports(warehouse);
    expect(journaled.length).toBeGreaterThanOrEqual(5 - CONCURRENCY);
    expect(journaled.length).toBeLessThan(PAGES);

    upstream.setFaults({});
    const synced = await run(['sync', '--config', file, '--json']);
    expect(synced.code).toBe(0);
    const reports = reportCounts(upstream);
    expect(journaled.map((url) => reports.get(url)?.attempted)).toEqual(journaled.map(() => 1));
    expect(reports.size).toBe(PAGES);
    expect(await readTable(warehouse, 'url_reports')).toHaveLength(PAGES);
    expect(await readTable(warehouse, 'snapshots')).toMatchObject([{ resumed: true, reports_status: 'complete' }]);
  });

  testAtLength('killed again and again, it goes on with the night at each start, and notifies once', async () => {
    const kills = 5;
    const upstream = await service(200);
    upstream.setFaults({ slow: 0.8, violation: 0.2 }, ['report']);
    const receiver = await startReceiver();
    const notify = { channels: [{ type: 'webhook', url: receiver.url }] };
    const { file, warehouse } = configured(upstream.url, { 'nightly-sync': EVERY_SECOND }, { notify });
    for (let kill = 0; kill < kills; kill++) {
      const answered = upstream.requests.answered + 3;
      const daemon = start(['schedule', '--config', file]);
      while (upstream.requests.answered < answered) await delay(5);
      daemon.kill('SIGKILL');
      await daemon.ended;
      // From now on only what is unfinished is run.
      configured(upstream.url, { 'nightly-sync': '0 0 29 2 *' }, { notify }, dirname(file));
    }
    for (let again = 0; again < 2; again++) {
      const daemon = start(['schedule', '--config', file]);
      while (receiver.got.length === 0 || !daemon.logged().includes('next_run')) await delay(20);
      daemon.kill('SIGTERM');
      expect((await daemon.ended).code).toBe(0);
    }
    const twice = [...reportCounts(upstream).values()].reduce(
      (sum, { answered }) => sum + Math.max(0, answered - 1),
      0,
    );
    expect(twice).toBeLessThanOrEqual(kills * CONCURRENCY);
    expect(await readTable(warehouse, 'snapshots')).toMatchObject([{ resumed: true, listing_status: 'complete' }]);
    expect(receiver.got.map(({ body }) => JSON.parse(body).notices.map(({ kind }: { kind: string }) => kind))).toEqual([
      ['rejects'],
    ]);
    expect(await findingsOf(warehouse)).toEqual([]);
  });

  once('--once runs a job now and exits with its exit code', async () => {
    const upstream = await service();
    const { file, warehouse } = configured(upstream.url, { 'nightly-sync': false });
    expect(await run(['schedule', '--once', 'nightly-sync', '--config', file])).toMatchObject({ code: 0, stdout: '' });
    expect(await readTable(warehouse, 'snapshots')).toHaveLength(1);
    await holdOpen(join(warehouse, 'run.lock.duckdb'), 'READ_WRITE');
    expect(await run(['schedule', '--once', 'nightly-sync', '--config', file])).toMatchObject({ code: 4 });
  });

  once('runs until it is asked to stop', async () => {
    const stop = new AbortController();
    const { file } = configured('http://127.0.0.1:1');
    const daemon = run(['schedule', '--config', file], { signal: stop.signal });
    stop.abort();
    expect(await daemon).toMatchObject({ code: 0, stderr: expect.stringContaining('"next_run"') });
  });

  once('a second one over the same warehouse exits with 4', async () => {
    const { file, warehouse } = configured('http://127.0.0.1:1');
    mkdirSync(warehouse);
    const first = await RunLock.take(warehouse, 'a daemon', warehouseFolder(warehouse).scheduleLock);
    const second = () => run(['schedule', '--config', file], { signal: AbortSignal.abort() });
    const refused = expect.stringContaining('a second `indexhouse schedule` cannot start');
    expect(await second()).toMatchObject({ code: 4, stderr: refused });
    first.release();
    expect(await second()).toMatchObject({ code: 0 });
  });

  once('a job that does not exist is a usage error that lists the jobs', async () => {
    const { file } = configured('http://127.0.0.1:1');
    expect(await run(['schedule', '--once', 'backup', '--config', file])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('nightly-sync, maintain, verify, report'),
    });
  });
});
