import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest';
import { z } from 'zod';
import { withReader } from '../../src/answers/query/reader.js';
import { exitCodeOf, type ReplayOptions, type ReplayReceipt } from '../../src/sync/replay.js';
import { rebuildDuckdb } from '../../src/warehouse/copies/rebuild.js';
import { journalFolder } from '../../src/warehouse/journal/folder.js';
import { writeHeader } from '../../src/warehouse/journal/header.js';
import { stateFile } from '../../src/warehouse/log/folder/layout.js';
import { once, testAtLength } from '../given/at-length.js';
import { copyOf } from '../given/folder.js';
import { givenNights, type Night } from '../given/nights.js';
import { type Row, readParquet, readTable } from '../given/parquet.js';
import { countsIn, mendPayloads, replayIds } from '../given/quarantine.js';
import { replayNow } from '../given/replayed.js';
import { findingsOf } from '../given/verified.js';
import { configFor } from '../given/warehouse.js';

/** What the service said in the bad nights, and what it would have been under a contract that takes it. */
const MENDED = {
  '"index_summary":7': '"index_summary":"Not Indexed"',
  '"index_summary":8': '"index_summary":"Indexed"',
  '"page_fetch_status":7': '"page_fetch_status":"Not found (404)"',
};
type OnFinished = (clean: () => void | Promise<void>) => void;

const INDEXED = { index_summary: 'Indexed' };
const NOT_INDEXED = { index_summary: 'Not Indexed' };

function replayOf(warehouse: string, options: Partial<ReplayOptions> = {}): Promise<ReplayReceipt> {
  return replayNow(configFor({ baseUrl: 'http://127.0.0.1:1', warehouse }), options);
}

/** The bad records of a warehouse become what the contract of today would take. */
async function mend(warehouse: string): Promise<void> {
  await mendPayloads(warehouse, MENDED);
  await rebuildDuckdb({ warehouse, memoryLimit: 256e6 });
}

/** Nights whose bad records the contract of today would take, and the warehouse that they left. */
async function mendedNights(nights: Night[], onFinished: OnFinished = onTestFinished): Promise<string> {
  const given = await givenNights(onFinished);
  for (const night of nights) await given.night(night);
  await mend(given.warehouse);
  return given.warehouse;
}

async function changesOf(warehouse: string, commitId: string): Promise<string[]> {
  const rows = (await readTable(warehouse, 'page_changes')).filter(({ commit_id }) => commit_id === commitId);
  return rows
    .map(({ url, change, from_value, to_value }) => `${nameOf(url)} ${change}: ${from_value} → ${to_value}`)
    .sort();
}

function nameOf(url: unknown): string {
  return String(url).split('/').at(-1) ?? '';
}

async function stateAfter(warehouse: string, commitId: string, name: string): Promise<Row | undefined> {
  const rows = await readParquet(stateFile(warehouse, 'w', commitId));
  return rows.find(({ url }) => nameOf(url) === name);
}

const BAD_SECOND_NIGHT: Night[] = [
  { list: { a: INDEXED, b: INDEXED }, reports: { b: { page_fetch_status: 'Successful' } } },
  {
    list: {
      a: { index_summary: 7 },
      b: { ...INDEXED, last_crawl_time: '2025-03-01T20:00:00Z' },
      c: { index_summary: 8 },
    },
    reports: { b: { page_fetch_status: 7 } },
  },
];

describe('replay', () => {
  const clean: (() => void | Promise<void>)[] = [];
  let bad: string;
  /** The same after a replay, and its receipt. */
  let replayed: string;
  let receipt: ReplayReceipt;
  beforeAll(async () => {
    bad = await mendedNights(BAD_SECOND_NIGHT, (each) => void clean.push(each));
    replayed = copyOf(bad, (each) => void clean.push(each));
    receipt = await replayOf(replayed);
  });
  afterAll(async () => {
    for (const each of clean) await each();
  });

  once('commits what passes now, once, as rows of its snapshot, and records what that changes', async () => {
    const warehouse = replayed;
    const [first, second] = (await readTable(warehouse, 'snapshots'))
      .map(({ snapshot_id }) => String(snapshot_id))
      .sort();
    const quarantined = await readTable(bad, 'rejected_records');
    const [id] = await replayIds(warehouse);
    expect(receipt.snapshots).toMatchObject([
      { snapshot_id: second, replay_id: id, coverage: 2, url_reports: 1, changes: 3, still_rejected: 0 },
    ]);
    expect(exitCodeOf(receipt)).toBe(0);
    expect(receipt.followers.map(({ behind }) => behind)).toEqual([0, 0]);

    const rows = (await readTable(warehouse, 'coverage')).filter(({ commit_id }) => commit_id === id);
    const original = quarantined.find(({ url }) => nameOf(url) === 'a');
    expect(rows.find(({ url }) => nameOf(url) === 'a')).toMatchObject({
      snapshot_id: second,
      snapshot_at: original?.['snapshot_at'],
      snapshot_date: original?.['snapshot_date'],
      listed_at: original?.['received_at'],
      index_summary: 'Not Indexed',
    });
    const reports = (await readTable(warehouse, 'url_reports')).filter(({ commit_id }) => commit_id === id);
    expect(reports).toMatchObject([{ reason: 'replay', page_fetch_status: 'Not found (404)', snapshot_id: second }]);
    expect(await changesOf(warehouse, id ?? '')).toEqual([
      'a deindexed: Indexed → Not Indexed',
      'b fetch_status: Successful → Not found (404)',
      'c appeared: null → Indexed',
    ]);
    expect(await stateAfter(warehouse, id ?? '', 'a')).toMatchObject({
      index_summary: 'Not Indexed',
      listed_snapshot_id: second,
      report_wanted: 'changed',
    });
    expect(await stateAfter(warehouse, id ?? '', 'b')).toMatchObject({
      report_snapshot_id: second,
      consecutive_failures: 0,
    });
    expect(first).not.toBe(second);

    expect((await replayOf(warehouse)).snapshots).toEqual([]);
    expect(await replayIds(warehouse)).toHaveLength(1);
    expect(await readTable(warehouse, 'rejected_records')).toEqual(quarantined);
    expect(await findingsOf(warehouse)).toEqual([]);
  });

  testAtLength('of a page that had gone and came back in quarantine records that it appeared', async () => {
    const warehouse = await mendedNights([
      { list: { a: INDEXED, b: INDEXED }, reports: {} },
      { list: { b: INDEXED }, reports: { a: 404 } },
      { list: { a: { index_summary: 7 }, b: INDEXED }, reports: {} },
      { list: { a: { index_summary: 7 }, b: INDEXED }, reports: {} },
    ]);
    await replayOf(warehouse);
    const replays = await replayIds(warehouse);
    expect(await Promise.all(replays.map((id) => changesOf(warehouse, id)))).toEqual([
      ['a appeared: null → Not Indexed'],
      [],
    ]);
    expect(await stateAfter(warehouse, replays.at(-1) ?? '', 'a')).toMatchObject({
      index_summary: 'Not Indexed',
      unlisted_since: null,
      disappeared_at: null,
    });
    expect(await findingsOf(warehouse)).toEqual([]);
  });

  once('shows every reader the same: query, indexhouse.duckdb and analytics.duckdb', async () => {
    const warehouse = replayed;
    const question = "select count(*) filter (replayed) || '/' || count(*) as counts from quarantine";
    const relations = [
      'snapshots',
      'replays',
      'coverage',
      'url_reports',
      'page_changes',
      'page_state',
      'coverage_daily',
    ];
    const native = await countsIn(join(warehouse, 'indexhouse.duckdb'), relations);
    expect(native).toEqual({
      snapshots: 2,
      replays: 1,
      coverage: 5,
      // The reports of the first night, those of the second, and the replayed one.
      url_reports: 5,
      page_changes: expect.any(Number),
      page_state: 3,
      coverage_daily: 5,
    });
    expect(await countsIn(join(warehouse, 'analytics.duckdb'), relations)).toEqual(native);
    await withReader({ warehouse, memoryLimit: 256e6 }, async (reader) => {
      expect(await reader.rows(z.object({ counts: z.string() }), question)).toEqual([{ counts: '3/3' }]);
    });
    const where = '(select * from quarantine where replayed)';
    expect(await countsIn(join(warehouse, 'indexhouse.duckdb'), [where])).toEqual({ [where]: 3 });
    expect(await countsIn(join(warehouse, 'analytics.duckdb'), [where])).toEqual({ [where]: 3 });
  });

  testAtLength('of a record older than the last known one adds its row, and changes nothing else', async () => {
    const warehouse = await mendedNights([
      { list: { a: INDEXED } },
      { list: { a: { index_summary: 7 } } },
      { list: { a: NOT_INDEXED } },
    ]);
    const newest = (await readTable(warehouse, 'snapshots')).map(({ snapshot_id }) => String(snapshot_id)).sort()[2];
    const before = await stateAfter(warehouse, newest ?? '', 'a');
    const receipt = await replayOf(warehouse);
    expect(receipt.snapshots).toMatchObject([{ coverage: 1, changes: 0 }]);
    const [id] = await replayIds(warehouse);
    expect(await stateAfter(warehouse, id ?? '', 'a')).toEqual(before);
    expect(await readTable(warehouse, 'coverage')).toHaveLength(3);
    expect(await findingsOf(warehouse)).toEqual([]);
  });

  testAtLength('takes several snapshots in their order, and the next sync stands on what they left', async () => {
    const given = await givenNights(onTestFinished);
    await given.night({ list: { a: INDEXED, b: INDEXED } });
    await given.night({ list: { a: { index_summary: 7 }, b: INDEXED } });
    await given.night({ list: { a: { index_summary: 8 }, b: INDEXED } });
    await mend(given.warehouse);
    await replayOf(given.warehouse);
    const [second, third] = await replayIds(given.warehouse);
    expect(await changesOf(given.warehouse, second ?? '')).toEqual(['a deindexed: Indexed → Not Indexed']);
    expect(await changesOf(given.warehouse, third ?? '')).toEqual(['a indexed: Not Indexed → Indexed']);

    // A state is derived: without its file the log gives it again, replays included.
    rmSync(stateFile(given.warehouse, 'w', third ?? ''));
    const next = await given.night({ list: { a: NOT_INDEXED, b: INDEXED } });
    expect(next.changes).toEqual([expect.stringContaining('a deindexed: Indexed → Not Indexed')]);
    // No follower took the last night.
    expect((await findingsOf(given.warehouse)).filter(({ level }) => level !== 'lag')).toEqual([]);
  });

  testAtLength('leaves alone what breaks the contract still, another page’s report among it', async () => {
    const given = await givenNights(onTestFinished);
    await given.night({
      list: { a: INDEXED, b: { index_summary: [] } },
      reports: { a: { url: 'https://other.example/' } },
    });
    const receipt = await replayOf(given.warehouse);
    expect(receipt.snapshots).toMatchObject([{ replay_id: null, coverage: 0, url_reports: 0, still_rejected: 2 }]);
    expect(await replayIds(given.warehouse)).toEqual([]);
    expect(await readTable(given.warehouse, 'coverage')).toHaveLength(1);
  });

  testAtLength('judges without committing in a dry run, and only what was asked for', async () => {
    const warehouse = copyOf(bad);
    expect((await replayOf(warehouse, { dryRun: true })).snapshots).toMatchObject([
      { replay_id: null, coverage: 2, url_reports: 1, still_rejected: 0 },
    ]);
    expect((await replayOf(warehouse, { since: '2025-03-03' })).snapshots).toEqual([]);
    expect(await replayIds(warehouse)).toEqual([]);
    await expect(replayOf(warehouse, { websites: ['another'] })).rejects.toThrow(
      'no website "another" in the warehouse. It has:\n  w',
    );
  });

  testAtLength('leaves a website alone whose run is not finished: that run’s commit comes first', async () => {
    const warehouse = copyOf(bad);
    await writeHeader(journalFolder(warehouse, '0195-run', 'w'), {
      run_id: '0195-run',
      website_id: 'w',
      website_name: null,
      snapshot_id: '0195-snapshot',
      started_at: '2025-03-03T02:00:00.000Z',
      version: 'test',
      resumed: 0,
    });
    const receipt = await replayOf(warehouse);
    expect(receipt).toMatchObject({
      snapshots: [],
      skipped: [{ website_id: 'w', reason: expect.stringContaining('--recover') }],
    });
    expect(exitCodeOf(receipt)).toBe(3);
    expect(await replayIds(warehouse)).toEqual([]);
  });
});
