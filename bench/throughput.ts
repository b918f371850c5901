import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { Pool, request } from 'undici';
import { z } from 'zod';
import { DEMO_WEBSITE_ID, World } from '../src/app/demo/simulator/world.js';
import { type Config, configSchema } from '../src/base/config/schema.js';
import { apiAccess } from '../src/base/config/websites.js';
import { createLogger } from '../src/base/observe/log.js';
import { createProgress } from '../src/base/observe/progress.js';
import { Clients } from '../src/source/clients.js';
import { reportPath } from '../src/source/links.js';
import { engineOptions, realRunEffects, type WebsiteRun } from '../src/sync/context.js';
import { fetchReports } from '../src/sync/fetch-reports.js';
import { Outage } from '../src/sync/outage.js';
import { RunClock } from '../src/sync/run-clock.js';
import { RunProgress } from '../src/sync/run-progress.js';
import { JournalEngine } from '../src/sync/stage/journal-views.js';
import { journalFolder } from '../src/warehouse/journal/folder.js';
import { MAX_REJECT_RATIO } from '../src/warehouse/log/verdict.js';
import { judge, median, print, whole } from './figures.js';
import { type Service, startBenchService, startSimulator, TOKEN } from './processes.js';

/**
 * Reports a second that indexhouse fetches, validates and journals without a limit, as a share of those that a bare
 * undici loop fetches from the same server at the same concurrency. The server runs in a process of its own and has
 * its bodies prepared; beside it the simulator, which works more for an answer than either client.
 *
 * Run with: npm run bench:throughput
 */
const CONCURRENCIES = [50, 8];
const AIM = 0.3;
/** Many pairs, because a pair on a machine that others use is off by a fifth. */
const PAIRS = 11;
/** Long enough for garbage collection and grouped writes to show. */
const SIDE_SECONDS = 2;
const LEAST_SIDE_SECONDS = 1;
const WARM_UP_PAGES = 5_000;
const SIMULATED_PAGES = 8_000;

interface Site {
  service: Service;
  urls: string[];
  folder: string;
  concurrency: number;
}

/** What one side took of the clock, and this process of a processor. */
interface Side {
  seconds: number;
  cpuSeconds: number;
}

interface Pair {
  bare: Side;
  ours: Side;
  /** Share of the bare side's time that the server computed. */
  busy: number;
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'indexhouse-bench-'));
  try {
    for (const concurrency of CONCURRENCIES) await benchPrepared(folder, concurrency);
    await benchSimulator(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  print('again: npm run bench:throughput');
}

async function benchPrepared(folder: string, concurrency: number): Promise<void> {
  const service = await startBenchService('prepared-server', []);
  try {
    const warmUp = { service, urls: urlsOf(WARM_UP_PAGES), folder, concurrency };
    for (let i = 0; i < 2; i++) await pairOf(warmUp, i);
    const pages = Math.ceil((warmUp.urls.length / (await bareLoop(warmUp)).seconds) * SIDE_SECONDS);
    const name = `prepared bodies, ${whole(pages)} reports, concurrency ${concurrency}`;
    await benchPairs(name, { ...warmUp, urls: urlsOf(pages) }, AIM);
  } finally {
    await service.stop();
  }
}

async function benchSimulator(folder: string): Promise<void> {
  const service = await startSimulator(['--pages', String(SIMULATED_PAGES), '--rate-limit', 'unlimited']);
  try {
    const [concurrency = 50] = CONCURRENCIES;
    const site = { service, urls: urlsOf(SIMULATED_PAGES), folder, concurrency };
    await benchPairs(`simulator, ${whole(SIMULATED_PAGES)} reports, concurrency ${concurrency}`, site, null);
  } finally {
    await service.stop();
  }
}

async function benchPairs(name: string, site: Site, aim: number | null): Promise<void> {
  const pairs: Pair[] = [];
  for (let pair = 0; pair < PAIRS; pair++) pairs.push(await pairOf(site, pair));
  print(name);
  for (const side of ['bare', 'ours'] as const) {
    const rates = pairs.map((pair) => whole(site.urls.length / pair[side].seconds)).join(', ');
    const cpu = median(pairs.map((pair) => (pair[side].cpuSeconds / site.urls.length) * 1e6));
    const who = side === 'bare' ? 'bare undici' : 'indexhouse';
    print(`  ${who}: ${rates} reports a second; ${cpu.toFixed(1)} µs of processor time a report (median)`);
  }
  if (aim !== null) {
    print(`  server busy beside the bare loop: ${pairs.map(({ busy }) => `${Math.round(busy * 100)} %`).join(', ')}`);
    const shortest = Math.min(...pairs.flatMap(({ bare, ours }) => [bare.seconds, ours.seconds]));
    if (shortest < LEAST_SIDE_SECONDS) print(`  a side took only ${shortest.toFixed(2)} s: read the ratio with care`);
  }
  const ratios = pairs.map(({ bare, ours }) => bare.seconds / ours.seconds);
  judge('  indexhouse ÷ bare undici', ratios, aim === null ? null : { atLeast: aim });
}

/** The sides take turns in going first. */
async function pairOf(site: Site, pair: number): Promise<Pair> {
  const before = pair % 2 === 1 ? await indexhouse(site) : null;
  const cpuBefore = await cpuSeconds(site.service);
  const bare = await bareLoop(site);
  const busy = ((await cpuSeconds(site.service)) - cpuBefore) / bare.seconds;
  return { bare, ours: before ?? (await indexhouse(site)), busy };
}

async function timed(work: () => Promise<void>): Promise<Side> {
  const begun = performance.now();
  const cpuBefore = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(cpuBefore);
  return { seconds: (performance.now() - begun) / 1000, cpuSeconds: (user + system) / 1e6 };
}

/** Seconds that the prepared server has computed; 0 where the service does not say. */
async function cpuSeconds({ url }: Service): Promise<number> {
  const { body } = await request(`${url}/cpu`);
  const told = z.object({ seconds: z.number() }).safeParse(await body.json());
  return told.success ? told.data.seconds : 0;
}

/** What fetching costs with nothing around it. */
async function bareLoop({ service, urls, concurrency }: Site): Promise<Side> {
  const pool = new Pool(service.url, { connections: concurrency });
  const headers = { authorization: `Bearer ${TOKEN}`, accept: 'application/json' };
  let next = 0;
  let characters = 0;
  const work = async (): Promise<void> => {
    for (let url = urls[next++]; url !== undefined; url = urls[next++]) {
      const { statusCode, body } = await pool.request({ path: reportPath(url), method: 'GET', headers });
      if (statusCode !== 200) throw new Error(`the server answered ${statusCode}`);
      characters += (await body.text()).length;
    }
  };
  const side = await timed(async () => {
    await Promise.all(Array.from({ length: concurrency }, work));
  });
  await pool.close();
  if (characters === 0) throw new Error('the server answered nothing');
  return side;
}

/** The same pages by way of a plan on disk, the client, the contract and the journal on disk. */
async function indexhouse(site: Site): Promise<Side> {
  const warehouse = mkdtempSync(join(site.folder, 'warehouse-'));
  const config = configOf(site, warehouse);
  const clients = new Clients(config, { effects: realRunEffects });
  try {
    const run = runOf(config, clients);
    mkdirSync(run.folder.path, { recursive: true });
    writeFileSync(run.folder.plan, site.urls.map((url) => `${JSON.stringify({ url, reason: 'new' })}\n`).join(''));
    const planned = { planned: site.urls.length, wanted: site.urls.length };
    return await timed(async () => {
      const { status, message } = await fetchReports(run, planned, {
        state: null,
        hadComplete: false,
        newest: null,
        latest: null,
        search: { search_final: [], search_fresh: [], search_fetches: [] },
      });
      const whole = status === 'complete' && run.requests.sent === site.urls.length;
      if (!whole) throw new Error(`the reports ended as ${status}: ${message}`);
    });
  } finally {
    await clients.close();
    rmSync(warehouse, { recursive: true, force: true });
  }
}

function configOf({ service, concurrency }: Site, warehouse: string): Config {
  const parsed = configSchema.parse({
    api: { base_url: service.url, token: TOKEN, requests_per_minute: 'unlimited', concurrency },
    websites: [{ id: DEMO_WEBSITE_ID }],
    warehouse: { path: warehouse },
  });
  return { ...parsed, file: join(warehouse, 'indexhouse.yaml') };
}

function runOf(config: Config, clients: Clients): WebsiteRun {
  const warehouse = config.warehouse.path;
  const logger = createLogger({ level: 'warn', destination: process.stderr });
  const progress = createProgress({ stream: process.stderr, isTerminal: false, color: false, log: () => {} });
  const folder = journalFolder(warehouse, 'bench', DEMO_WEBSITE_ID);
  const { signal } = new AbortController();
  const website = { id: DEMO_WEBSITE_ID, name: null, ...apiAccess(config) };
  const told = { logger, progress: new RunProgress(progress), effects: realRunEffects, signal };
  return {
    ...told,
    config,
    warehouse,
    runId: 'bench',
    outage: new Outage({ ...told, retryFor: 0, onWaiting: () => {} }),
    clock: new RunClock(told),
    maxRejectRatio: MAX_REJECT_RATIO,
    oneAtATime: pLimit(1),
    website,
    folder,
    journal: new JournalEngine(folder, engineOptions(config, folder.temporary)),
    header: {
      run_id: 'bench',
      website_id: DEMO_WEBSITE_ID,
      website_name: null,
      snapshot_id: 'bench',
      started_at: new Date().toISOString(),
      version: 'bench',
      resumed: 0,
    },
    source: clients.sourceOf(website),
    requests: { sent: 0, throttled: 0, retried: 0 },
  };
}

/** The pages that the simulator has, too: same seed, same world. */
function urlsOf(pages: number): string[] {
  const world = new World({ websites: [{ id: DEMO_WEBSITE_ID, pages }] });
  return world.listing(DEMO_WEBSITE_ID, 0, pages).entries.map(({ url }) => url) ?? [];
}

await main();
