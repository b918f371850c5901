import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type Engine, withEngine } from '../src/base/storage/engine.js';
import { addDays } from '../src/base/time.js';
import { createTables, viewStatements } from '../src/warehouse/log/folder/tables.js';
import { judge, median, print } from './figures.js';
import { benchSql, MEMORY_LIMIT } from './generated-nights.js';
import { INSPECTED, type InspectedWorld, inspectedWorld, NIGHTS, type Scenario, STEADY } from './inspected-worlds.js';

/**
 * How often the interval of the estimated share holds the share that is really indexed, on every night of simulated
 * websites of Search Console whose pages are inspected as they are planned; and how soon an inspection sees what fell out.
 *
 * Run with: npm run bench:search-console. `BENCH_WORLDS` sets the number of worlds for each scenario.
 */
const WORLDS = Number(process.env['BENCH_WORLDS'] ?? 200);
const AT_ONCE = 10;
const FIRST_DATE = '2025-03-01';
/** Bounds are rounded. */
const ROUNDING = 0.00005;
/** The tables that worlds fill in part. */
const FILLED = ['snapshots', 'url_reports'];
const ACCIDENT = { from: 25, until: 40 };
const SCENARIOS: Record<string, Scenario> = {
  'steady: 0.3% of the pages change a night': STEADY,
  'nothing changes': { ...STEADY, turnover: 0, modified: 0 },
  '1% of the indexed pages fall out a night': { ...STEADY, loss: 0.01 },
  '2% of the indexed pages fall out a night': { ...STEADY, loss: 0.02 },
  '1% of the pages change a night': { ...STEADY, turnover: 0.03 },
  '2% of the pages change a night': { ...STEADY, turnover: 0.06 },
  'a fifth falls out and is repaired': { ...STEADY, accident: ACCIDENT },
  'ten new pages a night': { ...STEADY, newPages: 10 },
};
const AIM = { atLeast: 0.93, atMost: 0.97 };

/** A site of 100,000 pages at 2,000 a night, when each page was inspected at least once; all falls are followed for long. */
const LARGE: Scenario = { ...STEADY, pages: 100_000, perNight: 2_000, nights: 170, falls: { from: 90, to: 110 } };
const SOONER = { atMost: 0.4 };

const estimateRow = z.object({
  website_id: z.string(),
  night: z.int(),
  share_estimated: z.number().nullable(),
  share_low: z.number().nullable(),
  share_high: z.number().nullable(),
  no_estimate: z.string().nullable(),
});

const percent = (share: number) => `${(100 * share).toFixed(1)}%`;

async function main(): Promise<void> {
  for (const [at, [name, scenario]] of Object.entries(SCENARIOS).entries()) {
    const found = { nights: 0, none: 0, held: 0, bias: 0, width: 0 };
    for (let first = 0; first < WORLDS; first += AT_ONCE) {
      const seeds = Array.from({ length: Math.min(AT_ONCE, WORLDS - first) }, (_, nth) => at * WORLDS + first + nth);
      const worlds = new Map(
        seeds.map((seed) => inspectedWorld(seed, scenario)).map((world) => [world.website, world]),
      );
      for (const { website_id: id, night, ...row } of await estimates([...worlds.values()])) {
        const truth = worlds.get(id)?.truth[night] ?? Number.NaN;
        found.nights++;
        if (row.share_low === null || row.share_high === null || row.share_estimated === null) {
          found.none++;
          continue;
        }
        const held = Number(row.share_low - ROUNDING <= truth && truth <= row.share_high + ROUNDING);
        found.held += held;
        found.bias += row.share_estimated - truth;
        found.width += (row.share_high - row.share_low) / 2;
      }
    }
    const judged = found.nights - found.none;
    const points = (sum: number) => `${((100 * sum) / judged).toFixed(2)} points`;
    print(
      `${name}: ±${points(found.width)}, bias ${points(found.bias)}; no estimate in ${percent(found.none / found.nights)} of ${found.nights} nights`,
    );
    judge('  held', [found.held / judged], AIM);
  }
  const [planned, plain] = [inspectedWorld(1, LARGE), inspectedWorld(1, { ...LARGE, isPlain: true })];
  const sooner = (name: string, { waits, reasons, falseAlarms }: InspectedWorld) => {
    print(`${name}: half of all falls are seen within ${median(waits)} nights; ${JSON.stringify(reasons)}`);
    print(`  of the silent pages ${percent(falseAlarms / (reasons['silent'] ?? 1))} are still indexed`);
    return median(waits) / median(plain.waits);
  };
  print(`by plain rotation half of all falls are seen within ${median(plain.waits)} nights`);
  judge('  ratio', [sooner('a third of the pages is shown', planned)], SOONER);
  judge('  the most nights that a page is unseen', [planned.unseen], { atMost: plain.unseen });
  const fewer = inspectedWorld(1, { ...LARGE, traffic: { ...LARGE.traffic, share: 1 / 3 } });
  judge('  ratio', [sooner('a sixth of the pages is shown', fewer)], null);
  judge('  the most nights that a page is unseen', [fewer.unseen], { atMost: plain.unseen });
  print('again: npm run bench:search-console');
}

/** What the estimator says of each night of each world. */
async function estimates(worlds: readonly InspectedWorld[]) {
  const folder = mkdtempSync(join(tmpdir(), 'indexhouse-bench-'));
  try {
    return await withEngine({ memoryLimit: MEMORY_LIMIT, temporary: folder }, async (engine) => {
      await fill(engine, folder, worlds);
      const nights = Math.max(...worlds.map(({ truth }) => truth.length));
      return engine.rows(
        estimateRow,
        'select *, (snapshot_date - $first::date)::integer as night from estimated_shares(null, $until::date)',
        { first: FIRST_DATE, until: addDays(FIRST_DATE, nights - 1) },
      );
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(engine: Engine, folder: string, worlds: readonly InspectedWorld[]): Promise<void> {
  await createTables(engine);
  // The views stand on tables whose rows need not have all columns.
  for (const table of FILLED) await engine.run(`create or replace table ${table} as select * from ${table}`);
  for (const statement of viewStatements('UTC')) await engine.run(statement);
  const write = (name: string, lines: string[]) => {
    const file = join(folder, name);
    writeFileSync(file, `${lines.join('\n')}\n`);
    return file;
  };
  const inspected_file = write('inspected.csv', [INSPECTED, ...worlds.flatMap(({ inspections }) => inspections)]);
  const nights_file = write('nights.csv', [NIGHTS, ...worlds.flatMap(({ nights }) => nights)]);
  await engine.set({ inspected_file, nights_file, first_date: FIRST_DATE });
  for (const name of ['inspected_reports', 'inspected_snapshots']) await engine.run(benchSql(name));
}

await main();
