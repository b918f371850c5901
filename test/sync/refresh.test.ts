import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { configSchema } from '../../src/base/config/schema.js';
import { Engine } from '../../src/base/storage/engine.js';
import { sql } from '../../src/base/storage/sql.js';
import { DAY_MS } from '../../src/base/time.js';
import { setPlanOrder } from '../../src/sync/plan-reports.js';
import { temporaryFolder } from '../given/folder.js';

const FIRST_MS = Date.parse('2025-03-01T02:00:00Z');
const NIGHTS = Array.from({ length: 60 }, (_, night) => (night + 1) * DAY_MS);
/** Reports arrive a second apart. */
const SITE = `create table candidates as select 'https://w.example/p' || place as url, 'oldest' as reason,
  '2025-03-01T02:00:00Z'::timestamptz + interval 1 second * place as report_fetched_at, false as keeps_failing
  from range($pages::int) as _(place)`;
const RUN = `select count(planned.url)::int as asked, max(age) as oldest,
  coalesce(min(age) filter (planned.url is not null), 99) as youngest
  from (select url, epoch(getvariable('planned_at') - report_fetched_at) / 86400 as age from candidates)
  left join planned using (url)`;
const FETCHED = `update candidates set report_fetched_at = getvariable('planned_at') + interval 1 second * place
  from (select url, row_number() over () as place from planned) as asked where asked.url = candidates.url`;
const ranSchema = z.object({ asked: z.int(), youngest: z.number(), oldest: z.number() });

const { reports: REPORTS } = configSchema.parse({ api: { base_url: 'https://api.example.com', token: 't' } });

/** What runs so long after a first night ask for; ages of the youngest report fetched again and of the oldest of all. */
async function played(pages: number, after: number[]) {
  const engine = await Engine.open({ memoryLimit: 256e6, temporary: temporaryFolder() });
  onTestFinished(() => engine.close());
  await engine.run(SITE, { pages });
  const ran: z.infer<typeof ranSchema>[] = [];
  for (const ms of after) {
    await setPlanOrder(engine, REPORTS, FIRST_MS + ms);
    await engine.run(`create or replace temp table planned as ${sql('sync/plan/report_plan')}`);
    ran.push(...(await engine.rows(ranSchema, RUN)));
    await engine.run(FETCHED);
  }
  const all = (of: keyof z.infer<typeof ranSchema>) => ran.map((each) => each[of]);
  return { asked: all('asked'), youngest: Math.min(...all('youngest')), oldest: Math.max(...all('oldest')) };
}

test('reports of pages that do not change are fetched again within 30 days, spread over the nights', async () => {
  const { asked, youngest, oldest } = await played(300, NIGHTS);
  expect([asked[0], Math.max(...asked) <= (2 * 300) / 30]).toEqual([0, true]);
  expect([youngest >= 1, oldest <= 30]).toEqual([true, true]);
  // After missed nights they are not all fetched at once.
  const late = await played(900, NIGHTS.slice(0, 15).toSpliced(2, 4));
  expect([(late.asked[2] ?? 0) > 120, Math.max(...late.asked.slice(3)) <= 60]).toEqual([true, true]);
});
