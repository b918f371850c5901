import { z } from 'zod';
import { configSchema } from '../src/base/config/schema.js';
import { type Engine, withEngine } from '../src/base/storage/engine.js';
import { sql } from '../src/base/storage/sql.js';
import { addDays, DAY_MS } from '../src/base/time.js';
import { planInspections, setPlanOrder } from '../src/sync/plan-reports.js';
import { createTables, viewScript } from '../src/warehouse/log/folder/tables.js';
import { judge, median, sizeOf, tell } from './figures.js';
import { benchSql, MEMORY_LIMIT } from './generate-history.js';
import { inFolder } from './processes.js';
import { PROMISES, type Promised } from './promises.js';

/**
 * How often the interval of the estimated share contains the share that is really indexed, how wide it is, and how soon
 * inspections see what fell out: simulated websites of Search Console live through nights, and the project's own planner
 * chooses what is inspected. A plain rotation over the same pages inspects as many a night.
 *
 * `BENCH_WORLDS` sets the websites of each scenario, `BENCH_WORLD` the scenarios by a part of their names. `npm
 * run bench:statistics -- --all` adds sizes and events.
 */
const WORLDS = sizeOf('BENCH_WORLDS', 1);
const ONLY = process.env['BENCH_WORLD'] ?? '';
const IS_ALL = process.argv.includes('--all');
const FIRST_DATE = '2025-03-01';
const FIRST_NIGHT_MS = Date.parse(`${FIRST_DATE}T20:00:00Z`);
/** Days of search analytics before the first night. */
const DAYS_BEFORE = 90;
/** The first nights of a website inspect too little to be judged. */
const JUDGED_FROM = 5;
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
  'now',
  'search_days',
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
  /** New pages a night, and pages that nothing names any more, as shares of those of the first night. */
  growth: number;
  leaving: number;
  /** On which night all addresses change; 0: on none. */
  moved: number;
}

const STEADY: Scenario = {
  ...{ pages: 400, nights: 40, rotation: 10, turnover: 0.009, loss: 0, accident: NEVER, repaired: NEVER },
  ...{ traffic: 2 / 3, growth: 0, leaving: 0, moved: 0 },
};
/** What happens, at each of the sizes. */
const EVENTS: Record<string, Partial<Scenario>> = {
  'nothing special': {},
  '1% falls a night': { loss: 0.01 },
  '1% falls a night, a fifth shown in search': { loss: 0.01, traffic: 0.2 },
  '1% falls a night, none shown in search': { loss: 0.01, traffic: 0 },
  '2% falls a night': { loss: 0.02 },
  '1% new a night': { growth: 0.01 },
  '0.5% leaves a night': { leaving: 0.005 },
  'all addresses move': { moved: 20 },
  'a fifth falls, then is repaired': { accident: 15, repaired: 28 },
};
/** The sizes of the default run, and those that `--all` adds. */
const SIZES: readonly Partial<Scenario>[] = [
  { pages: 400, rotation: 10 },
  { pages: 5000, rotation: 2.5 },
];
const MORE_SIZES: readonly Partial<Scenario>[] = [
  { pages: 100, rotation: 10 },
  { pages: 436, rotation: 1 },
  { pages: 1000, rotation: 2 },
  { pages: 2000, rotation: 40 },
  { pages: 5000, rotation: 10 },
];
const FALLS_FAST = '5% falls a night';
const MOVES_EARLY = 'all addresses move early';
/** Worlds of one size: those in which estimate or plan were wrong once, and large ones. */
const SINGLE: readonly (readonly [string, Partial<Scenario>])[] = [
  [FALLS_FAST, { pages: 1500, rotation: 20, loss: 0.05, nights: 60 }],
  [MOVES_EARLY, { moved: 6 }],
];
const MORE_SINGLE: readonly (readonly [string, Partial<Scenario>])[] = [
  [FALLS_FAST, { loss: 0.05 }],
  [FALLS_FAST, { pages: 5000, loss: 0.05 }],
  [MOVES_EARLY, { pages: 5000, moved: 6 }],
  ['all addresses move late', { moved: 30, nights: 75 }],
  ['a fifth falls early', { accident: 3 }],
  ['a tenth new a night', { growth: 0.1 }],
  ['1% falls a night', { pages: 20_000, loss: 0.01, nights: 30 }],
  ['1% falls a night', { pages: 20_000, rotation: 2.5, loss: 0.01, nights: 20 }],
];
/** All falls of some nights are followed for long, from when each page was inspected at least once. */
const FOLLOWED_NAME = '5000 pages, 100 a night, falls followed for long';
const FOLLOWED: Scenario = { ...STEADY, pages: 5_000, rotation: 50, nights: 170 };
/** Falls of the last nights may not be seen yet: so many, and at least this part of a plain rotation. */
const UNFOLLOWED = 12;
const UNFOLLOWED_ROTATION = 1.2;
/** Fewer falls of a website have no mean to judge. */
const FEWEST = 30;

const nightRow = z.object({
  night: z.int(),
  truth: z.number(),
  /** For how many nights a page has neither been inspected nor shown; for how many rounds one that search shows never was. */
  unseen: z.number().nullable(),
  uninspected: z.number().nullable(),
  waits: z.array(z.number()).nullable(),
  plain_waits: z.array(z.number()).nullable(),
  share_low: z.number().nullable(),
  share_high: z.number().nullable(),
});
type Night = z.infer<typeof nightRow>;

type World = { name: string } & ReturnType<typeof figuresOf>;

/** A mean, and twice its standard error. */
interface Mean {
  mean: number;
  slack: number;
  count: number;
}

async function main(): Promise<void> {
  const worlds: World[] = [];
  for (const [event, what] of scenarios()) {
    const scenario = { ...STEADY, ...what };
    const { pages, rotation } = scenario;
    const name = `${pages} pages, ${Math.ceil(pages / rotation)} a night, ${event}`;
    if (!name.includes(ONLY)) continue;
    const nights: Night[] = [];
    for (let seed = 0; seed < WORLDS; seed++) nights.push(...(await live(seed, scenario)));
    const figures = figuresOf(nights, scenario);
    const { seen, plain, ...others } = figures;
    tell(name, { ...others, 'falls seen after': seen.mean, 'by plain rotation': plain.mean });
    worlds.push({ name, ...figures });
  }
  judgeWorst(worlds, PROMISED.held, ({ held }) => held);
  judgeWorst(worlds, PROMISED.given, ({ given }) => given);
  judgeWorst(
    worlds.filter(({ plain }) => plain.mean > 0 && plain.count >= FEWEST),
    PROMISED.later,
    ({ seen, plain }) => (seen.mean - Math.hypot(seen.slack, plain.slack)) / plain.mean,
  );
  judgeWorst(worlds, PROMISED.first, ({ first }) => first);
  if (!FOLLOWED_NAME.includes(ONLY)) return;

  const nights = await live(0, FOLLOWED);
  const falls = fallsOf(nights, 'waits', 90, 110);
  judge(PROMISED.falls, median(falls) / (FOLLOWED.rotation / 2), `${falls.length} falls of 5,000 pages`);
  judge(
    PROMISED.unseen,
    Math.max(...nights.slice(FOLLOWED.rotation).map(({ unseen }) => unseen ?? 0)) / FOLLOWED.rotation,
  );
}

function scenarios() {
  const sizes = IS_ALL ? [...SIZES, ...MORE_SIZES] : SIZES;
  return [
    ...Object.entries(EVENTS).flatMap(([event, what]) => sizes.map((size) => [event, { ...what, ...size }] as const)),
    ...SINGLE,
    ...(IS_ALL ? MORE_SINGLE : []),
  ];
}

/** Judges a promise in each website, and names the one that keeps it least. */
function judgeWorst(worlds: readonly World[], promised: Promised, figureOf: (world: World) => number): void {
  const sign = promised.atLeast === undefined ? -1 : 1;
  const [worst] = worlds.toSorted((one, other) => sign * (figureOf(one) - figureOf(other)));
  if (worst) judge(promised, figureOf(worst), `the worst of ${worlds.length}: ${worst.name}`);
}

function figuresOf(all: readonly Night[], { nights, rotation }: Scenario) {
  const judged = all.filter(({ night }) => night >= JUDGED_FROM);
  const given = judged.flatMap(({ truth, share_low: low, share_high: high }) =>
    low === null || high === null ? [] : [{ truth, low, high }],
  );
  const isHeld = given.map(({ truth, low, high }) => Number(low - ROUNDING <= truth && truth <= high + ROUNDING));
  const until = nights - Math.max(UNFOLLOWED, UNFOLLOWED_ROTATION * rotation);
  return {
    held: meanOf(isHeld).mean,
    given: given.length / judged.length,
    width: median(given.map(({ low, high }) => high - low)),
    first: Math.max(...all.map(({ uninspected }) => uninspected ?? 0)),
    seen: meanOf(fallsOf(all, 'waits', rotation, until)),
    plain: meanOf(fallsOf(all, 'plain_waits', rotation, until)),
  };
}

/** After how many nights the falls between two nights were seen. */
function fallsOf(nights: readonly Night[], by: 'waits' | 'plain_waits', from: number, until: number): number[] {
  return nights.flatMap((one) =>
    (one[by] ?? []).filter((wait) => one.night - wait >= from && one.night - wait < until),
  );
}

function meanOf(values: readonly number[]): Mean {
  const mean = values.reduce((sum, one) => sum + one, 0) / values.length;
  const variance = values.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (values.length - 1);
  return { mean, slack: 2 * Math.sqrt(variance / values.length), count: values.length };
}

/** A website that lives through its nights, and what the estimate says of each. */
function live(seed: number, scenario: Scenario): Promise<Night[]> {
  return inFolder((temporary) =>
    withEngine({ memoryLimit: MEMORY_LIMIT, temporary }, async (engine) => {
      await found(engine, seed, scenario);
      for (let night = 0; night < scenario.nights; night++) await passNight(engine, night);
      return engine.rows(
        nightRow,
        `select world_seen.*, share_low, share_high
         from world_seen left join estimated_shares(null, $until::date) on snapshot_date = $first::date + night
         order by night`,
        { first: FIRST_DATE, until: addDays(FIRST_DATE, scenario.nights) },
      );
    }),
  );
}

async function found(engine: Engine, seed: number, { nights, rotation, ...scenario }: Scenario): Promise<void> {
  const { pages, moved, growth } = scenario;
  await createTables(engine);
  for (const table of SEARCH) await engine.run(`drop table ${table}`);
  // The rows need not have all columns.
  await engine.run('create or replace table snapshots as select * from snapshots');
  await engine.run('create table world_shown (url varchar, day integer, is_early boolean)');
  await engine.run(
    'create table world_seen (night integer, waits integer[], plain_waits integer[], unseen integer, uninspected double, truth double)',
  );
  const later = moved > 0 ? pages : Math.ceil(growth * pages) * nights;
  await engine.set({ seed, ...scenario, later, first_date: FIRST_DATE, since: -DAYS_BEFORE, night: -1 });
  for (const name of WORLD) await engine.run(benchSql(`world_${name}`));
  await engine.run(viewScript('UTC'));
  await engine.run(benchSql('world_shown'));
  const [left, scope] = [Math.ceil(pages / rotation), '.w.example'];
  await engine.set({ a_night: left, scopes: [scope], quotas: JSON.stringify([{ scope, left, per_day: left }]) });
}

async function passNight(engine: Engine, night: number): Promise<void> {
  await engine.set({ night, since: night });
  for (const name of ['night', 'shown', 'plain']) await engine.run(benchSql(`world_${name}`));
  await setPlanOrder(engine, REPORTS, FIRST_NIGHT_MS + night * DAY_MS);
  await engine.table('planned', await planInspections(engine, 1));
  const evidence = `select to_json(evidence)::varchar as evidence from (${sql('sync/plan/evidence')}) as evidence`;
  const [row] = await engine.rows(z.object({ evidence: z.string() }), evidence);
  await engine.set({ evidence: row?.evidence ?? null });
  for (const name of ['falls', 'snapshot', 'inspected']) await engine.run(benchSql(`world_${name}`));
}

await main();
