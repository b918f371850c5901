import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DEMO_WEBSITE_ID } from '../src/app/demo/simulator/world.js';
import { judge, median, print, RUNS, sizeOf, tell } from './figures.js';
import {
  type Cost,
  inFolder,
  nightsOf,
  runProgram,
  runScript,
  type Server,
  startSimulator,
  TOKEN,
} from './processes.js';
import { PROMISES } from './promises.js';

/**
 * What a night takes of a processor and of memory. A script without any checks (`naive-script.ts`) fetches the same and
 * loads it into DuckDB and Parquet, once with Node's own `fetch`, as most scripts do, and once with a tuned pool of
 * connections. All are whole processes against the same simulator, at the same concurrency, in turns.
 *
 * `BENCH_PAGES` sets the pages of a night, `BENCH_LISTED` those of the larger listing.
 */
const PAGES = sizeOf('BENCH_PAGES', 20_000);
/** What a night takes whatever its size. */
const SMALL = 20;
const LISTED = sizeOf('BENCH_LISTED', 200_000);
const SYNC = ['sync', '--log-level', 'warn'];
const LIST = [...SYNC, '--max-reports', '0'];
const CONCURRENCY = '8';
const SIDES = ['first night', 'second night', 'script with fetch', 'script with a pool'] as const;
type Costs = Record<(typeof SIDES)[number], Cost>;

async function main(): Promise<void> {
  print(`${PAGES} pages with their reports`);
  const runs: Costs[] = [];
  for (let run = 0; run < RUNS; run++) runs.push(await inSimulator(PAGES, costsOf));
  for (const side of SIDES) {
    const of = (cost: Exclude<keyof Cost, 'loadsGoogle'>) => median(runs.map((run) => run[side][cost]));
    tell(`  ${side}`, { 'processor seconds': of('seconds'), MB: of('megabytes'), statements: of('statements') });
  }
  const seconds = (side: keyof Costs) => median(runs.map((run) => run[side].seconds));
  judge(PROMISES.night.processor, seconds('first night') / seconds('script with fetch'));
  await inFolder(async (folder) => {
    const nights = await nightsOf(join(folder, 'warehouse'), SMALL);
    for (const [which, { seconds, statements }] of Object.entries(nights))
      tell(`${which} night of ${SMALL} pages`, { 'processor seconds': seconds, statements });
  });
  const [small = 0, large = 0] = [await listingMemory(LISTED / 10), await listingMemory(LISTED)];
  judge(
    PROMISES.night.memory,
    large / small,
    `${LISTED} pages ${Math.round(large)} MB, a tenth ${Math.round(small)} MB`,
  );
}

async function costsOf(simulator: Server, folder: string): Promise<Costs> {
  const script = (client: string) => {
    const place = join(folder, client);
    mkdirSync(place);
    return runScript([simulator.url, TOKEN, DEMO_WEBSITE_ID, place, CONCURRENCY, client]);
  };
  const warehouse = join(folder, 'warehouse');
  const scripts = { 'script with fetch': await script('fetch'), 'script with a pool': await script('pool') };
  const first = await runProgram(SYNC, warehouse, simulator.url);
  await fetch(`${simulator.url}/control/advance`, { method: 'POST' });
  return { ...scripts, 'first night': first, 'second night': await runProgram(SYNC, warehouse, simulator.url) };
}

/** The larger of two nights that only list: the second one compares with the state of the first. */
async function listingMemory(pages: number): Promise<number> {
  return inSimulator(pages, async ({ url }, folder) => {
    const night = () => runProgram(LIST, join(folder, 'warehouse'), url);
    return Math.max((await night()).megabytes, (await night()).megabytes);
  });
}

async function inSimulator<T>(pages: number, work: (simulator: Server, folder: string) => Promise<T>): Promise<T> {
  const simulator = await startSimulator(['--pages', String(pages), '--rate-limit', 'unlimited']);
  try {
    return await inFolder((folder) => work(simulator, folder));
  } finally {
    await simulator.stop();
  }
}

await main();
