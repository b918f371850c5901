import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../src/answers/status/findings.js';
import { causesOf } from '../../../src/answers/status/last-night.js';
import { metricsOf } from '../../../src/answers/status/metrics.js';
import { nightsOf, overdueText } from '../../../src/answers/status/overdue.js';
import { readStatus } from '../../../src/answers/status/status.js';
import { STATUS_DEFAULTS } from '../../../src/answers/status/status-input.js';
import { createLogger } from '../../../src/base/observe/log.js';
import { DAY_MS, HOUR_MS } from '../../../src/base/time.js';
import { journalFolder } from '../../../src/warehouse/journal/folder.js';
import { writeHeader } from '../../../src/warehouse/journal/header.js';
import { RunFile } from '../../../src/warehouse/journal/run-file.js';
import { warehouseFolder } from '../../../src/warehouse/log/folder/layout.js';
import { temporaryFolder } from '../../given/folder.js';
import { holdOpen } from '../../given/holder.js';
import { buildWarehouse } from '../../given/warehouse.js';

const NIGHTS = ['2026-03-01T02:00:00Z', '2026-03-02T02:00:10Z', '2026-03-03T02:01:00Z'];
const HOUR = (at: string, hours: number) => Date.parse(at) + hours * HOUR_MS;

async function statusesOf(times: readonly string[]) {
  const built = await buildWarehouse(times.map((at) => ({ at, lists: { w: [{ url: 'https://w.example/a' }] } })));
  const websites = [{ id: 'w', name: 'Shop' }];
  const given = {
    ...STATUS_DEFAULTS,
    warehouse: built.path,
    websites,
    followers: async () => [],
    maxAge: 365 * DAY_MS,
  };
  return (now: number, cron?: string) => {
    const schedule = cron ? { cron, timeZone: 'Europe/Berlin' } : null;
    return readStatus({ ...given, now, due: { schedule } });
  };
}

describe('the verdict on the last night', () => {
  it('is one sentence with the time of the night, and its date once that is long ago', async () => {
    const statusAt = await statusesOf(NIGHTS);
    const { last_night, exit_code } = await statusAt(HOUR('2026-03-03T02:01:00Z', 5));
    expect(exit_code).toBe(0);
    expect(last_night).toEqual({
      is_good: true,
      sentence: expect.stringMatching(/^Last night was good: 1 of 1 website, 02:0\d–02:0\d UTC\.$/),
    });
    const later = await (await statusesOf(NIGHTS.slice(0, 2)))(HOUR('2026-03-03T02:00:00Z', 5));
    expect(later.last_night.sentence).toMatch(/^Last night was good: 1 of 1 website, 2026-03-02 02:0\d–02:0\d UTC\.$/);
  });

  it('misses a night by the rhythm of the last three, or by the schedule, once it is two hours late', async () => {
    const statusAt = await statusesOf(NIGHTS);
    expect((await statusAt(HOUR('2026-03-04T02:00:00Z', 1.9))).overdue).toBeNull();
    const missed = await statusAt(HOUR('2026-03-04T02:00:00Z', 2.1));
    expect(missed).toMatchObject({
      exit_code: 3,
      last_night: { is_good: false, sentence: 'Last night needs attention: 1 missed night.' },
      overdue: expect.stringMatching(
        /^no run since .* was due at .* by the rhythm of the last nights, 2h .* ago; check/,
      ),
    });
    // 03:00 in Berlin is 02:00 UTC.
    expect((await statusAt(HOUR('2026-03-04T02:00:00Z', 1.9), '0 3 * * *')).overdue).toBeNull();
    expect((await statusAt(HOUR('2026-03-04T02:00:00Z', 2.1), '0 3 * * *')).overdue).toMatch(
      /by schedule.nightly-sync/,
    );
    expect((await statusAt(HOUR('2026-03-04T02:00:00Z', 2.1), '0 3 * * 1')).overdue).toBeNull();
    // While the daemon runs, its schedule counts, also if the configuration has none.
    const { warehouse } = await statusAt(0);
    const due = { schedule: null, ofDaemon: { cron: '0 3 * * *', timeZone: 'Europe/Berlin' } };
    const input = { ...STATUS_DEFAULTS, warehouse, now: HOUR('2026-03-05T02:00:00Z', 2.1), due };
    expect((await readStatus(input)).overdue).toMatch(/by the rhythm/);
    const daemon = await holdOpen(warehouseFolder(warehouse).scheduleLock, 'READ_WRITE');
    expect((await readStatus(input)).overdue).toMatch(/by schedule.nightly-sync/);
    await daemon.release();
    // A run that got nothing is no missed night.
    const [website] = (await statusAt(0)).websites;
    if (!website?.last_run) throw new Error('no run');
    const failed = { ...website, last_run: { ...website.last_run, run_id: 'r', started_at: '2026-03-04T02:00:00Z' } };
    const now = HOUR('2026-03-04T02:00:00Z', 5);
    expect(overdueText(nightsOf([], [failed]), { due: { ...due, schedule: due.ofDaemon }, now })).toBeNull();
    const tried = await statusesOf(['2026-03-01T02:00:00Z', '2026-03-01T02:20:00Z', '2026-03-01T02:40:00Z']);
    expect((await tried(HOUR('2026-03-01T02:00:00Z', 20))).overdue).toBeNull();
  });

  it('is bad after a run that could record nothing, on a full disk or killed at once', async () => {
    const statusAt = await statusesOf(NIGHTS);
    const { warehouse } = await statusAt(HOUR('2026-03-03T02:01:00Z', 5));
    const file = join(warehouse, 'run.json');
    const logger = createLogger({ destination: { write: () => {} } });
    const status = () => statusAt(HOUR('2026-03-03T02:01:00Z', 5));
    await (await RunFile.begin(file, logger, Date.now())).ends({}, {});
    expect((await status()).exit_code).toBe(0);
    const full = {
      run_id: '',
      get error(): string {
        throw new Error('ENOSPC: no space left on device, write');
      },
    };
    await (await RunFile.begin(file, logger, Date.now())).ends({}, { w: full });
    expect(await status()).toMatchObject({
      exit_code: 3,
      last_night: { is_good: false },
      unrecorded: expect.stringContaining('it was killed, or the disk is full'),
    });
    const killed = await RunFile.begin(file, logger, Date.now());
    expect((await status()).exit_code).toBe(3);
    await killed.ends({}, {});
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ has_ended: true });
    expect((await status()).exit_code).toBe(0);
  });

  it('waits for the end of a run, in which no website is missing', async () => {
    const built = await buildWarehouse(NIGHTS.map((at) => ({ at, lists: { w: [{ url: 'https://w.example/a' }] } })));
    const websites = ['w', 'v'].map((id) => ({ id, name: null }));
    const given = {
      ...STATUS_DEFAULTS,
      warehouse: built.path,
      websites,
      followers: async () => [],
      maxAge: 365 * DAY_MS,
    };
    const status = () => readStatus({ ...given, now: HOUR('2026-03-03T02:01:00Z', 5) });
    const { run, lock } = warehouseFolder(built.path);
    const logger = createLogger({ destination: { write: () => {} } });
    const sync = await holdOpen(lock, 'READ_WRITE');
    for (const [began, done] of [
      ['2026-03-03T02:00:50Z', '1'],
      ['2026-03-04T02:00:00Z', 'none'],
    ]) {
      await RunFile.begin(run, logger, Date.parse(began ?? ''));
      const found = await status();
      const sentence = `A run is in progress, done so far: ${done} of 2 websites.`;
      expect(found).toMatchObject({ exit_code: 0, warnings: [], last_night: { is_good: null, sentence } });
      const figures = await metricsOf(found);
      expect(figures).toContain('indexhouse_exit_code 0\n');
      expect(figures).toContain(`indexhouse_last_night_info{sentence="${sentence}"} 1\n`);
      expect(figures).not.toContain('indexhouse_last_night_good');
      expect((await readStatus({ ...given, now: Date.now() * 2 })).last_night).toEqual({
        is_good: false,
        sentence: `${sentence} Needs attention: 1 of 2 websites (1 old snapshot).`,
      });
    }
    // Of a run that is resumed, what was done before is done.
    const { run_id = '', started_at = '' } = (await status()).websites[0]?.last_run ?? {};
    const folder = journalFolder(built.path, run_id, 'v');
    const header = { run_id, website_id: 'v', website_name: null, snapshot_id: run_id, started_at, version: '0' };
    await writeHeader(folder, { ...header, resumed: 1 });
    expect((await status()).last_night.sentence).toBe('A run is in progress, done so far: 1 of 2 websites.');
    rmSync(folder.path, { recursive: true });
    await (await RunFile.begin(run, logger, Date.now())).ends({}, {});
    // Something else holds the lock.
    expect((await status()).last_night.sentence).toBe(
      'Last night needs attention: 1 of 2 websites (1 missing snapshot).',
    );
    await sync.release();
  });

  it('sees that the disk has no space for the next run', async () => {
    const folder = join(temporaryFolder(), 'warehouse');
    mkdirSync(folder);
    writeFileSync(join(folder, 'run.json'), '');
    const input = { ...STATUS_DEFAULTS, warehouse: folder, followers: async () => [], now: Date.now() };
    expect(await readStatus({ ...input, diskOf: async () => ({ free: 1, reserve: 2 }) })).toMatchObject({
      exit_code: 3,
      last_night: { sentence: 'Last night needs attention: 1 full disk, 1 missing snapshot.' },
    });
    expect((await readStatus(input)).disk).toBeNull();
  });
});

it('websites with the same cause share a sentence, and of many causes the first are spelled out', () => {
  const of = (website: string, message: string): Finding => ({
    kind: 'partial',
    website_id: `id-${website}`,
    website,
    message,
  });
  const same = Array.from({ length: 200 }, (_, at) => of(`w${at}`, 'the service answered 500'));
  expect(causesOf(same)).toEqual(['w0, w1, w2, w3, w4 and 195 more: the service answered 500']);
  const own = Array.from({ length: 30 }, (_, at) => of(`w${at}`, `sitemap ${at} is gone`));
  expect(causesOf(own)).toEqual([
    ...own.slice(0, 5).map(({ website, message }) => `${website}: ${message}`),
    'and 25 partial listings more; `indexhouse status --verbose` lists them',
  ]);
});
