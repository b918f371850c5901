import { relative, resolve } from 'node:path';
import { askAnalysis } from '../analysis/ask-rows.js';
import { findAnalysis } from '../analysis/catalog.js';
import { type Reader, withReader } from '../analysis/reader.js';
import { type DemoResult, runDemo } from '../demo/demo.js';
import { shellWord } from '../observe/format.js';
import { colorsWanted, safe } from '../observe/terminal.js';
import { answerTable, UNKNOWN } from './answer-table.js';
import { EXIT, type Io, stoppable } from './io.js';
import { count, duration, formatJson, formatTable } from './output.js';
import type { Globals } from './program.js';
import { display } from './sync.js';
import { packageVersion } from './version.js';

const MEMORY_LIMIT_BYTES = 500e6;

export interface Flags extends Globals {
  folder: string;
  pages: number;
  nights: number;
  seed: number;
}

/** `indexhouse demo`: two weeks of a simulated service, synced night by night, and first answers. */
export async function run(flags: Flags, io: Io): Promise<number> {
  const { pages, nights, seed } = flags;
  const folder = resolve(io.cwd, flags.folder);
  const version = await packageVersion();
  const { log, progress } = display(flags.logLevel ?? 'warn', io);
  const result = await stoppable(io, (signal) =>
    runDemo({ folder, pages, nights, seed, version, log, progress, signal, now: Date.now() }),
  );
  const { warehouse, config, report, receipts, tookMs } = result;
  const json = { warehouse, config, report, took_ms: Math.round(tookMs), receipts };
  io.stdout.write(flags.json ? formatJson(json) : await demoText(result, flags, io));
  return EXIT.done;
}

/** What the demo found, for people: the trend, what changed, where, and what to try next. */
async function demoText(
  result: DemoResult,
  { nights, pages }: { nights: number; pages: number },
  { stdout, env, cwd }: Io,
): Promise<string> {
  const color = colorsWanted(stdout, env);
  return withReader({ warehouse: result.warehouse, memoryLimit: MEMORY_LIMIT_BYTES }, async (reader) => {
    const section = async (title: string, name: string) => {
      const { columns, rows } = await askAnalysis(reader, name);
      const answer = { analysis: findAnalysis(name), columns, rows, websites: new Map(), today: reader.today };
      const table = answerTable({ ...answer, isCut: false });
      const text = formatTable(table.columns, table.rows, { color, unknown: UNKNOWN });
      return `${title} (query ${name})\n\n${text.trimEnd().replace(/^/gm, '  ')}`;
    };
    const sections = [
      heading(result, nights, pages),
      await section('How much of the site is indexed', 'indexing_trend'),
      await section('What changed each night', 'changes_per_night'),
      await section('Where pages fell out of the index', 'deindexed_by_directory'),
      next(result, await examplePage(reader), cwd),
    ];
    return `${sections.join('\n\n')}\n`;
  });
}

function heading({ receipts, tookMs }: DemoResult, nights: number, pages: number): string {
  const websites = receipts.flatMap((receipt) => receipt.websites);
  const requests = websites.reduce((sum, website) => sum + website.requests.sent, 0);
  const reports = websites.reduce((sum, website) => sum + website.reports.fetched, 0);
  return (
    `${count(nights)} nights of a simulated site of ${count(pages)} pages, synced in ${duration(tookMs)}: ` +
    `${count(requests)} requests, ${count(reports)} URL reports,\neach page once and then only what had changed.`
  );
}

/** A page that fell out of the index, to look at. */
async function examplePage(reader: Reader): Promise<string | null> {
  const { columns, rows } = await askAnalysis(reader, 'deindexed_pages', { limit: '1' });
  const url = rows[0]?.[columns.indexOf('url')];
  return typeof url === 'string' ? url : null;
}

function next({ warehouse, config, report }: DemoResult, page: string | null, cwd: string): string {
  const file = shellWord(safe(relative(cwd, config)));
  const timeline = page
    ? `  npx indexhouse query page_timeline --param url=${shellWord(safe(page))} --config ${file}\n`
    : '';
  const made = safe(relative(cwd, report));
  return `Warehouse: ${safe(relative(cwd, warehouse))}, report with charts: ${made}. Try next:

  npx indexhouse report --config ${file}
  npx indexhouse query deindexed_pages --config ${file}
${timeline}`.trimEnd();
}
