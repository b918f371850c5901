import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { withEngine } from '../../src/base/storage/engine.js';
import { createTables, viewScript } from '../../src/warehouse/log/folder/tables.js';
import { temporaryFolder } from '../given/folder.js';

/** One night: how many pages the samples stand for, and how many of each sample were found indexed. */
interface Night {
  evidence: { others: number; shown: number; shown_indexed: number } | null;
  /** Of each reason: inspected, and of these indexed. */
  found: Partial<Record<'oldest' | 'shown' | 'ended' | 'silent', readonly [inspected: number, indexed: number]>>;
}

const row = z.object({
  share_estimated: z.number().nullable(),
  share_low: z.number().nullable(),
  share_high: z.number().nullable(),
  sampled: z.int().nullable(),
  sampled_since: z.coerce.string().nullable(),
  no_estimate: z.string().nullable(),
});

/** The estimate of the last of some nights, which are those of March 2025. */
async function estimateOf(nights: readonly Night[]) {
  const folder = temporaryFolder();
  return withEngine({ memoryLimit: 256e6, temporary: folder }, async (engine) => {
    await createTables(engine);
    for (const table of ['snapshots', 'url_reports'])
      await engine.run(`create or replace table ${table} as select * from ${table}`);
    await engine.run(viewScript('UTC'));
    for (const [at, { evidence, found }] of nights.entries()) {
      const of = { website_id: 'w', snapshot_date: `2025-03-${String(at + 1).padStart(2, '0')}` };
      await engine.set({ ...of, evidence: evidence && JSON.stringify(evidence) });
      await engine.run(`insert into snapshots by name select getvariable('website_id') as website_id,
        getvariable('snapshot_date') as snapshot_id, getvariable('snapshot_date')::date as snapshot_date,
        getvariable('snapshot_date')::timestamptz as snapshot_at, 'complete' as listing_status, 'google' as source,
        getvariable('evidence')::json as evidence`);
      for (const [reason, [inspected, indexed]] of Object.entries(found)) {
        await engine.set({ reason, inspected, indexed });
        await engine.run(`insert into url_reports by name select getvariable('website_id') as website_id,
          getvariable('snapshot_date')::date as snapshot_date, getvariable('reason') as reason,
          if(nth < getvariable('indexed'), 'Indexed', 'Not Indexed') as index_summary
          from (select unnest(range(getvariable('inspected')::bigint)) as nth)`);
      }
    }
    await engine.run(`update snapshots set samples = (
      select inspection_samples(reason, index_summary)
      from url_reports where url_reports.snapshot_date = snapshots.snapshot_date)`);
    const rows = await engine.rows(row, "from estimated_shares('w', '2025-03-31'::date) order by snapshot_date");
    return rows.at(-1);
  });
}

const evidence = { others: 6000, shown: 4000, shown_indexed: 3800 };
const night = (oldest: number, shown = 50): Night => ({
  evidence,
  found: { oldest: [200, oldest], shown: [50, shown] },
});
const nights = (...given: number[]) => given.map((oldest) => night(oldest));
const STEADY = [80, 84, 77, 82, 79, 81, 80, 76, 83, 80, 78, 82, 80, 79, 81, 80, 80, 82];

describe('the estimated share', () => {
  test('is that of both samples, each for its own pages', async () => {
    const estimate = await estimateOf(STEADY.map((oldest) => night(oldest, 45)));
    // 6,000 × 40% + 3,800 − 4,000 × 10%
    expect(estimate?.share_estimated).toBeCloseTo(0.58, 2);
    expect(estimate).toMatchObject({
      sampled: 2500,
      no_estimate: null,
      sampled_since: expect.stringContaining('2025-03-09'),
    });
    expect((estimate?.share_high ?? 0) - (estimate?.share_low ?? 0)).toBeLessThan(0.065);
  });

  test('follows a steady loss to its end, and a page that was inspected for a reason is no part of it', async () => {
    const loss = STEADY.map((_, at) => ({
      ...night(120 - 4 * at),
      found: { ...night(120 - 4 * at).found, silent: [90, 0] as const },
    }));
    expect((await estimateOf(loss))?.share_estimated).toBeCloseTo(0.38 + 0.6 * (52 / 200), 2);
  });

  test('counts only the nights since a fall', async () => {
    expect(await estimateOf(nights(...STEADY, 20, 22))).toMatchObject({
      sampled_since: expect.stringContaining('2025-03-19'),
    });
  });

  test('is left out where it is not clear whether the newest night differs', async () => {
    const estimates = await Promise.all(
      [72, 66, 63, 62, 61, 60, 58, 40].map((last) => estimateOf(nights(...STEADY, last))),
    );
    const unclear = estimates.filter((estimate) => estimate?.no_estimate);
    expect(unclear.length).toBeGreaterThan(0);
    expect(unclear[0]).toMatchObject({ share_estimated: null, share_low: null, share_high: null });
    expect([estimates[0], estimates.at(-1)].map((estimate) => estimate?.no_estimate)).toEqual([null, null]);
  });

  test('says why there is none without a plan, or without a sample in ten days', async () => {
    const none = { share_estimated: null, share_low: null, share_high: null };
    const unplanned = { evidence: null, found: {} };
    expect(await estimateOf([unplanned])).toMatchObject({ ...none, no_estimate: 'no inspections were planned' });
    expect(await estimateOf([{ evidence, found: { silent: [9, 9] } }])).toMatchObject({
      ...none,
      no_estimate: 'no page was inspected by rotation in ten days',
    });
  });

  test('is certain where every page was inspected tonight', async () => {
    const all: Night = { evidence: { others: 10, shown: 0, shown_indexed: 0 }, found: { oldest: [10, 7] } };
    expect(await estimateOf([all])).toMatchObject({ share_estimated: 0.7, share_low: 0.7, share_high: 0.7 });
  });

  test('is left to the counts where three nights inspect twice as many pages as there are', async () => {
    const most: Night = { evidence: { others: 10, shown: 0, shown_indexed: 0 }, found: { oldest: [7, 5] } };
    expect(await estimateOf([most, most])).toMatchObject({ share_estimated: expect.any(Number), no_estimate: null });
    expect(await estimateOf([most, most, most])).toMatchObject({ share_estimated: null, no_estimate: null });
  });
});
