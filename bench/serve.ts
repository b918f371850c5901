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
 * Windows of the listing that a served warehouse of a million pages gives in a second, as a share of what a bare route
 * of the same process gives with a body of the same size that was prepared; and what a window deep in the listing
 * costs beside the first one.
 *
 * Run with: npm run bench:serve. `BENCH_PAGES` makes the listing smaller.
 */
const PAGES = Number(process.env['BENCH_PAGES'] ?? 1_000_000);
const CONNECTIONS = 50;
const REQUESTS = 400;
const WARM_UP_REQUESTS = 50;
const DEFAULT_LIMIT = 100;
const DEEP = Math.floor(PAGES * 0.9);

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
  const paths = {
    anywhere: (number: number) => windowAt((number * 7_919) % Math.max(1, PAGES - DEFAULT_LIMIT)),
    first: () => windowAt(0),
    deep: (number: number) => windowAt(DEEP + (number % 7)),
  };
  const costs: Record<keyof typeof paths | 'bare', Cost[]> = { bare: [], anywhere: [], first: [], deep: [] };
  const bare = await bareUrl(service);
  const runBare = (requests: number) => run(service, () => '/', requests, bare);
  await runBare(WARM_UP_REQUESTS);
  for (const path of Object.values(paths)) await run(service, path, WARM_UP_REQUESTS);
  for (let round = 0; round < RUNS; round++) {
    costs.bare.push(await runBare(REQUESTS));
    costs.anywhere.push(await run(service, paths.anywhere, REQUESTS));
    costs.first.push(await run(service, paths.first, REQUESTS));
    costs.deep.push(await run(service, paths.deep, REQUESTS));
  }
  for (const [name, each] of Object.entries(costs)) {
    const rates = each.map(({ perSecond }) => whole(perSecond)).join(', ');
    print(
      `  ${name}: ${rates} a second; ${median(each.map(({ cpuMs }) => cpuMs)).toFixed(3)} ms of processor time each`,
    );
  }
  const ratio = (one: Cost[], other: Cost[]) => one.map(({ perSecond }, at) => perSecond / (other[at]?.perSecond ?? 0));
  judge('windows anywhere ÷ a prepared body', ratio(costs.anywhere, costs.bare), { atLeast: 0.02 });
  judge(`time of skip=${DEEP} ÷ skip=0`, ratio(costs.first, costs.deep), { atMost: 2 });
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
