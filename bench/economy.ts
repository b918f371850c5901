import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { DEMO_WEBSITE_ID } from '../src/app/demo/simulator/world.js';
import { type CountingProxy, startCountingProxy } from './counting-proxy.js';
import { judge, print, RUNS, whole } from './figures.js';
import { runProgram, type Service, startBenchService, startSimulator, TOKEN } from './processes.js';

/**
 * How many requests a night costs, by what changed in it: 100,000 pages, synced with the default configuration for
 * nights that follow within minutes, so that no report of an unchanged page comes due. What changed is found by walking
 * the listing before each sync with a bare fetch and comparing it with the walk of the night before; requests are
 * counted on their way to the service. Each page that changed or is new must have a report fetched that night.
 *
 * Run with: npm run bench:economy
 */
const PAGES = 100_000;
const WINDOW = 1000;
const AIM = 1.05;

interface World {
  name: string;
  start: () => Promise<Service>;
}

const WORLDS: World[] = [
  { name: 'about 2 % change in a night', start: () => startBenchService('slow-world', [String(PAGES), TOKEN]) },
  {
    name: 'the simulator as it is, where one page in ten is visited again',
    start: () => startSimulator(['--pages', String(PAGES), '--rate-limit', 'unlimited']),
  },
];

interface Night {
  changed: number;
  appeared: number;
  gone: number;
  /** Requests for reports, and for the listing. */
  reports: number;
  windows: number;
}

async function main(): Promise<void> {
  for (const world of WORLDS) await benchWorld(world);
  print('again: npm run bench:economy');
}

async function benchWorld({ name, start }: World): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'indexhouse-bench-'));
  const service = await start();
  const proxy = await startCountingProxy(service.url);
  try {
    writeFileSync(join(folder, 'indexhouse.yaml'), configOf(proxy.url));
    let listing = await walk(service.url);
    await sync(folder);
    print(`${whole(listing.size)} pages, ${name}; naive: ${whole(listing.size)} requests a night and more`);
    const nights: Night[] = [];
    for (let night = 2; night <= RUNS + 1; night++) {
      await post(`${service.url}/control/advance?nights=1`);
      const now = await walk(service.url);
      nights.push(await syncNight(folder, proxy, listing, now));
      print(`  night ${night}: ${shown(nights.at(-1), now.size)}`);
      listing = now;
    }
    report(nights);
  } finally {
    await proxy.stop();
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(nights: Night[]): void {
  judge(
    '  requests for reports ÷ pages changed or new',
    nights.map(({ reports, changed, appeared }) => reports / (changed + appeared)),
    { atMost: AIM },
  );
  judge(
    '  all requests ÷ pages changed, new or gone',
    nights.map(({ reports, windows, changed, appeared, gone }) => (reports + windows) / (changed + appeared + gone)),
    { atMost: AIM },
  );
}

function shown(night: Night | undefined, pages: number): string {
  if (!night) return '';
  const { changed, appeared, gone, reports, windows } = night;
  const share = ((100 * changed) / pages).toFixed(1);
  return `${whole(changed)} changed (${share} %), ${appeared} new, ${gone} gone; ${whole(reports)} requests for reports, ${windows} for the listing`;
}

async function syncNight(folder: string, { passed }: CountingProxy, before: Listing, now: Listing): Promise<Night> {
  passed.length = 0;
  const snapshot = await sync(folder);
  const reports = passed.filter(({ path }) => path.startsWith('/v1/url-report')).length;
  const windows = passed.length - reports;
  const due = [...now].filter(([url, entry]) => before.get(url) !== entry).map(([url]) => url);
  await checkFetched(folder, snapshot, due);
  const appeared = due.filter((url) => !before.has(url)).length;
  const gone = [...before.keys()].filter((url) => !now.has(url)).length;
  return { changed: due.length - appeared, appeared, gone, reports, windows };
}

function configOf(url: string): string {
  return JSON.stringify({
    api: { base_url: url, token: TOKEN, requests_per_minute: 'unlimited' },
  });
}

/** The compared fields of each listed page, as text. */
type Listing = Map<string, string>;

const COMPARED = [
  'index_summary',
  'index_coverage_state',
  'canonicals_match',
  'searchengine_selected_canonical',
  'user_selected_canonical',
  'last_crawl_time',
];

const window = z.object({
  urls: z.array(z.looseObject({ url: z.string() })),
  pagination: z.object({ end: z.boolean() }),
});

/** Nothing moves while this walks, so that plain windows do. */
async function walk(base: string): Promise<Listing> {
  const listing: Listing = new Map();
  for (let skip = 0; ; skip += WINDOW) {
    const address = `${base}/v1/urls/${DEMO_WEBSITE_ID}?skip=${skip}&limit=${WINDOW}`;
    const answer = await fetch(address, { headers: { authorization: `Bearer ${TOKEN}` } });
    const { urls, pagination } = window.parse(await answer.json());
    // A field that is left out means what null means.
    for (const entry of urls) listing.set(entry.url, JSON.stringify(COMPARED.map((field) => entry[field] ?? null)));
    if (pagination.end) return listing;
  }
}

const receipt = z.object({ websites: z.tuple([z.object({ snapshot_id: z.string(), reports_status: z.string() })]) });

/** @returns the snapshot's id */
async function sync(folder: string): Promise<string> {
  const text = await runProgram(['sync', '--json', '--log-level', 'warn'], { cwd: folder });
  const [website] = receipt.parse(JSON.parse(text)).websites;
  if (website.reports_status !== 'complete') throw new Error(`reports ended as ${website.reports_status}`);
  return website.snapshot_id;
}

const fetchedRows = z.array(z.object({ url: z.string() }));

async function checkFetched(folder: string, snapshot: string, due: string[]): Promise<void> {
  const sql = `select url from url_reports where snapshot_id = '${snapshot}'`;
  const text = await runProgram(['query', '--sql', sql, '--format', 'json'], { cwd: folder });
  const fetched = new Set(fetchedRows.parse(JSON.parse(text)).map(({ url }) => url));
  const lacking = due.filter((url) => !fetched.has(url));
  if (lacking.length === 0) return;
  print(`  ${lacking.length} pages changed and have no report of that night, such as ${lacking[0]}`);
  process.exitCode = 1;
}

async function post(url: string): Promise<void> {
  const answer = await fetch(url, { method: 'POST' });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  await answer.text();
}

await main();
