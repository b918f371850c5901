import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { askAnalysis } from '../src/answers/query/ask-rows.js';
import { type Analysis, analyses } from '../src/answers/query/catalog.js';
import { type Reader, withReader } from '../src/answers/query/reader.js';
import { updateIndex } from '../src/warehouse/log/update-index.js';
import { judge, median, print, RUNS, whole } from './figures.js';
import { generateHistory } from './generate-history.js';
import { MEMORY_LIMIT, snapshotAt } from './generated-nights.js';
import { type Counts, measureProgram } from './measured.js';
import { type NamedColumns, namedColumns, scanOf } from './named-columns.js';

/**
 * What each ready-made analysis, a filter of the dashboard, a page, the report and `status` cost on a long history: by
 * default 100,000 pages on 180 nights. Each is a process of its own, measured in seconds of processor time and MB of
 * memory. Then each analysis is measured against one scan of the columns that it names, and the trends against one scan
 * of what they would need of the listings.
 *
 * Run with: npm run bench:history. The aims are those of 1,000,000 pages on 30 nights (`BENCH_PAGES`, `BENCH_NIGHTS`), and of
 * 100,000 on 365. `BENCH_WEBSITES` shares the pages among so many websites: `BENCH_PAGES=600000 BENCH_NIGHTS=8` against
 * the same with `BENCH_WEBSITES=200`. `BENCH_RATIOS=no` leaves the scans out. `BENCH_WAREHOUSE` names a folder where the
 * history stays for the next time.
 */
const PAGES = Number(process.env['BENCH_PAGES'] ?? 100_000);
const NIGHTS = Number(process.env['BENCH_NIGHTS'] ?? 180);
const WEBSITES = Number(process.env['BENCH_WEBSITES'] ?? 1);
const WITH_RATIOS = process.env['BENCH_RATIOS'] !== 'no';
const KEPT = process.env['BENCH_WAREHOUSE'];
/** About 8,000 reports a night. */
const REPORT_EVERY = 20;
const AT_MOST_SCANS = 10;
const AT_MOST_OF_THE_LISTINGS = 0.5;
/** An answer within this time has no other aim: beside the scan of an empty table anything is long. */
const AT_ONCE_S = 0.1;
const BYTES_PER_PAGE_AND_NIGHT = 60;
const A_PAGE = 1_234;
/** Seconds of processor time and MB that a process may take: an analysis, unless it is named here. */
const AT_MOST_S = 4;
const AT_MOST_S_OF: Record<string, number> = { page: 1, 'a filter of the dashboard': 1.5, report: 15 };
const AT_MOST_MB = 1000;
/** Of a process that ended in an error, such as too little memory. */
const FAILED: Counts = { seconds: Number.POSITIVE_INFINITY, megabytes: Number.POSITIVE_INFINITY };
/** Nobody waits for a million lines. */
const LINES = 'limit=1000';

/** Trends, asked for the whole history, and the columns that they would need of `coverage`. */
const TRENDS: Record<string, { given: Record<string, string>; columns: string[] }> = {
  indexing_trend: { given: {}, columns: ['snapshot_id', 'index_summary'] },
  coverage_by_directory: {
    given: { since: firstDate() },
    columns: ['snapshot_id', 'url', 'index_summary', 'last_crawl_time', 'days_since_last_crawl'],
  },
  changes_per_night: {
    given: { since: firstDate() },
    columns: [
      'snapshot_id',
      'url',
      'index_summary',
      'searchengine_selected_canonical',
      'user_selected_canonical',
      'last_crawl_time',
    ],
  },
};

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'indexhouse-bench-'));
  try {
    const warehouse = KEPT ?? join(folder, 'warehouse');
    checkDisk(folder);
    print(`a history of ${whole(PAGES)} pages of ${WEBSITES} websites on ${NIGHTS} nights`);
    await generate(warehouse);
    const open = { warehouse, memoryLimit: MEMORY_LIMIT };
    await benchProcesses(warehouse, await withReader(open, aUrl));
    if (WITH_RATIOS) await withReader(open, benchAnalyses);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  print('again: npm run bench:history');
}

function checkDisk(folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const needed = PAGES * NIGHTS * BYTES_PER_PAGE_AND_NIGHT;
  if (bavail * bsize < needed) throw new Error(`${folder} needs ${whole(needed / 1e6)} MB of free disk`);
}

async function generate(warehouse: string): Promise<void> {
  const history = { warehouse, pages: PAGES / WEBSITES, nights: NIGHTS, reportEvery: REPORT_EVERY };
  if (WEBSITES === 1) await generateHistory(history);
  else for (let website = 1; website <= WEBSITES; website++) await generateHistory({ ...history, website });
  // As the sync of a new date does.
  await updateIndex(warehouse, { memoryLimit: MEMORY_LIMIT, temporary: tmpdir() }, snapshotAt(NIGHTS).getTime());
}

async function benchProcesses(warehouse: string, url: string): Promise<void> {
  print(`processes: seconds of processor time, MB at most (load ${loadavg()[0]?.toFixed(1)})`);
  const queries = analyses().map(({ name, parameters }): [string, string[]] => {
    const own = parameters.flatMap((one) => {
      if (one.name === 'url') return [`url=${url}`];
      return one.name === 'limit' && one.default === 'none' ? [LINES] : [];
    });
    return [name, ['query', name, ...own, '--format', 'json']];
  });
  const filter = ['query', 'pages', 'indexed=no', 'canonical=differ', 'limit=50', '--format', 'json'];
  const report = ['report', '--out', `${warehouse}.html`];
  const others = { 'a filter of the dashboard': filter, report, status: ['status'] };
  for (const [name, args] of [...queries, ...Object.entries(others)]) {
    const counts: Counts[] = [];
    for (let run = 0; run < RUNS; run++) counts.push(await measureProgram(warehouse, args).catch(() => FAILED));
    const [seconds, megabytes] = [counts.map((one) => one.seconds), counts.map((one) => one.megabytes)];
    judge(`  ${name}: s`, seconds, { atMost: AT_MOST_S_OF[name] ?? AT_MOST_S }, 2);
    judge(`  ${name}: MB`, megabytes, { atMost: AT_MOST_MB }, 0);
  }
  print(`load ${loadavg()[0]?.toFixed(1)}`);
}

async function benchAnalyses(reader: Reader): Promise<void> {
  const url = await aUrl(reader);
  print('analysis ÷ one scan of the columns that it names');
  for (const analysis of analyses()) {
    const given = analysis.parameters.some(({ name }) => name === 'url') ? { url } : {};
    await benchAnalysis(reader, analysis, {
      given,
      columns: await namedColumns(reader, analysis.sql),
      aim: AT_MOST_SCANS,
    });
  }
  print('trend over the whole history ÷ one scan of what it would need of coverage');
  for (const analysis of analyses()) {
    const trend = TRENDS[analysis.name];
    if (!trend) continue;
    const columns = new Map([['coverage', trend.columns]]);
    await benchAnalysis(reader, analysis, { given: trend.given, columns, aim: AT_MOST_OF_THE_LISTINGS });
  }
}

async function benchAnalysis(
  reader: Reader,
  { name }: Analysis,
  { given, columns, aim }: { given: Record<string, string>; columns: NamedColumns; aim: number },
): Promise<void> {
  const scan = () => timed(() => reader.rows(z.unknown(), scanOf(columns)));
  const ask = () => timed(() => askAnalysis(reader, name, given));
  const { rows } = await askAnalysis(reader, name, given);
  const pairs: { scanned: number; asked: number }[] = [];
  // The first time of each is for the caches.
  for (let run = 0; run <= RUNS; run++) pairs.push({ scanned: await scan(), asked: await ask() });
  const measured = pairs.slice(1);
  const asked = median(measured.map((pair) => pair.asked));
  const scanned = median(measured.map((pair) => pair.scanned));
  const ratios = measured.map((pair) => pair.asked / pair.scanned);
  const what = `${whole(rows.length)} rows, ${asked.toFixed(3)} s ÷ ${scanned.toFixed(3)} s`;
  judge(`  ${name} (${what})`, ratios, asked <= AT_ONCE_S ? null : { atMost: aim }, 2);
}

async function aUrl(reader: Reader): Promise<string> {
  const query = `select url from page_state order by url limit 1 offset ${Math.min(A_PAGE, PAGES / 2)}`;
  const [row] = await reader.rows(z.object({ url: z.string() }), query);
  if (!row) throw new Error('the history has no pages');
  return row.url;
}

function firstDate(): string {
  return snapshotAt(0).toISOString().slice(0, 10);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}

await main();
