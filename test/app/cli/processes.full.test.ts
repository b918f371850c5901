import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { runProcess, start } from '../../given/cli.js';
import { reportCounts, startSimulator } from '../../given/client-clock.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { readTable } from '../../given/parquet.js';
import { findingsOf } from '../../given/verified.js';
import { buildWarehouse } from '../../given/warehouse.js';
import { startReceiver } from '../notify/given.js';

const CONCURRENCY = 2;

test('a daemon that is killed or stopped goes on with the night at each start, and notifies once', async () => {
  const signals = ['SIGKILL', 'SIGTERM', 'SIGKILL'] as const;
  const upstream = await startSimulator({ websites: [{ id: 'site-a', pages: 30 }], slowBodyMs: 200 });
  upstream.setFaults({ slow: 0.8, violation: 0.2 }, ['report']);
  const receiver = await startReceiver();
  const notify = { channels: [{ type: 'webhook', url: receiver.url }] };
  const configured = (cron: string, folder = temporaryFolder()) => {
    const sections = { api: { concurrency: CONCURRENCY }, schedule: { 'nightly-sync': cron }, notify };
    return writeConfig(folder, { baseUrl: upstream.url, websites: ['site-a'], sections });
  };
  // A field for seconds may stand before the five.
  const file = configured('* * * * * *');
  const warehouse = join(dirname(file), 'warehouse');
  for (const signal of signals) {
    const answered = upstream.requests.answered + 3;
    const daemon = start(['schedule', '--config', file]);
    while (upstream.requests.answered < answered) await delay(5);
    daemon.kill(signal);
    const { code, stderr } = await daemon.ended;
    if (signal === 'SIGTERM') expect([code, stderr]).toEqual([0, expect.stringContaining('waiting for running jobs')]);
    // From now on only what is unfinished is run.
    configured('0 0 29 2 *', dirname(file));
  }
  for (let again = 0; again < 2; again++) {
    const daemon = start(['schedule', '--config', file]);
    while (receiver.got.length === 0 || !daemon.logged().includes('next_run')) await delay(20);
    daemon.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
  }
  const answered = [...reportCounts(upstream).values()].map((count) => Math.max(0, count.answered - 1));
  expect(answered.reduce((sum, more) => sum + more, 0)).toBeLessThanOrEqual(signals.length * CONCURRENCY);
  expect(await readTable(warehouse, 'snapshots')).toMatchObject([{ resumed: true, listing_status: 'complete' }]);
  const notices = receiver.got.map(({ body }) => JSON.parse(body).notices.map(({ kind }: { kind: string }) => kind));
  expect(notices).toEqual([['rejects']]);
  expect(await findingsOf(warehouse)).toEqual([]);
});

test('query leaves nothing in the temporary folder where Ctrl-C ends it in the middle of an answer', async () => {
  const page = { url: 'https://shop.example/a' };
  const { path } = await buildWarehouse([{ at: '2025-03-01T02:00:00Z', lists: { shop: [page] } }]);
  const folder = temporaryFolder();
  const endless = 'select count(*) from range(1000000) as a, range(1000000) as b where a.range % 7 = b.range % 5';
  const asking = start(['query', '--sql', endless, '--warehouse', path], { env: { TMPDIR: folder } });
  await vi.waitFor(() => expect(readdirSync(folder)).toHaveLength(1), 30_000);
  asking.kill('SIGINT');
  expect(await asking.ended).toMatchObject({ signal: 'SIGINT', stdout: '' });
  expect(readdirSync(folder)).toEqual([]);
});

test('cron mails nothing after a good run, and one line of text for each cause after a failed one', async () => {
  const websites = ['w', 'v', 'u'];
  const simulator = await startSimulator({ websites: websites.map((id) => ({ id, pages: 3 })) });
  const sync = (token: string) => {
    const file = writeConfig(temporaryFolder(), { baseUrl: simulator.url, websites, token });
    return runProcess(['sync', '--log-level', 'warn', '--config', file]);
  };
  const [good, failed] = await Promise.all([sync('demo-token'), sync('another-token')]);
  expect([good.code, good.stderr]).toEqual([0, '']);
  expect(failed.code).toBe(1);
  expect(failed.stderr).toMatch(
    /^\[[\d:]+\] ERROR: w, v, u: the last run got no snapshot: the service answered 401 .*check api\.token .*\n$/,
  );
});
