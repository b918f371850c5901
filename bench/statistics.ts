import { z } from 'zod';
import { configSchema } from '../src/base/config/schema.js';
import { type Engine, withEngine } from '../src/base/storage/engine.js';
import { sql } from '../src/base/storage/sql.js';
import { addDays, DAY_MS } from '../src/base/time.js';
import { planInspections, setPlanOrder } from '../src/sync/plan-reports.js';
import { createTables, viewScript } from '../src/warehouse/log/folder/tables.js';
import { judge, median, print, sizeOf, tell } from './figures.js';
import { benchSql, MEMORY_LIMIT } from './generate-history.js';
import { inFolder } from './processes.js';
import { PROMISES } from './promises.js';

/**
 * How often the interval of the estimated share contains the share that is really indexed, and how soon inspections see
 * what fell out: simulated websites of Search Console live through nights, and the project's own planner chooses what is
 * inspected.
 *
 * `BENCH_WORLDS` sets the websites of each scenario, `BENCH_PAGES` their pages, `BENCH_LARGE` those of the website whose
 * falls are followed.
 */
const WORLDS = sizeOf('BENCH_WORLDS', 4);
const PAGES = sizeOf('BENCH_PAGES', 4_000);
const LARGE = sizeOf('BENCH_LARGE', 5_000);
const NIGHTS = 60;
const FIRST_DATE = '2025-03-01';
const FIRST_NIGHT_MS = Date.parse(`${FIRST_DATE}T20:00:00Z`);
/** Days of search analytics before the first night. */
const DAYS_BEFORE = 90;
/** Bounds are rounded. */
const ROUNDING = 0.00005;
const NEVER = 1_000_000;
const { reports: REPORTS } = configSchema.parse({ api: { base_url: 'http://127.0.0.1', token: 'none' } });
/** The tables of which a world has what the planner and the estimate need. */
const SEARCH = ['search_final', 'search_fresh', 'search_fetches'];
const WORLD = [
  'unit',
  'moment',
  'pages',
  'search_final',
  'search_fresh',
  'search_fetches',
  'compared',
  'previous',
  'listed',
];
const { statistics: PROMISED } = PROMISES;

interface Scenario {
  pages: number;
  nights: number;
  /** The nights that a plain rotation takes for all pages. */
  rotation: number;
  /** Pages of a section take this part of the way to its share each night. */
  turnover: number;
  /** The share of the indexed pages that fall out for good each night. */
  loss: number;
  /** From and to which night a fifth of the sections is out of the index. */
  accident: number;
  repaired: number;
  /** The share of the pages that search shows while they are indexed. */
  traffic: number;
}

const STEADY: Scenario = {
  ...{ pages: PAGES, nights: NIGHTS, rotation: 40, turnover: 0.009, loss: 0 },
  ...{ accident: NEVER, repaired: NEVER, traffic: 2 / 3 },
};
const SCENARIOS: Record<string, Scenario> = {
  '0.3% of the pages change a night': STEADY,
  '1% of the indexed pages fall out a night': { ...STEADY, loss: 0.01 },
  '2% of the indexed pages fall out a night': { ...STEADY, loss: 0.02 },
  'a fifth falls out and is repaired': { ...STEADY, accident: 25, repaired: 40 },
};
/** All falls of some nights are followed for long, from when each page was inspected at least once. */
const FOLLOWED = { ...STEADY, pages: LARGE, rotation: 50, nights: 170 };
const FALLS = { from: 90, to: 110 };

const nightRow = z.object({
  night: z.int(),
  truth: z.number(),
  unseen: z.number().nullable(),
  waits: z.array(z.number()).nullable(),
  share_low: z.number().nullable(),
  share_high: z.number().nullable(),
});
type Night = z.infer<typeof nightRow>;

async function main(): Promise<void> {
  const held: number[] = [];
  for (const [at, [name, scenario]] of Object.entries(SCENARIOS).entries()) {
    const worlds: number[] = [];
    for (let nth = 0; nth < WORLDS; nth++) worlds.push(heldIn(await live(at * WORLDS + nth, scenario)));
    tell(`  ${name}`, { 'share of nights': mean(worlds) });
    held.push(...worlds);
  }
  print(`${held.length} websites of ${PAGES} pages on ${NIGHTS} nights`);
  const error = Math.sqrt(mean(held.map((one) => (one - mean(held)) ** 2)) / (held.length - 1));
  judge(PROMISED.held, mean(held), `± ${(2 * error).toFixed(3)} by chance`, 2 * error);

  const nights = await live(0, FOLLOWED);
  const { pages, rotation } = FOLLOWED;
  print(`${pages} pages, of which a plain rotation inspects each every ${rotation} nights`);
  const falls = nights.flatMap(({ night, waits }) => (waits ?? []).filter((wait) => isFollowed(night - wait)));
  judge(PROMISED.falls, median(falls) / (rotation / 2), `${falls.length} falls`);
  judge(PROMISED.unseen, Math.max(...nights.slice(rotation).map(({ unseen }) => unseen ?? 0)) / rotation);
}

function isFollowed(night: number): boolean {
  return night >= FALLS.from && night < FALLS.to;
}

/** The share of the nights with an estimate whose interval contains the truth. */
function heldIn(nights: readonly Night[]): number {
  const judged = nights.flatMap(({ truth, share_low: low, share_high: high }) =>
    low === null || high === null ? [] : [Number(low - ROUNDING <= truth && truth <= high + ROUNDING)],
  );
  return mean(judged);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, one) => sum + one, 0) / values.length;
}

/** A website that lives through its nights, and what the estimate says of each. */
function live(seed: number, scenario: Scenario): Promise<Night[]> {
  return inFolder((temporary) =>
    withEngine({ memoryLimit: MEMORY_LIMIT, temporary }, async (engine) => {
      await found(engine, seed, scenario);
      for (let night = 0; night < scenario.nights; night++) await passNight(engine, night);
      return engine.rows(
        nightRow,
        `select night, truth, unseen, waits, share_low, share_high
         from world_seen left join estimated_shares(null, $until::date) on snapshot_date = $first::date + night
         order by night`,
        { first: FIRST_DATE, until: addDays(FIRST_DATE, scenario.nights) },
      );
    }),
  );
}

async function found(engine: Engine, seed: number, { pages, nights, rotation, ...scenario }: Scenario): Promise<void> {
  await createTables(engine);
  for (const table of SEARCH) await engine.run(`drop table ${table}`);
  // The rows need not have all columns.
  await engine.run('create or replace table snapshots as select * from snapshots');
  await engine.run('create table world_shown (url varchar, day integer, is_early boolean)');
  await engine.run('create table world_seen (night integer, waits integer[], unseen integer, truth double)');
  await engine.set({ seed, pages, ...scenario, first_date: FIRST_DATE, since: -DAYS_BEFORE, night: -1 });
  for (const name of WORLD) await engine.run(benchSql(`world_${name}`));
  await engine.run(viewScript('UTC'));
  await engine.run(benchSql('world_shown'));
  const [left, scope] = [Math.ceil(pages / rotation), '.w.example'];
  await engine.set({ scopes: [scope], quotas: JSON.stringify([{ scope, left, per_day: left }]) });
}

async function passNight(engine: Engine, night: number): Promise<void> {
  await engine.set({ night, since: night });
  for (const name of ['night', 'shown']) await engine.run(benchSql(`world_${name}`));
  await setPlanOrder(engine, REPORTS, FIRST_NIGHT_MS + night * DAY_MS);
  await engine.table('planned', await planInspections(engine, 1));
  const evidence = `select to_json(evidence)::varchar as evidence from (${sql('sync/plan/evidence')}) as evidence`;
  const [row] = await engine.rows(z.object({ evidence: z.string() }), evidence);
  await engine.set({ evidence: row?.evidence ?? null });
  for (const name of ['falls', 'snapshot', 'inspected']) await engine.run(benchSql(`world_${name}`));
}

await main();
