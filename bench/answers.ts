import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { analyses } from '../src/answers/query/catalog.js';
import { withReader } from '../src/answers/query/reader.js';
import { updateIndex } from '../src/warehouse/log/update-index.js';
import { judge, median, print, RUNS, sizeOf, tell } from './figures.js';
import { type GeneratedNights, generateHistory, MEMORY_LIMIT, WEBSITE_ID } from './generate-history.js';
import { inFolder, runProgram, type Server, startServer } from './processes.js';
import { PROMISES, type Promised } from './promises.js';
import { measureProperty } from './property.js';

/**
 * What answers cost over a long history: each analysis, a filter, the report and `status` as processes of their own; the
 * dashboard and windows of a listing from `serve`; a question over many small commits; and the first night of a property
 * of Search Console, with its days of search.
 *
 * `BENCH_PAGES`, `BENCH_NIGHTS`, `BENCH_WEBSITES` (which share the pages), `BENCH_COMMITS` and `BENCH_PROPERTY` set the sizes.
 */
const PAGES = sizeOf('BENCH_PAGES', 50_000);
const NIGHTS = sizeOf('BENCH_NIGHTS', 14);
const WEBSITES = sizeOf('BENCH_WEBSITES', 1);
const COMMITS = sizeOf('BENCH_COMMITS', 400);
/** Pages of the property. */
const PROPERTY = sizeOf('BENCH_PROPERTY', 60_000);
/** About 8,000 reports a night of 100,000 pages. */
const REPORT_EVERY = 20;
/** With the nights that are committed beside the server. */
const LONG = { pages: PAGES / WEBSITES, nights: NIGHTS + RUNS + 1, reportEvery: REPORT_EVERY };
const SMALL = { pages: 20, reportEvery: 5 };
const SMALL_WEBSITES = 5;
const WINDOWS = 200;
/** What is promised of views is promised of so many pages. */
const VIEWED_PAGES = 1_000_000;
/** After so long the server has seen a commit. */
const NOTICED_MS = 5_000;
/** Nobody waits for a million lines. */
const LINES = 'limit=1000';
const SCAN =
  'select count(*), bit_xor(hash(url, index_summary, index_coverage_state, last_crawl_time)) from page_state';
const START = ['query', '--sql', 'select 1'];
const FILTER = ['query', 'pages', 'indexed=no', 'canonical=differ', 'limit=50', '--format', 'json'];
const OVERVIEW = '';
const VIEWS = [
  OVERVIEW,
  '/changes',
  '/changes?directory=/blog/',
  '/pages',
  '/pages?indexed=no&sort=-crawl',
  '/pages?changed=fell_out',
  '/compare',
];
const { answers: PROMISED } = PROMISES;

await inFolder(async (folder) => {
  const warehouse = join(folder, 'warehouse');
  print(`${PAGES} pages of ${WEBSITES} websites on ${NIGHTS} nights`);
  await generate(warehouse, WEBSITES, { ...LONG, made: NIGHTS });
  await benchQuestions(warehouse);
  if (WEBSITES === 1) await benchServe(warehouse);
  await benchCommits(folder);
  print(`A property of ${PROPERTY} pages`);
  judge(PROMISED.property, await measureProperty(folder, PROPERTY));
});

type Nights = Omit<GeneratedNights, 'warehouse' | 'website'>;

async function generate(warehouse: string, websites: number, each: Nights): Promise<void> {
  for (let website = 1; website <= websites; website++)
    await generateHistory({ warehouse, ...each, ...(websites > 1 ? { website } : {}) });
  // As a sync does.
  await updateIndex(warehouse, { memoryLimit: MEMORY_LIMIT, temporary: `${warehouse}.tmp` }, Date.now());
}

async function benchQuestions(warehouse: string): Promise<void> {
  const { page, filter, report, status, ...ofAnalyses } = await costsOf(warehouse, await questionsOf(warehouse));
  const all = [...Object.values(ofAnalyses), page, filter, report, status];
  const [slowest] = Object.entries({ ...ofAnalyses, status }).sort(
    ([, one], [, other]) => seconds(other) - seconds(one),
  );
  judge(PROMISED.analysis, seconds(slowest?.[1]), slowest?.[0]);
  judge(PROMISED.filter, seconds(filter));
  judge(PROMISED.page, seconds(page));
  judge(PROMISED.report, seconds(report));
  judge(PROMISED.memory, Math.max(...all.map((cost) => cost?.megabytes ?? Number.NaN)));
}

/** The arguments of each question, by its name. */
async function questionsOf(warehouse: string): Promise<Record<string, string[]>> {
  const urls = `select url from page_state order by url limit 1 offset ${Math.floor(PAGES / WEBSITES / 2)}`;
  const [row] = await withReader({ warehouse, memoryLimit: MEMORY_LIMIT }, (reader) =>
    reader.rows(z.object({ url: z.string() }), urls),
  );
  const asked = analyses().map(({ name, parameters }): [string, string[]] => {
    const given = parameters.flatMap((one) => {
      if (one.name === 'url') return [`url=${row?.url}`];
      return one.name === 'limit' && one.default === 'none' ? [LINES] : [];
    });
    return [name, ['query', name, ...given, '--format', 'json']];
  });
  const report = ['report', '--out', `${warehouse}.html`];
  return { ...Object.fromEntries(asked), filter: FILTER, report, status: ['status'] };
}

interface Asked {
  seconds: number;
  megabytes: number;
}

async function costsOf(warehouse: string, questions: Record<string, string[]>): Promise<Record<string, Asked>> {
  const costs: Record<string, Asked> = {};
  for (const [name, args] of Object.entries({ 'select 1': START, ...questions })) {
    const runs: Asked[] = [];
    for (let run = 0; run < RUNS; run++) runs.push(await runProgram(args, warehouse).catch(() => FAILED));
    costs[name] = {
      seconds: median(runs.map((run) => run.seconds)),
      megabytes: median(runs.map(({ megabytes }) => megabytes)),
    };
    tell(`  ${name}`, { 'processor seconds': seconds(costs[name]), MB: costs[name].megabytes });
  }
  return costs;
}

/** Of a process that ended in an error, such as too little memory. */
const FAILED: Asked = { seconds: Number.POSITIVE_INFINITY, megabytes: Number.POSITIVE_INFINITY };

function seconds(cost: Asked | undefined): number {
  return cost?.seconds ?? Number.NaN;
}

async function benchServe(warehouse: string): Promise<void> {
  const { stdout } = await runProgram(['keys', 'add', '--label', 'bench', '--website', 'all', '--json'], warehouse);
  const { token } = z.object({ token: z.string() }).parse(JSON.parse(stdout));
  const scan = await scanSeconds(warehouse);
  const server = await startServer(['serve', '--port', '0', '--warehouse', warehouse, '--rate-limit', 'unlimited']);
  try {
    const costs = await viewCosts(server, token, warehouse);
    const firsts = Object.fromEntries(
      VIEWS.map((view) => [view, median(costs[view]?.map(({ first }) => first) ?? [])]),
    );
    const again = VIEWS.map((view) => median(costs[view]?.map(({ first, repeated }) => repeated / first) ?? []));
    for (const view of VIEWS) tell(`  dashboard${view}`, { 'processor seconds': firsts[view] ?? Number.NaN });
    const { [OVERVIEW]: overview = Number.NaN, ...others } = firsts;
    judgeView(PROMISED.overview, overview / scan);
    judgeView(PROMISED.view, Math.max(...Object.values(others)) / scan);
    judgeView(PROMISED.repeated, Math.max(...again));
    const windows = (from: number) => windowSeconds(server, token, from);
    const [early, deep] = [await windows(0), await windows(Math.floor(PAGES * 0.9))];
    tell('  a window', { 'processor milliseconds': early * 1000 });
    judge(PROMISED.deep, deep / early);
  } finally {
    await server.stop();
  }
}

/** Of fewer pages, what every view takes whatever their number hides the ratio. */
function judgeView(promised: Promised, measured: number): void {
  if (PAGES >= VIEWED_PAGES) judge(promised, measured);
  else tell(promised.what, { 'not judged of so few pages': measured });
}

/** What each view takes of a processor, first and repeated, after each of some commits. */
async function viewCosts(server: Server, token: string, warehouse: string) {
  const costs: Record<string, { first: number; repeated: number }[]> = {};
  const signIn = { method: 'POST', body: new URLSearchParams({ token }), redirect: 'manual' } as const;
  const { headers } = await fetch(`${server.url}/dashboard/sign-in`, signIn);
  const cookie = headers.getSetCookie()[0]?.split(';')[0] ?? '';
  for (let run = 0; run <= RUNS; run++) {
    await generateHistory({ warehouse, ...LONG, made: NIGHTS + run + 1 });
    await sleep(NOTICED_MS);
    await windowSeconds(server, token, 0);
    for (const view of VIEWS) {
      const url = `${server.url}/dashboard/websites/${WEBSITE_ID}${view}`;
      const cost = () => secondsOf(server, () => get(url, { cookie }));
      const costOfView = { first: await cost(), repeated: await cost() };
      // The first round is for the caches.
      if (run > 0) costs[view] = [...(costs[view] ?? []), costOfView];
    }
  }
  return costs;
}

/** What reading the columns that most pages of the dashboard need takes of a processor. */
function scanSeconds(warehouse: string): Promise<number> {
  return withReader({ warehouse, memoryLimit: MEMORY_LIMIT }, async (reader) => {
    // The first time is for the caches.
    await reader.rows(z.unknown(), SCAN);
    const before = process.cpuUsage();
    await reader.rows(z.unknown(), SCAN);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e6;
  });
}

/** What a window of a tenth of the listing takes of a processor. */
async function windowSeconds(server: Server, token: string, from: number): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const all = await secondsOf(server, async () => {
    for (let nth = 0; nth < WINDOWS; nth++) {
      const skip = from + ((nth * 7_919) % Math.ceil(PAGES / 10));
      await get(`${server.url}/v1/urls/${WEBSITE_ID}?skip=${skip}&limit=100`, headers);
    }
  });
  return all / WINDOWS;
}

async function get(url: string, headers: Record<string, string>): Promise<void> {
  const answer = await fetch(url, { headers });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  await answer.arrayBuffer();
}

async function secondsOf(server: Server, work: () => Promise<void>): Promise<number> {
  const before = await server.cost();
  await work();
  return (await server.cost()).seconds - before.seconds;
}

async function benchCommits(folder: string): Promise<void> {
  const [many, few] = [join(folder, 'many'), join(folder, 'few')];
  await generate(many, SMALL_WEBSITES, { ...SMALL, nights: Math.ceil(COMMITS / SMALL_WEBSITES) });
  await generate(few, 1, { ...SMALL, nights: 2 });
  print(`${COMMITS} commits of ${SMALL_WEBSITES} websites`);
  const costs = await costsOf(many, {
    indexing_trend: ['query', 'indexing_trend', '--format', 'json'],
    status: ['status'],
  });
  const [small, large] = [await costsOf(few, {}), costs['select 1']];
  judge(PROMISED.commits, seconds(large) / seconds(small['select 1']));
}
