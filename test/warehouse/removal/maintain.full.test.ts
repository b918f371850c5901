import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { withReader } from '../../../src/answers/query/reader.js';
import { withEngine } from '../../../src/base/storage/engine.js';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import type { ThinnedTable } from '../../../src/warehouse/log/folder/tables.js';
import { filesOf, type Marker, markersOf } from '../../../src/warehouse/log/markers.js';
import { maintainExitCode } from '../../../src/warehouse/removal/maintain.js';
import { countsIn } from '../../given/counts.js';
import { copyOf, temporaryFolder } from '../../given/folder.js';
import { holdOpen } from '../../given/holder.js';
import { readMarkers } from '../../given/markers.js';
import { startService } from '../../given/service.js';
import { newestFile, rewrite } from '../../given/tamper.js';
import { answersOf, at, buildNights, filesBelow, HOUR_MS, maintainAt, NOW } from '../../given/thinned.js';
import { findingsOf } from '../../given/verified.js';
import { sharedWarehouse, syncAt } from '../../given/warehouse.js';

const MEMORY = 256e6;
/** Dates whose files stay, and why; see `buildNights`. */
const STAYS = {
  'shop coverage': ['2024-12-02', '2025-01-09', '2025-02-16', '2025-03-18'],
  'shop url_reports': ['2024-12-01', '2024-12-02', '2025-01-03', '2025-01-09', '2025-02-16', '2025-03-18'],
  'blog coverage': ['2024-12-01', '2025-01-03', '2025-01-05', '2025-03-18'],
  'blog url_reports': ['2024-12-01', '2025-01-05'],
};

/** The same after one `maintain`. */
let thinned: string;

const built = sharedWarehouse(() => buildNights(undefined, { followed: 'followed' }));
beforeAll(async () => {
  thinned = copyOf(built.path);
  await maintainAt(thinned);
});

function markersIn(warehouse: string): Promise<Marker[]> {
  return withEngine({ memoryLimit: MEMORY, temporary: temporaryFolder() }, (engine) => readMarkers(engine, warehouse));
}

/** The dates of the files that readers see. */
async function datesSeen(warehouse: string): Promise<Record<string, string[]>> {
  const markers = await markersIn(warehouse);
  return Object.fromEntries(
    Object.keys(STAYS).map((key) => {
      const [website = '', table] = key.split(' ');
      const files = filesOf(warehouse, markersOf(markers, website), table as ThinnedTable);
      return [key, files.map((file) => /date=([\d-]+)/.exec(file)?.[1] ?? '').sort()];
    }),
  );
}

async function keptCommits(warehouse: string): Promise<string[]> {
  const markers = await markersIn(warehouse);
  return markers.filter(({ dropped }) => Object.keys(dropped).length === 0).map(({ snapshotId }) => snapshotId);
}

const fileCount = async (warehouse: string, table: ThinnedTable) => (await listTableFiles(warehouse, table)).length;

describe('thinning the Parquet files', () => {
  test('a dry run says what would go, takes no lock and changes nothing; then files are put out of use', async () => {
    const warehouse = copyOf(built.path);
    const before = filesBelow(warehouse);
    const dry = await maintainAt(warehouse, { dryRun: true });
    expect(dry).toMatchObject({ dry_run: true, thinned_before: '2025-03-17', waiting: { files: 7 } });
    const shop = dry.parquet.find(({ website_id, table }) => website_id === 'shop' && table === 'url_reports');
    expect(shop).toMatchObject({ files: 2, rows: 2, first_date: '2025-01-05', last_date: '2025-02-11' });
    expect(shop?.kept.map(({ reason, files }) => [reason, files])).toEqual([
      ['recent', 1],
      ['last_of_month', 3],
      ['newest_reports', 2],
    ]);
    expect(filesBelow(warehouse)).toEqual(before);

    const files = await fileCount(warehouse, 'coverage');
    const reader = await withReader({ warehouse, memoryLimit: MEMORY }, async (opened) => {
      const done = await maintainAt(warehouse);
      expect(done).toMatchObject({ parquet: dry.parquet, waiting: dry.waiting, deleted: { files: 0 } });
      // Whoever listed the files before still finds them.
      return opened.rows(z.object({ rows: z.string() }), 'select count(*)::varchar as rows from coverage');
    });
    expect(reader).toEqual([{ rows: '36' }]);
    // Never one that holds what is needed.
    expect([await datesSeen(warehouse), await fileCount(warehouse, 'coverage')]).toEqual([STAYS, files]);
    expect(await findingsOf(warehouse)).toEqual([]);
    for (const file of ['analytics.duckdb', 'indexhouse.duckdb']) {
      const counts = await countsIn(join(warehouse, file), ['coverage', 'url_reports', 'tombstones']);
      expect(counts).toEqual({ coverage: 20, url_reports: 13, tombstones: 7 });
    }
  });

  test('after an hour the files are deleted; what stays is answered as before, from the checkpoint, too', async () => {
    const warehouse = copyOf(thinned);
    const files = await fileCount(warehouse, 'coverage');
    const kept = await keptCommits(warehouse);
    const before = await answersOf(built.path, kept);
    const early = await maintainAt(warehouse, { now: NOW + HOUR_MS - 1 });
    expect(early).toMatchObject({ deleted: { files: 0 }, waiting: { files: 7 } });
    const late = await maintainAt(warehouse, { now: NOW + HOUR_MS });
    expect(late).toMatchObject({ deleted: { files: 7 }, waiting: { files: 0, bytes: 0 } });
    expect([await datesSeen(warehouse), await fileCount(warehouse, 'coverage')]).toEqual([STAYS, files - 5]);
    rmSync(join(warehouse, 'state'), { recursive: true });
    expect(await answersOf(warehouse, kept)).toEqual(before);
  });

  test('syncs go on as if nothing had been thinned, and so does the next thinning', async () => {
    const [thin, whole] = [copyOf(thinned), copyOf(built.path)];
    await maintainAt(thin, { now: NOW + 2 * HOUR_MS });
    rmSync(join(thin, 'state'), { recursive: true });
    const service = await startService();
    service.list('shop', [{ url: at('shop', 'a') }, { url: at('shop', 'f') }]);
    for (const warehouse of [thin, whole]) {
      await syncAt({ baseUrl: service.url, warehouse, at: '2025-04-02T02:00:00Z', websites: ['shop'] });
    }
    const changes = async (warehouse: string) =>
      withReader({ warehouse, memoryLimit: MEMORY }, (reader) => {
        const asked =
          "select url, change, from_value from page_changes where snapshot_date = '2025-04-02' order by all";
        return reader.rows(z.record(z.string(), z.string().nullable()), asked);
      });
    expect(await changes(thin)).toEqual(await changes(whole));
    expect((await changes(thin)).length).toBeGreaterThan(3);

    await maintainAt(thin, { now: Date.parse('2025-04-10T00:00:00Z') });
    rmSync(join(thin, 'state'), { recursive: true });
    expect(await findingsOf(thin)).toEqual([]);
    expect(await datesSeen(thin)).toMatchObject({
      'shop coverage': [...STAYS['shop coverage'], '2025-04-02'],
    });
  });
});

test('indexhouse.duckdb stays as it is while a reader holds it, and nothing is lost', async () => {
  const warehouse = copyOf(built.path);
  const database = join(warehouse, 'indexhouse.duckdb');
  const rows = () => countsIn(database, ['coverage', 'url_reports']);
  const before = await rows();
  const reader = await holdOpen(database, 'READ_ONLY');
  const held = await maintainAt(warehouse);
  expect([maintainExitCode(held), held.followers[0]]).toMatchObject([
    3,
    { name: 'duckdb', behind: 5, reason: expect.stringContaining(`process ${reader.pid}`) },
  ]);
  await reader.release();
  // It holds rows of files that are out of use: behind, not wrong.
  expect([await rows(), await findingsOf(warehouse)]).toMatchObject([before, [{ level: 'lag' }]]);
  expect(maintainExitCode(await maintainAt(warehouse))).toBe(0);
  expect(await rows()).toEqual({ coverage: 20, url_reports: 13 });
  expect([await findingsOf(warehouse), existsSync(`${database}.new`)]).toEqual([[], false]);
});

describe('a warehouse that is not as it should be', () => {
  test('with a state that is not what the log gives is left as it is', async () => {
    const warehouse = copyOf(built.path);
    const newest = markersOf(await markersIn(warehouse), 'shop').at(-1);
    const state = join(warehouse, 'state', 'website=shop', `${newest?.snapshotId}.parquet`);
    await rewrite(state, 'select * replace (absences + 1 as absences) from self');
    await expect(maintainAt(warehouse)).rejects.toThrow('verify --repair');
    expect(await listTableFiles(warehouse, 'tombstones')).toEqual([]);
    expect(await listTableFiles(warehouse, 'checkpoints')).toEqual([]);
  });

  test('with a checkpoint or a tombstone that is damaged is reported by verify', async () => {
    const warehouse = copyOf(thinned);
    const checkpoint = (await listTableFiles(warehouse, 'checkpoints')).find((file) => file.includes('=shop')) ?? '';
    const finding = [{ check: 'files', level: 'difference', message: expect.stringContaining('checkpoint') }];
    await rewrite(checkpoint, 'select * replace (absences + 1 as absences) from self');
    expect(await findingsOf(warehouse)).toMatchObject(finding);
    rmSync(checkpoint);
    expect(await findingsOf(warehouse)).toMatchObject(finding);
    await expect(maintainAt(warehouse, { now: NOW + 2 * HOUR_MS })).rejects.toThrow('checkpoints');
    expect(await fileCount(warehouse, 'coverage')).toBe(13);
    const tombstone = await newestFile(warehouse, 'tombstones');
    writeFileSync(tombstone, 'garbage');
    expect(await findingsOf(warehouse)).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining(tombstone) }),
    );
  });
});
