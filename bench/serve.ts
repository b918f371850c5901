import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool, request } from 'undici';
import { z } from 'zod';
import { judge, median, print, RUNS, whole } from './figures.js';
import { generateHistory } from './generate-history.js';
import { WEBSITE_ID } from './generated-nights.js';
import { type Service, startBenchService, TOKEN } from './processes.js';

/**
 * What windows of a listing of a million pages cost, beside a bare route of the same process that sends a body of the
 * same size that was prepared: windows of clients that each walk, and windows early and deep in the listing.
 *
 * Run with: npm run bench:serve. `BENCH_PAGES` makes the listing smaller.
 */
const PAGES = Number(process.env['BENCH_PAGES'] ?? 1_000_000);
const CONNECTIONS = 50;
const REQUESTS = 200;
/** Twenty of each walker. */
const WALK_REQUESTS = 1000;
const WARM_UP_REQUESTS = 50;
const DEFAULT_LIMIT = 100;
/** Clients that walk side by side, each through a part of its own. */
const WALKERS = 50;

/** What some requests took of the clock, and the server of a processor, each. */
interface Cost {
  perSecond: number;
  cpuMs: number;
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'indexhouse-bench-'));
  try {
    const warehouse = join(folder, 'warehouse');
    print(`a listing of ${whole(PAGES)} pages`);
    await generateHistory({ warehouse, pages: PAGES, nights: 1, reportEvery: 1_000_000 });
    const begun = performance.now();
    const service = await startBenchService('served-warehouse', [warehouse]);
    print(`  served after ${((performance.now() - begun) / 1000).toFixed(1)} s`);
    try {
      await bench(service);
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  print('again: npm run bench:serve');
}

async function bench(service: Service): Promise<void> {
  const somewhere = (number: number) => (number * 7_919) % Math.ceil(PAGES / 10);
  let walked = 0;
  const paths = {
    walks: () => {
      const window = Math.floor(walked / WALKERS);
      const begin = Math.floor(((walked++ % WALKERS) * PAGES) / WALKERS);
      return windowAt((begin + window * DEFAULT_LIMIT) % PAGES);
    },
    early: (number: number) => windowAt(somewhere(number)),
    deep: (number: number) => windowAt(Math.floor(PAGES * 0.9) + somewhere(number)),
  };
  const costs: Record<keyof typeof paths | 'bare', Cost[]> = { bare: [], walks: [], early: [], deep: [] };
  const bare = await bareUrl(service);
  const runBare = (requests: number) => run(service, () => '/', requests, bare);
  await runBare(WARM_UP_REQUESTS);
  for (const path of Object.values(paths)) await run(service, path, WARM_UP_REQUESTS);
  for (let round = 0; round < RUNS; round++) {
    costs.bare.push(await runBare(REQUESTS));
    costs.walks.push(await run(service, paths.walks, WALK_REQUESTS));
    for (const name of ['early', 'deep'] as const) {
      costs[name].push(await run(service, paths[name], REQUESTS));
    }
  }
  for (const [name, each] of Object.entries(costs)) {
    const rates = each.map(({ perSecond }) => whole(perSecond)).join(', ');
    print(
      `  ${name}: ${rates} a second; ${median(each.map(({ cpuMs }) => cpuMs)).toFixed(3)} ms of processor time each`,
    );
  }
  const ratio = (one: Cost[], other: Cost[]) => one.map(({ cpuMs }, at) => cpuMs / (other[at]?.cpuMs ?? 0));
  judge('processor time of a prepared body ÷ a window of a walk', ratio(costs.bare, costs.walks), {
    atLeast: 0.005,
  });
  judge('a window deep in the listing ÷ an early one', ratio(costs.deep, costs.early), { atMost: 2 });
}

function windowAt(skip: number): string {
  return `/v1/urls/${WEBSITE_ID}?skip=${skip}&limit=${DEFAULT_LIMIT}`;
}

async function run(
  service: Service,
  path: (number: number) => string,
  requests: number,
  origin = service.url,
): Promise<Cost> {
  const pool = new Pool(origin, { connections: CONNECTIONS });
  const headers = { authorization: `Bearer ${TOKEN}` };
  const cpuBefore = await cpuSeconds(service);
  const begun = performance.now();
  let next = 0;
  const work = async (): Promise<void> => {
    for (let number = next++; number < requests; number = next++) {
      const { statusCode, body } = await pool.request({ path: path(number), method: 'GET', headers });
      await body.dump({ limit: Number.MAX_SAFE_INTEGER });
      if (statusCode !== 200) throw new Error(`the server answered ${statusCode} at ${path(number)}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  const seconds = (performance.now() - begun) / 1000;
  const cpuMs = (((await cpuSeconds(service)) - cpuBefore) * 1000) / requests;
  await pool.close();
  return { perSecond: requests / seconds, cpuMs };
}

async function bareUrl({ url }: Service): Promise<string> {
  const { body } = await request(`${url}/bare-url`);
  return z.object({ url: z.string() }).parse(await body.json()).url;
}

async function cpuSeconds({ url }: Service): Promise<number> {
  const { body } = await request(`${url}/cpu`);
  return z.object({ seconds: z.number() }).parse(await body.json()).seconds;
}

await main();
