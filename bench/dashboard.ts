import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { z } from 'zod';
import { addDashboard } from '../src/serve/dashboard/dashboard.js';
import { LiveReader } from '../src/serve/store/live-reader.js';
import { judge, median, print, RUNS, whole } from './figures.js';
import { generateHistory } from './generate-history.js';
import { MEMORY_LIMIT, snapshotAt, WEBSITE_ID } from './generated-nights.js';
import { TOKEN } from './processes.js';

/**
 * What the pages of the dashboard take of a website of a million pages, the first time after a commit and repeated, beside
 * one scan of the columns that most of them need of every page.
 *
 * Run with: npm run bench:dashboard. `BENCH_PAGES` and `BENCH_NIGHTS` make it smaller; `BENCH_WAREHOUSE` names a folder
 * where the warehouse stays for the next time.
 */
const PAGES = Number(process.env['BENCH_PAGES'] ?? 1_000_000);
const NIGHTS = Number(process.env['BENCH_NIGHTS'] ?? 9);
const KEPT = process.env['BENCH_WAREHOUSE'];
/** About 70,000 reports a night, as a key with 60 requests a minute fetches. */
const REPORT_EVERY = 20;
const MOST_SCANS = 40;
/** It shows what fallen pages had in common, which looks at each page's address, listing and report. */
const MOST_SCANS_OF_THE_OVERVIEW = 150;
const MOST_OF_THE_FIRST = 0.05;
const MORNING_MS = 6 * 3_600_000;
const TIME_LIMIT_MS = 600_000;

const SCAN =
  'select count(*), bit_xor(hash(url, index_summary, index_coverage_state, last_crawl_time)) from page_state';
const VIEWS = {
  overview: '',
  changes: '/changes',
  'changes of a directory': '/changes?directory=/blog/',
  pages: '/pages',
  'pages that are not indexed': '/pages?indexed=no&sort=-crawl',
  'pages that fell out': '/pages?changed=fell_out',
  compare: '/compare',
};

/** Seconds. */
interface Cost {
  wall: number;
  cpu: number;
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'indexhouse-bench-'));
  try {
    const warehouse = KEPT ?? join(folder, 'warehouse');
    print(`a website of ${whole(PAGES)} pages on ${NIGHTS} nights`);
    await generateHistory({ warehouse, pages: PAGES, nights: NIGHTS, reportEvery: REPORT_EVERY });
    for (const [name, path] of Object.entries(VIEWS)) await benchView(warehouse, name, path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  print('again: npm run bench:dashboard');
}

async function benchView(warehouse: string, name: string, path: string): Promise<void> {
  const rounds: Record<'scan' | 'first' | 'repeated', Cost>[] = [];
  for (let run = 0; run < RUNS; run++) {
    // Each with a memory of its own. On a busy machine the figures are still those of the processor.
    const reader = new LiveReader({ warehouse, memoryLimit: MEMORY_LIMIT, timeLimitMs: TIME_LIMIT_MS });
    const app = await dashboardOf(reader);
    try {
      const { headers } = await app.inject({
        method: 'POST',
        url: '/dashboard/sign-in',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `token=${TOKEN}`,
      });
      const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
      const view = async () => {
        const url = `/dashboard/websites/${WEBSITE_ID}${path}`;
        const { statusCode } = await app.inject({ url, headers: { cookie } });
        if (statusCode !== 200) throw new Error(`the dashboard answered ${statusCode} at ${url}`);
      };
      const context = { keyId: 'bench', signal: new AbortController().signal };
      const scan = () => reader.ask(context, 'slow', (opened) => opened.rows(z.unknown(), SCAN));
      // The first time is for the caches.
      await scan();
      rounds.push({ scan: await costOf(scan), first: await costOf(view), repeated: await costOf(view) });
    } finally {
      await app.close();
      reader.close();
    }
  }
  const [scan, first, repeated] = (['scan', 'first', 'repeated'] as const).map((what) => ({
    cpu: median(rounds.map((round) => round[what].cpu)),
    wall: median(rounds.map((round) => round[what].wall)),
  }));
  print(`${name}: scan ${shown(scan)}, first ${shown(first)}, repeated ${shown(repeated)}`);
  judge(
    '  first ÷ scan',
    rounds.map(({ first, scan }) => first.cpu / scan.cpu),
    { atMost: path === '' ? MOST_SCANS_OF_THE_OVERVIEW : MOST_SCANS },
    2,
  );
  judge(
    '  repeated ÷ first',
    rounds.map(({ first, repeated }) => repeated.cpu / first.cpu),
    { atMost: MOST_OF_THE_FIRST },
  );
}

async function dashboardOf(reader: LiveReader): Promise<FastifyInstance> {
  const key = {
    _id: 'bench',
    api_key_label: 'bench',
    account: { _id: 'bench', email: 'bench@example.com' },
    websites_access: [{ _id: WEBSITE_ID, url: 'www.example.com' }],
  };
  const app = Fastify();
  const findKey = async (token: string) => (token === TOKEN ? key : null);
  addDashboard(app, { reader, findKey, now: () => snapshotAt(NIGHTS - 1).getTime() + MORNING_MS });
  await app.ready();
  return app;
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const [begun, cpuBefore] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(cpuBefore);
  return { wall: (performance.now() - begun) / 1000, cpu: (user + system) / 1e6 };
}

function shown(cost: Cost | undefined): string {
  return cost ? `${cost.cpu.toFixed(2)} CPU s (${cost.wall.toFixed(2)} s)` : '';
}

await main();
