import { cpSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { metricsOf } from '../../../src/answers/status/metrics.js';
import { readStatus } from '../../../src/answers/status/status.js';
import type { Simulator } from '../../../src/app/demo/simulator/simulator.js';
import { Stopped } from '../../../src/base/exit.js';
import { DAY_MS } from '../../../src/base/time.js';
import { realRunEffects } from '../../../src/sync/context.js';
import { writeAnalytics } from '../../../src/warehouse/copies/analytics.js';
import { unfinishedJournals } from '../../../src/warehouse/journal/folder.js';
import { once, testAtLength } from '../../given/at-length.js';
import { startSimulator } from '../../given/client-clock.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { holdOpen } from '../../given/holder.js';
import { syncNow } from '../../given/synced.js';
import { unwaiting } from '../../given/warehouse.js';

const SITE = 'site-a';
const PAGES = 40;

let service: Simulator;
/** One good run. */
let synced: string;

beforeAll(async () => {
  service = await startSimulator({ websites: [{ id: SITE, pages: PAGES }] });
  synced = temporaryFolder();
  await syncNow(configIn(synced, service.url));
});

function configIn(folder: string, baseUrl: string): string {
  const sections = { api: { concurrency: 4 } };
  return writeConfig(folder, { baseUrl, websites: [SITE], sections });
}

/** A folder without a warehouse yet, or with a copy of the one after a good run. */
async function given(from: string | null, url = service.url) {
  const folder = temporaryFolder();
  const path = join(folder, 'warehouse');
  if (from !== null) {
    cpSync(from, folder, { recursive: true, preserveTimestamps: true });
    await writeAnalytics(path, 256e6);
  }
  return { file: configIn(folder, url), path };
}

function statusOf(path: string, now = Date.now(), websites = [{ id: SITE, name: 'Site A' as string | null }]) {
  return readStatus({
    warehouse: path,
    memoryLimit: 256e6,
    maxAge: 2 * DAY_MS,
    websites,
    now,
  });
}

describe('status', () => {
  once('of a folder without snapshots names the configured websites, which have no snapshot yet', async () => {
    const path = temporaryFolder();
    const status = await statusOf(path);
    expect(status.websites).toEqual([
      {
        inspections_a_day: null,
        website_id: SITE,
        website_name: 'Site A',
        is_configured: true,
        snapshots: 0,
        last_snapshot: null,
        last_run: null,
        pages: null,
      },
    ]);
    expect(status).toMatchObject({ running: null, unfinished: [] });
    expect(status.warnings).toEqual(['Site A: no snapshot yet; run `indexhouse sync`']);
    expect(status.last_night).toEqual({ is_good: null, sentence: expect.stringMatching(/^No snapshots yet\./) });
    expect(readdirSync(path)).toEqual([]);
  });

  once('of a website that is no longer configured is no warning, however old its snapshot is', async () => {
    const { path } = await given(synced);
    const status = await statusOf(path, Date.now() + 30 * DAY_MS, [{ id: 'other', name: null }]);
    expect(status.websites.map(({ website_id, is_configured }) => [website_id, is_configured])).toEqual([
      ['other', true],
      [SITE, false],
    ]);
    expect(status.warnings).toEqual(['other: no snapshot yet; run `indexhouse sync`']);
  });

  once('after a good run shows freshness and completeness, and writes nothing', async () => {
    const { path } = await given(synced);
    const before = readdirSync(path, { recursive: true }).sort();
    const status = await statusOf(path, Date.now() + 3_600_000);
    expect(readdirSync(path, { recursive: true }).sort()).toEqual(before);
    expect(status).toMatchObject({ running: null, unfinished: [], warnings: [] });
    const upToDate = { behind: 0, exact: true, held: null, error: null };
    expect(status.followers).toEqual([
      { name: 'duckdb', ...upToDate },
      { name: 'analytics', ...upToDate },
    ]);
    const [website] = status.websites;
    expect(website).toMatchObject({
      website_id: SITE,
      website_name: 'Site A',
      snapshots: 1,
      last_snapshot: { listing_status: 'complete', pages_listed: PAGES, reports_status: 'complete' },
      last_run: {
        outcome: 'committed',
        error: null,
        requests_sent: PAGES + 1,
        requests_throttled: 0,
        requests_retried: 0,
        utilisation: null,
      },
      pages: { monitored: PAGES, with_report: PAGES, report_share: 1 },
    });
    expect(website?.last_snapshot?.age_seconds).toBeGreaterThanOrEqual(3600);
    expect(website?.pages?.oldest_report_seconds).toBeGreaterThanOrEqual(website?.pages?.median_report_seconds ?? 0);
  });

  once('warns of a snapshot that is older than it should be', async () => {
    const { path } = await given(synced);
    expect((await statusOf(path, Date.now() + 2 * DAY_MS - 60_000)).warnings).toEqual([]);
    expect((await statusOf(path, Date.now() + 10 * DAY_MS)).warnings).toEqual([
      'Site A: the last snapshot is 10d old, more than 2d; check that `indexhouse sync` runs',
    ]);
  });

  once('names views that show other files', async () => {
    const { path } = await given(synced);
    const text = join(path, 'schema', 'analytics.sql');
    writeFileSync(text, readFileSync(text, 'utf8').replace('/parquet/coverage/', '/'));
    expect((await statusOf(path)).warnings).toEqual([expect.stringMatching(/^analytics.duckdb is missing or shows/)]);
  });

  testAtLength('notices that the folder was moved since its last sync; the next one mends that', async () => {
    const { path, file } = await given(synced);
    const moved = join(temporaryFolder(), 'elsewhere');
    cpSync(path, moved, { recursive: true, preserveTimestamps: true });
    const warning = 'analytics.duckdb is missing or shows another folder; the next sync writes it again';
    expect((await statusOf(moved)).warnings).toEqual([warning]);
    const overrides = { warehouse: { path: moved } };
    await syncNow(writeConfig(join(file, '..'), { baseUrl: service.url, websites: [SITE], sections: overrides }));
    expect((await statusOf(moved)).warnings).toEqual([]);
  });

  once('shows how far an unfinished run is, and whether somebody works on it', async () => {
    const { file, path } = await given(null);
    await expect(syncNow(file, { stopAfter: { reports: 10 } })).rejects.toThrow(Stopped);
    const left = await statusOf(path);
    expect(left.unfinished).toMatchObject([
      { website_id: SITE, stage: 'reports', reports_planned: PAGES, in_progress: false, resumable: true, error: null },
    ]);
    expect(left.unfinished[0]?.reports_done).toBeGreaterThanOrEqual(10);
    expect(left.unfinished[0]?.reports_done).toBeLessThan(PAGES);
    expect(left.warnings).toEqual([
      'site-a: a run is not finished, because it was stopped by a signal; the next `indexhouse sync` resumes it',
    ]);
    expect((await statusOf(path, Date.now() + 7 * 3_600_000)).warnings[0]).toContain('too old to resume');

    const holder = await holdOpen(join(path, 'run.lock.duckdb'), 'READ_WRITE');
    const running = await statusOf(path);
    expect(running).toMatchObject({ running: { process_id: holder.pid, access: 'write' }, warnings: [] });
    expect(running.unfinished).toMatchObject([{ in_progress: true }]);
  });

  testAtLength('says why a run is not finished, and what one waits for', async () => {
    const { file, path } = await given(null);
    await expect(syncNow(file, { stopAfter: { reports: 10 } })).rejects.toThrow(Stopped);
    const runFile = join(path, 'run.json');
    const left = JSON.parse(readFileSync(runFile, 'utf8'));
    const [folder] = await unfinishedJournals(path);
    const whyWith = async (content: object) => {
      writeFileSync(runFile, JSON.stringify({ ...left, ...content }));
      return (await statusOf(path)).unfinished.map(({ stopped }) => stopped);
    };
    expect(await whyWith({})).toEqual(['it was stopped by a signal']);
    const full = { [SITE]: { run_id: folder?.runId, error: 'ENOSPC: no space left on device, write' } };
    expect(await whyWith({ failed: full })).toEqual(['the disk was full']);
    expect((await statusOf(path)).exit_code).toBe(1);
    expect(await whyWith({ stopped: null })).toEqual(['its process was killed or crashed']);
    for (const name of readdirSync(folder?.path ?? '')) utimesSync(join(folder?.path ?? '', name), 1e9, 1e9);
    expect(await whyWith({ stopped: null })).toEqual(['the machine was restarted']);
    await holdOpen(join(path, 'run.lock.duckdb'), 'READ_WRITE');
    const waiting = { for: 'the service', error: 'it answered 503', since: left.started_at, until: left.started_at };
    expect(await whyWith({ waiting })).toEqual([null]);
    const status = await statusOf(path);
    expect([status.exit_code, status.waiting]).toEqual([3, waiting]);
    expect(status.warnings).toEqual([
      expect.stringMatching(/^the run waits for the service since .* UTC \(it answered 503\); it tries/),
    ]);
    expect(await metricsOf(status)).toContain(
      `indexhouse_waiting_since_timestamp_seconds ${Date.parse(waiting.since) / 1000}`,
    );
  });

  testAtLength('counts an unfinished listing by its pages', async () => {
    const slow = await startSimulator({ websites: [{ id: SITE, pages: PAGES }], maxLimit: 10 });
    const { file, path } = await given(null, slow.url);
    await expect(syncNow(file, { stopAfter: { pages: 15 } })).rejects.toThrow(Stopped);
    const { unfinished, websites } = await statusOf(path);
    expect(unfinished).toMatchObject([{ stage: 'listing', pages_expected: PAGES, reports_planned: null }]);
    expect(unfinished[0]?.pages_read).toBeGreaterThanOrEqual(15);
    expect(unfinished[0]?.pages_read).toBeLessThan(PAGES);
    expect(websites[0]).toMatchObject({ last_snapshot: null, last_run: null });
  });

  testAtLength('shows how far indexhouse.duckdb is behind, exactly if it is only read, and who holds it', async () => {
    const { file, path } = await given(synced);
    const writer = await holdOpen(join(path, 'indexhouse.duckdb'), 'READ_WRITE');
    await syncNow(file, { effects: { ...realRunEffects, follow: unwaiting } });
    const held = await statusOf(path);
    expect(held.followers).toMatchObject([
      { name: 'duckdb', behind: 1, exact: false, held: { process_id: writer.pid, access: 'write' } },
      { name: 'analytics', behind: 0 },
    ]);
    expect(held.warnings).toEqual([expect.stringContaining(`process ${writer.pid}`)]);
    await writer.release();
    const reader = await holdOpen(join(path, 'indexhouse.duckdb'), 'READ_ONLY');
    const read = await statusOf(path);
    expect(read.followers[0]).toMatchObject({
      behind: 1,
      exact: true,
      held: { process_id: reader.pid, access: 'read' },
    });
    await reader.release();
    expect((await statusOf(path)).followers[0]).toMatchObject({ behind: 1, exact: true, held: null });
    await syncNow(file);
    expect((await statusOf(path)).warnings).toEqual([]);
  });
});
