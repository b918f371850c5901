import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Found, readFound, type StatusInput } from '../../../src/answers/status/found.js';
import { metricsOf } from '../../../src/answers/status/metrics.js';
import { overdueText } from '../../../src/answers/status/overdue.js';
import { causesOf, judged, readStatus } from '../../../src/answers/status/status.js';
import { STATUS_DEFAULTS } from '../../../src/answers/status/status-input.js';
import { Stopped } from '../../../src/base/exit.js';
import { createLogger } from '../../../src/base/observe/log.js';
import { DAY_MS, HOUR_MS } from '../../../src/base/time.js';
import { unfinishedJournals } from '../../../src/warehouse/journal/folder.js';
import { RunFile } from '../../../src/warehouse/journal/run-file.js';
import { warehouseFolder } from '../../../src/warehouse/log/folder/layout.js';
import { run } from '../../given/cli.js';
import { startSimulator } from '../../given/client-clock.js';
import { writeConfig } from '../../given/config-file.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { holdOpen } from '../../given/holder.js';
import { syncNow } from '../../given/synced.js';
import { buildWarehouse, syncNights } from '../../given/warehouse.js';

const NIGHTS = ['2026-03-01T02:00:00Z', '2026-03-02T02:00:10Z', '2026-03-03T02:01:00Z'];
const [, , LAST = ''] = NIGHTS;
const NOW = Date.parse(LAST) + 5 * HOUR_MS;
const YEAR = { maxAge: 365 * DAY_MS };
const logger = createLogger({ level: 'silent' });
const nightOf = (at: string) => ({
  at,
  lists: {
    w: ['Submitted and indexed', 'a new state', 'another "new"\n} 1', null].map((state, page) => ({
      url: `https://w.example/a/${page}`,
      entry: { index_summary: page === 0 ? 'Indexed' : 'Not Indexed', index_coverage_state: state },
    })),
  },
});

let path: string;
let found: Found;

const inputOf = (warehouse: string, more: Partial<StatusInput> = {}): StatusInput => ({
  ...{ ...STATUS_DEFAULTS, ...YEAR, warehouse, websites: [{ id: 'w', name: 'Shop' }], now: NOW, ...more },
});

beforeAll(async () => {
  path = (await buildWarehouse(NIGHTS.map(nightOf), 'followed')).path;
  const before = readdirSync(path, { recursive: true }).sort();
  found = await readFound(inputOf(path));
  expect(readdirSync(path, { recursive: true }).sort()).toEqual(before);
});

describe('status', () => {
  test('after a good run shows freshness and completeness', () => {
    const upToDate = { behind: 0, exact: true, held: null, error: null };
    expect(judged(found, YEAR)).toMatchObject({
      ...{ running: null, unfinished: [], warnings: [], exit_code: 0 },
      followers: [
        { name: 'duckdb', ...upToDate },
        { name: 'analytics', ...upToDate },
      ],
      websites: [{ website_id: 'w', website_name: 'Shop', is_configured: true, snapshots: 3, pages: { monitored: 4 } }],
      last_night: {
        is_good: true,
        sentence: expect.stringMatching(/^Last night was good: 1 of 1 website, 02:0\d–02:0\d UTC\.$/),
      },
    });
    expect(found.websites[0]?.last_snapshot?.age_seconds).toBeGreaterThan(4 * 3600);
    expect(judged(found, { maxAge: HOUR_MS }).warnings).toEqual([
      expect.stringMatching(/^Shop: the last snapshot is .* old, more than 1h; check that `indexhouse sync` runs$/),
    ]);
  });

  test('names the websites without a snapshot and a full disk, and does not warn of one that is not configured', async () => {
    const empty = await readStatus(inputOf(temporaryFolder()));
    expect(empty.warnings).toEqual(['Shop: no snapshot yet; run `indexhouse sync`']);
    expect(empty.last_night).toEqual({ is_good: null, sentence: expect.stringMatching(/^No snapshots yet\./) });
    const full = await readStatus(inputOf(temporaryFolder(), { diskOf: async () => ({ free: 1, reserve: 2 }) }));
    const sentence = 'Last night needs attention: 1 of 1 website (1 missing snapshot); 1 full disk.';
    expect(full).toMatchObject({ exit_code: 3, last_night: { sentence } });
    const other = await readStatus(inputOf(path, { websites: [{ id: 'other', name: null }], maxAge: 1 }));
    expect(other.warnings).toEqual(['other: no snapshot yet; run `indexhouse sync`']);
  });

  test('says that a night is missed by the rhythm of the last three, or by schedule, once it is two hours late', async () => {
    const nights = NIGHTS.map((at) => Date.parse(at));
    const late = (hours: number, cron: string | null, begun = nights) => {
      const schedule = cron === null ? null : { cron, timeZone: 'Europe/Berlin' };
      return overdueText(begun, { due: { schedule }, now: Date.parse('2026-03-04T02:00:00Z') + hours * HOUR_MS });
    };
    expect([late(1.9, null), late(1.9, '0 3 * * *'), late(2.1, '0 3 * * 1')]).toEqual([null, null, null]);
    expect(late(2.1, null)).toMatch(
      /^no run since .* was due at .* by the rhythm of the last nights, 2h .* ago; check/,
    );
    // 03:00 in Berlin is 02:00 UTC.
    expect(late(2.1, '0 3 * * *')).toMatch(/by schedule.nightly-sync/);
    // A run that got nothing is no missed night, and three tries of one night are no rhythm.
    expect(late(5, '0 3 * * *', [...nights, Date.parse('2026-03-04T02:00:00Z')])).toBeNull();
    const tries = [0, 20, 40].map((minutes) => Date.parse(LAST) + minutes * 60_000);
    expect(late(20, null, tries)).toBeNull();
    // While the daemon runs, its schedule counts, also if the configuration has none.
    const due = { schedule: null, ofDaemon: { cron: '0 3 * * *', timeZone: 'Europe/Berlin' } };
    const input = inputOf(path, { due, followers: async () => [], now: Date.parse('2026-03-05T04:06:00Z') });
    await holdOpen(warehouseFolder(path).scheduleLock, 'READ_WRITE');
    expect(await readStatus(input)).toMatchObject({
      exit_code: 3,
      last_night: { is_good: false, sentence: 'Last night needs attention: 1 missed night.' },
      overdue: expect.stringMatching(/by schedule.nightly-sync/),
    });
  });

  test('is bad after a run that could record nothing, on a full disk or killed at once', async () => {
    const copy = copyOf(path);
    const { run: file } = warehouseFolder(copy);
    const status = () => readStatus(inputOf(copy, { followers: async () => [] }));
    const full = {
      run_id: '',
      get error(): string {
        throw new Error('ENOSPC: no space left on device, write');
      },
    };
    await (await RunFile.begin(file, logger, Date.now())).ends({}, { w: full });
    const unrecorded = expect.stringContaining('it was killed, or the disk is full');
    expect(await status()).toMatchObject({ exit_code: 3, last_night: { is_good: false }, unrecorded });
    const killed = await RunFile.begin(file, logger, Date.now());
    expect((await status()).exit_code).toBe(3);
    await killed.ends({}, {});
    expect((await status()).exit_code).toBe(0);
  });

  test('during a run says how far it is, and misses no website', async () => {
    const copy = copyOf(path);
    const { run: file, lock } = warehouseFolder(copy);
    const websites = ['w', 'v'].map((id) => ({ id, name: null }));
    await holdOpen(lock, 'READ_WRITE');
    const progress = async (begun: string) => {
      await RunFile.begin(file, logger, Date.parse(begun));
      return readStatus(inputOf(copy, { websites, followers: async () => [] }));
    };
    const before = await progress('2026-03-04T02:00:00Z');
    expect(before.last_night.sentence).toBe('A run is in progress, done so far: none of 2 websites.');
    const now = await progress('2026-03-03T02:00:50Z');
    const sentence = 'A run is in progress, done so far: 1 of 2 websites.';
    expect(now).toMatchObject({ exit_code: 0, warnings: [], last_night: { is_good: null, sentence } });
    const figures = await metricsOf(now);
    expect(figures).toContain('indexhouse_exit_code 0\n');
    expect(figures).not.toContain('indexhouse_last_night_good');
    const old = `${sentence} Needs attention: 1 of 2 websites (1 old snapshot).`;
    expect(judged(now, { maxAge: 1 }).last_night).toEqual({ is_good: false, sentence: old });
  });

  test('shows how far an unfinished run is, why, and whether somebody works on it', async () => {
    const service = await startSimulator({ websites: [{ id: 'w', pages: 40 }] });
    const folder = temporaryFolder();
    const warehouse = join(folder, 'warehouse');
    const config = writeConfig(folder, { baseUrl: service.url, websites: ['w'] });
    await expect(syncNow(config, { stopAfter: { reports: 10 } })).rejects.toThrow(Stopped);
    const statusAt = (now = Date.now()) => readStatus(inputOf(warehouse, { now, followers: async () => [] }));
    const { unfinished, warnings } = await statusAt();
    expect(unfinished).toMatchObject([
      { website_id: 'w', stage: 'reports', reports_planned: 40, in_progress: false, resumable: true, error: null },
    ]);
    expect(unfinished[0]?.reports_done).toBeGreaterThanOrEqual(10);
    expect(warnings).toEqual([
      expect.stringContaining('because it was stopped by a signal; the next `indexhouse sync`'),
    ]);
    expect((await statusAt(Date.now() + 7 * HOUR_MS)).warnings[0]).toContain('too old to resume');

    const { run: runFile, lock } = warehouseFolder(warehouse);
    const left = JSON.parse(readFileSync(runFile, 'utf8'));
    const [journal] = await unfinishedJournals(warehouse);
    const { path: journalPath = '', runId } = journal ?? {};
    const whyWith = async (content: object) => {
      writeFileSync(runFile, JSON.stringify({ ...left, ...content }));
      return (await statusAt()).unfinished.map(({ stopped }) => stopped);
    };
    const full = { w: { run_id: runId, error: 'ENOSPC: no space left on device, write' } };
    expect(await whyWith({ failed: full })).toEqual(['the disk was full']);
    expect(await whyWith({ stopped: null })).toEqual(['its process was killed or crashed']);
    for (const name of readdirSync(journalPath)) utimesSync(join(journalPath, name), 1e9, 1e9);
    expect(await whyWith({ stopped: null })).toEqual(['the machine was restarted']);

    const holder = await holdOpen(lock, 'READ_WRITE');
    const waiting = { for: 'the service', error: 'it answered 503', since: left.started_at, until: left.started_at };
    expect(await whyWith({ waiting })).toEqual([null]);
    const running = await statusAt();
    expect(running).toMatchObject({ exit_code: 3, waiting, running: { process_id: holder.pid, access: 'write' } });
    expect(running.warnings).toEqual([
      expect.stringMatching(/^the run waits for the service since .* \(it answered 503\)/),
    ]);
    const since = Date.parse(waiting.since) / 1000;
    expect(await metricsOf(running)).toContain(`indexhouse_waiting_since_timestamp_seconds ${since}`);
  });
});

test('status --metrics prints what the newest run did and what failed, with labels that the service cannot break', async () => {
  const { stdout } = await run(['status', '--metrics', '--warehouse', path]);
  const lines = stdout.split('\n');
  const label = '{website_id="w",website="https://w.example"}';
  expect(lines).toEqual(
    expect.arrayContaining([
      `indexhouse_snapshots${label} 3`,
      `indexhouse_pages_listed${label} 4`,
      `indexhouse_last_run_success${label} 1`,
      'indexhouse_follower_behind{follower="duckdb"} 0',
      'indexhouse_warnings 1',
      'indexhouse_last_night_good 0',
    ]),
  );
  // A gauge of which nothing is known is left out, not 0.
  expect(lines.join()).not.toContain('indexhouse_quarantine_records ');
  const pages = (verdict: string, state: string, count: number) =>
    `indexhouse_pages{website_id="w",website="https://w.example",verdict="${verdict}",state="${state}"} ${count}`;
  expect(lines.filter((line) => line.startsWith('indexhouse_pages{')).sort()).toEqual([
    pages('Indexed', 'Submitted and indexed', 1),
    pages('Not Indexed', 'none', 1),
    pages('Not Indexed', 'other', 2),
  ]);
  const failed = { ...found, failed: { w: { run_id: 'z', error: 'unauthorized' } } };
  expect(await metricsOf(judged(failed, YEAR))).toMatch(/^indexhouse_exit_code 1$/m);
});

test('status shows how far indexhouse.duckdb is behind and who holds it', async () => {
  await syncNights(path, [nightOf('2026-03-03T04:00:00Z')]);
  const writer = await holdOpen(join(path, 'indexhouse.duckdb'), 'READ_WRITE');
  const held = await readStatus(inputOf(path));
  expect(held.followers).toMatchObject([
    { name: 'duckdb', behind: 1, exact: false, held: { process_id: writer.pid, access: 'write' } },
    { name: 'analytics', behind: 0 },
  ]);
  expect(held.warnings).toEqual([expect.stringContaining(`process ${writer.pid}`)]);
  await writer.release();
  expect((await readFound(inputOf(path))).followers[0]).toMatchObject({ behind: 1, exact: true, held: null });
});

test('websites with the same cause share a sentence, and of many causes the first are spelled out', () => {
  const of = (website: string, message: string) => ({
    ...{ kind: 'partial' as const, website_id: `id-${website}`, website, message },
  });
  const same = Array.from({ length: 200 }, (_, at) => of(`w${at}`, 'the service answered 500'));
  expect(causesOf(same)).toEqual(['w0, w1, w2, w3, w4 and 195 more: the service answered 500']);
  const own = Array.from({ length: 30 }, (_, at) => of(`w${at}`, `sitemap ${at} is gone`));
  const more = 'and 25 partial listings more; `indexhouse status --verbose` lists them';
  expect(causesOf(own).slice(4)).toEqual(['w4: sitemap 4 is gone', more]);
});
