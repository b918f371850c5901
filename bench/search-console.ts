import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type Engine, withEngine } from '../src/base/storage/engine.js';
import { addDays } from '../src/base/time.js';
import { createTables, viewStatements } from '../src/warehouse/log/folder/tables.js';
import { judge, median, print } from './figures.js';
import { benchSql, MEMORY_LIMIT } from './generated-nights.js';
import { INSPECTED, type InspectedWorld, inspectedWorld, type Scenario, STEADY } from './inspected-worlds.js';

/**
 * How often the interval of the estimated share holds the share that is really indexed, on the last night of simulated
 * websites of Search Console whose pages are inspected as they are planned: for reasons, and by rotation.
 *
 * Run with: npm run bench:search-console. `BENCH_WORLDS` sets the number of worlds for each scenario.
 */
const WORLDS = Number(process.env['BENCH_WORLDS'] ?? 200);
const AT_ONCE = 20;
const FIRST_DATE = '2025-03-01';
/** Bounds are rounded. */
const ROUNDING = 0.00005;
/** The tables that worlds fill in part. */
const FILLED = ['snapshots', 'coverage_summary', 'url_reports'];
const SCENARIOS: Record<string, Scenario> = {
  steady: STEADY,
  'as many again inspected for reasons': { ...STEADY, modified: 0.016 },
  'a site that loses half a point a night': { ...STEADY, drift: -0.005 },
  'ten new pages a night': { ...STEADY, newPages: 10 },
};
/** Judged together; the others show where it stops. */
const JUDGED = new Set(Object.keys(SCENARIOS).slice(0, 2));
/** A site of 100,000 pages at 2,000 a night, when each page was inspected at least once; all falls are followed for long. */
const LARGE: Scenario = { ...STEADY, pages: 100_000, perNight: 2_000, nights: 170, falls: { from: 90, to: 110 } };
const SOONER = { atMost: 0.6 };
const AIM = { atLeast: 0.93, atMost: 0.97 };

const estimateRow = z.object({
  website_id: z.string(),
  share_estimated: z.number(),
  share_low: z.number(),
  share_high: z.number(),
  sampled: z.int(),
});

async function main(): Promise<void> {
  let held = 0;
  for (const [at, [name, scenario]] of Object.entries(SCENARIOS).entries()) {
    const found = { held: 0, bias: 0, width: 0, plain: 0, sampled: 0 };
    for (let first = 0; first < WORLDS; first += AT_ONCE) {
      const seeds = Array.from({ length: Math.min(AT_ONCE, WORLDS - first) }, (_, nth) => at * WORLDS + first + nth);
      const worlds = seeds.map((seed) => inspectedWorld(seed, scenario));
      for (const { website_id: id, ...row } of await estimates(worlds, scenario.nights)) {
        const world = worlds.find(({ website }) => website === id);
        if (!world) throw new Error(`no world ${id}`);
        const { truth, plain } = world;
        found.held += Number(row.share_low - ROUNDING <= truth && truth <= row.share_high + ROUNDING);
        found.bias += row.share_estimated - truth;
        found.plain += Math.abs(plain - truth);
        found.width += (row.share_high - row.share_low) / 2;
        found.sampled += row.sampled;
      }
    }
    const points = (sum: number) => `${((100 * sum) / WORLDS).toFixed(2)} points`;
    print(
      `${name}: ±${points(found.width)} by ${Math.round(found.sampled / WORLDS)} pages, bias ${points(found.bias)}; ` +
        `the share of what was inspected is ${points(found.plain)} off`,
    );
    judge(`  held in, of ${WORLDS} worlds`, [found.held / WORLDS], null);
    if (JUDGED.has(name)) held += found.held;
  }
  judge('held in the first two', [held / JUDGED.size / WORLDS], AIM);
  const waits = [LARGE, { ...LARGE, forReasons: 0 }].map((scenario) => median(inspectedWorld(1, scenario).waits));
  const [sooner = 0, rotation = 0] = waits;
  print(`half of all falls are seen within ${sooner} nights, by plain rotation within ${rotation}`);
  judge('  ratio', [sooner / rotation], SOONER);
  print('again: npm run bench:search-console');
}

/** What the estimator says of the last night of each world. */
async function estimates(worlds: readonly InspectedWorld[], nights: number) {
  const folder = mkdtempSync(join(tmpdir(), 'indexhouse-bench-'));
  try {
    return await withEngine({ memoryLimit: MEMORY_LIMIT, temporary: folder }, async (engine) => {
      await fill(engine, folder, worlds);
      const until = addDays(FIRST_DATE, nights - 1);
      return engine.rows(estimateRow, 'from estimated_shares(null, $until::date) where snapshot_date = $until::date', {
        until,
      });
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
  const file = join(folder, 'inspected.csv');
  writeFileSync(file, `${INSPECTED}\n${worlds.flatMap(({ rows }) => rows).join('\n')}\n`);
  await engine.set({ inspected_file: file, first_date: FIRST_DATE });
  for (const name of ['inspected_reports', 'inspected_snapshots', 'inspected_summary']) {
    await engine.run(benchSql(name));
  }
  rmSync(file);
}

await main();
