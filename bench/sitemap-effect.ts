import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { findAnalysis } from '../src/answers/query/catalog.js';
import { valuesOf } from '../src/answers/query/parameters.js';
import { type Engine, withEngine } from '../src/base/storage/engine.js';
import { addDays, DAY_MS } from '../src/base/time.js';
import { createTables, viewStatements } from '../src/warehouse/log/folder/tables.js';
import { judge, median, print } from './figures.js';
import { benchSql, MEMORY_LIMIT } from './generated-nights.js';
import { makeWorld, type Scenario, STATES, type World } from './sitemap-worlds.js';

/**
 * How far `sitemap_effect` is off on simulated websites whose sitemaps have a known effect, and how often its interval
 * holds the truth: what would have become of the same pages had they not joined.
 *
 * Run with: npm run bench:sitemap-effect. `BENCH_WORLDS` sets the number of worlds for each scenario and effect.
 */
const WORLDS = Number(process.env['BENCH_WORLDS'] ?? 15);
const AT_ONCE = 25;
const EFFECTS = [0, 2, 10];
const FIRST_DATE = '2025-03-01';
const VERDICTS = ['helped', 'no clear difference', 'fell behind', 'cannot tell'] as const;
/** The bounds are rounded. */
const ROUNDING = 0.05;
/** Of 95%: among so few worlds, three in a hundred less may be chance. */
const LEAST_HELD = 0.92;
/** The tables that worlds fill in part. */
const FILLED = ['snapshots', 'page_state'];
const STATEMENTS = ['joined_snapshots', 'joined_versions', 'joined_changes', 'joined_state'];

export const PLAIN: Scenario = { nights: 60, spread: 0.35, crash: 'none', prefersNew: false, whole: 1 / 3 };
const SCENARIOS: Record<string, Scenario> = {
  plain: PLAIN,
  'sections of very different speed': { ...PLAIN, spread: 0.9 },
  'a crash elsewhere': { ...PLAIN, crash: 'elsewhere' },
  'a crash, also of joined pages': { ...PLAIN, crash: 'theirs', whole: 0 },
  'a crash of sections that joined whole': { ...PLAIN, crash: 'theirs', whole: 1 },
  'new pages preferred': { ...PLAIN, prefersNew: true },
  'two weeks of data': { ...PLAIN, nights: 14 },
};

const answerRow = z.object({
  website_id: z.string(),
  after_date: z.string(),
  pages: z.coerce.number(),
  effect_points: z.number().nullable(),
  at_least_points: z.number().nullable(),
  at_most_points: z.number().nullable(),
  verdict: z.enum(VERDICTS),
});
type Answer = z.infer<typeof answerRow>;

/** The answer about most pages of a world; null: there is none. */
export interface Asked {
  world: World;
  answer: Answer | null;
}

async function main(): Promise<void> {
  print(line('', ['worlds', 'answers', 'truth', 'bias', 'RMS', 'RMS*', 'held', 'width', ...VERDICTS]));
  const all: Asked[] = [];
  for (const [name, scenario] of Object.entries(SCENARIOS)) {
    for (const effect of EFFECTS) {
      const asked = await askWorlds({ scenario, effect, seed: all.length, worlds: WORLDS });
      printFigures(`${name}, +${effect}`, asked);
      all.push(...asked);
    }
  }
  const those = (name: string, is: (world: World) => boolean) =>
    printFigures(
      name,
      all.filter(({ world }) => is(world)),
    );
  for (const nights of new Set(all.map(({ world }) => world.reportEvery)))
    those(`reports at least every ${nights} nights`, ({ reportEvery }) => reportEvery === nights);
  those('parts of sections joined', ({ isWhole }) => !isWhole);
  those('whole sections joined', ({ isWhole }) => isWhole);
  those('all', () => true);
  judge('share of intervals that hold the truth', [heldOf(all)], { atLeast: LEAST_HELD });
  print('RMS*: of those that do not say "cannot tell"; again: npm run bench:sitemap-effect');
}

/** Asks so many worlds of a scenario, with this effect in percentage points. */
export async function askWorlds(asking: {
  scenario: Scenario;
  effect: number;
  seed: number;
  worlds: number;
}): Promise<Asked[]> {
  const { scenario, effect, seed } = asking;
  const temporary = mkdtempSync(join(tmpdir(), 'indexhouse-bench-'));
  const asked: Asked[] = [];
  try {
    while (asked.length < asking.worlds) {
      const worlds = Array.from({ length: Math.min(AT_ONCE, asking.worlds - asked.length) }, (_, nth) =>
        makeWorld(seed + asked.length + nth, scenario, effect),
      );
      const answers = await withEngine({ memoryLimit: MEMORY_LIMIT, temporary }, async (engine) => {
        await fill(engine, worlds);
        const analysis = findAnalysis('sitemap_effect');
        const values = valuesOf(analysis, new Map([['limit', 'none']]), addDays(FIRST_DATE, scenario.nights - 1));
        return engine.rows(answerRow, analysis.sql, values);
      });
      const most = answers.sort((one, other) => other.pages - one.pages);
      for (const [at, world] of worlds.entries())
        asked.push({ world, answer: most.find(({ website_id }) => website_id === String(at)) ?? null });
    }
    return asked;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Makes what the analysis reads of these worlds, each a website. */
async function fill(engine: Engine, worlds: readonly World[]): Promise<void> {
  await createTables(engine);
  for (const statement of viewStatements('UTC')) await engine.run(statement);
  // Copies, in which no column must have a value.
  for (const table of FILLED) await engine.run(`create or replace table ${table} as from ${table}`);
  await engine.run('create table changes_made as from page_changes');
  await engine.run('create or replace view page_changes as from changes_made');
  await engine.run('drop table page_versions');
  await engine.set({ first_date: FIRST_DATE });
  const pages = worlds.flatMap((world, at) =>
    world.pages.map(({ otherwise: _, ...page }, nth) => ({
      ...page,
      website_id: String(at),
      url: `https://www.example.com/section-${page.section}/page-${nth}`,
      states: page.states.map((state) => STATES[state]),
      joins_on: world.joinsOn,
    })),
  );
  await engine.run(benchSql('joined_pages'), { pages: JSON.stringify(pages) });
  for (const name of STATEMENTS) await engine.run(benchSql(name));
}

function printFigures(name: string, asked: readonly Asked[]): void {
  const estimates = estimatesOf(asked);
  const offs = estimates.map(({ off }) => off);
  const verdicts = VERDICTS.map((verdict) => String(asked.filter(({ answer }) => answer?.verdict === verdict).length));
  const figures = [
    mean(estimates.map(({ truth }) => truth)).toFixed(1),
    mean(offs).toFixed(1),
    rootMeanSquare(offs).toFixed(1),
    rootMeanSquare(estimates.flatMap(({ verdict, off }) => (verdict === 'cannot tell' ? [] : [off]))).toFixed(1),
    `${(100 * heldOf(asked)).toFixed(1)}%`,
    median(estimates.map(({ width }) => width)).toFixed(1),
  ];
  print(line(name, [String(asked.length), String(estimates.length), ...figures, ...verdicts]));
}

function line(name: string, figures: readonly string[]): string {
  return `${name.padEnd(42)}${figures.map((figure, at) => figure.padStart(at < 8 ? 8 : 21)).join('')}`;
}

/** The share of the intervals that hold the truth. */
export function heldOf(asked: readonly Asked[]): number {
  return mean(estimatesOf(asked).map(({ isHeld }) => Number(isHeld)));
}

function estimatesOf(asked: readonly Asked[]) {
  return asked.flatMap(({ world, answer }) => {
    const { effect_points: effect = null, at_least_points: low = null, at_most_points: high = null } = answer ?? {};
    if (answer === null || effect === null || low === null || high === null) return [];
    const truth = truthOf(world, answer.after_date);
    return [
      {
        truth,
        verdict: answer.verdict,
        off: effect - truth,
        width: high - low,
        isHeld: Math.abs(truth - (low + high) / 2) <= (high - low) / 2 + ROUNDING,
      },
    ];
  });
}

/** How many points more of the joined pages are indexed on a date than if they had not joined. */
function truthOf({ pages }: World, date: string): number {
  const night = (Date.parse(date) - Date.parse(FIRST_DATE)) / DAY_MS;
  const joined = pages.filter(({ joins }) => joins);
  const indexed = (key: 'states' | 'otherwise') =>
    joined.filter((page) => page[key][night - Math.max(page.born, 0)] === 0).length / joined.length;
  return 100 * (indexed('states') - indexed('otherwise'));
}

function rootMeanSquare(numbers: readonly number[]): number {
  return Math.sqrt(mean(numbers.map((number) => number ** 2)));
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}

if (import.meta.filename === process.argv[1]) await main();
