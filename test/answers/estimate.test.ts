import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { Engine } from '../../src/base/storage/engine.js';
import { createTables, viewScript } from '../../src/warehouse/log/folder/tables.js';
import { atEnd, temporaryFolder } from '../given/folder.js';

type Class = 'shown' | 'ended' | 'others';

/** One night: how many pages count as what before it, and of each class how many were inspected, and of these indexed. */
interface Night {
  evidence: Partial<Record<Class | 'pages' | 'today' | 'today_indexed', number>> | null;
  found?: Partial<Record<Class, readonly [inspected: number, indexed: number]>>;
  /** Why they were inspected: in turn by default. */
  reason?: string;
}

const figure = z.number().nullable();
const row = z.object({
  ...{ share_estimated: figure, share_low: figure, share_high: figure, sampled: figure },
  ...{ sampled_since: z.coerce.string().nullable(), no_estimate: z.string().nullable() },
});

let engine: Engine;

beforeAll(async () => {
  engine = await Engine.open({ memoryLimit: 256e6, temporary: temporaryFolder() });
  atEnd(() => engine.close());
  await createTables(engine);
  await engine.run('create or replace table snapshots as select * from snapshots');
  await engine.run(viewScript('UTC'));
});

/** The estimate of the last of some nights, which are those of March 2025. */
async function estimateOf(...nights: readonly Night[]) {
  await engine.run('delete from snapshots');
  for (const [at, { evidence, found = {}, reason = 'oldest' }] of nights.entries()) {
    const known = { shown: 0, ended: 0, others: 0, today: 0, today_indexed: 0, ...evidence };
    const pages = known.shown + known.ended + known.others + known.today;
    const inspected = Object.entries(found).map(([counts_as, [pages, indexed]]) => ({ counts_as, pages, indexed }));
    const date = `2025-03-${String(at + 1).padStart(2, '0')}`;
    await engine.set({ date, reason, found: JSON.stringify(inspected) });
    await engine.set({ evidence: evidence && JSON.stringify({ pages, ...known }) });
    await engine.run(`insert into snapshots by name select 'w' as website_id,
      getvariable('date') as snapshot_id, getvariable('date')::date as snapshot_date,
      getvariable('date')::timestamptz as snapshot_at, 'complete' as listing_status, 'google' as source,
      getvariable('evidence')::json as evidence, (
        select inspection_samples(nullif(counts_as, 'others'), getvariable('reason'), nth, nth, if(nth <= indexed, 'indexed', 'not indexed'))
        from (
          select *, unnest(range(1, pages + 1)) as nth from (
            select unnest(getvariable('found')::json::struct(counts_as varchar, pages bigint, indexed bigint)[], recursive := true)
          )
        )
      ) as samples`);
  }
  return (await engine.rows(row, "from estimated_shares('w', '2025-03-31'::date) order by snapshot_date")).at(-1);
}

test('is exact where every page was inspected on the date, by one run or two', async () => {
  const exact = { share_estimated: 0.8372, share_low: 0.8372, share_high: 0.8372 };
  expect(await estimateOf({ evidence: { others: 436 }, found: { others: [436, 365] } })).toMatchObject(exact);
  const second = { today: 400, today_indexed: 340, shown: 20, ended: 16 };
  const left = { shown: [20, 20], ended: [16, 5] } as const;
  expect(await estimateOf({ evidence: second, found: left })).toMatchObject(exact);
});

test('is bounded by what is known, and by how often that has changed', async () => {
  const night = { evidence: { shown: 333, ended: 67 }, found: { shown: [33, 32], ended: [7, 0] } } as const;
  const estimate = await estimateOf(...Array.from({ length: 6 }, () => night));
  expect(estimate).toMatchObject({ sampled: 33 + 28, sampled_since: expect.stringContaining('2025-03-03') });
  expect(estimate?.share_high).toBeGreaterThan(0.83);
  expect(estimate?.share_high).toBeLessThan(0.86);
  expect(estimate?.share_low).toBeGreaterThan(0.7);
  // What was inspected for a reason says nothing of the others.
  const suspect = { ...night, reason: 'silent', found: { shown: [33, 0] } } as const;
  expect(await estimateOf(...Array.from({ length: 6 }, () => suspect))).toMatchObject({ sampled: 0, share_low: 0 });
});

test('shows a fall on its first night, or after four with few checks, because the newest count', async () => {
  const steady: Night = { evidence: { shown: 1000 }, found: { shown: [100, 100] } };
  const fall: Night = { evidence: { shown: 1000 }, found: { shown: [100, 60] } };
  expect((await estimateOf(steady, steady))?.share_low).toBeGreaterThan(0.95);
  expect((await estimateOf(steady, steady, fall))?.share_low).toBeLessThan(0.6);
  const few = (indexed: number) => Array<Night>(4).fill({ evidence: { shown: 1000 }, found: { shown: [4, indexed] } });
  expect((await estimateOf(...few(4), ...few(2)))?.share_low).toBeLessThan(0.5);
});

test('takes the share of unknown pages from the random sample of the night, and contains it without one', async () => {
  const listed = { shown: 200, others: 1000 };
  const before: Night = { evidence: listed, found: { shown: [40, 40], others: [100, 50] } };
  const estimate = await estimateOf(before);
  // 40 + 50 are certain; 160 stay, or up to a tenth of them left; half of 900.
  expect(estimate?.share_estimated).toBeCloseTo((90 + 160 + 450) / 1200, 2);
  expect([estimate?.share_low, estimate?.share_high].map((bound) => Math.round((bound ?? 0) * 10))).toEqual([5, 7]);
  // As many new pages, of which none was inspected.
  const after = await estimateOf(before, { evidence: { shown: 200, others: 1900 }, found: { shown: [40, 40] } });
  expect(after?.share_low).toBeLessThan(200 / 2100);
  expect(after?.share_high).toBe(1);
});

test('contains pages that are never inspected, with any share', async () => {
  const estimate = await estimateOf({ evidence: { pages: 100, others: 50 }, found: { others: [50, 50] } });
  expect(estimate).toMatchObject({ share_estimated: 0.75, share_low: 0.5, share_high: 1 });
});

test('says why there is none without a plan, or if nothing is known', async () => {
  const none = { share_estimated: null, share_low: null, share_high: null };
  expect(await estimateOf({ evidence: null })).toMatchObject({ ...none, no_estimate: 'no inspections were planned' });
  expect(await estimateOf({ evidence: { others: 9 } })).toMatchObject({
    ...{ ...none, no_estimate: 'nothing is known of its pages' },
  });
});
