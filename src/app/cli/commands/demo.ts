import { relative, resolve } from 'node:path';
import { askAnalysis, questionOf } from '../../../answers/query/ask-rows.js';
import { findAnalysis } from '../../../answers/query/catalog.js';
import { periodNote } from '../../../answers/query/period-note.js';
import { type Reader, withReader } from '../../../answers/query/reader.js';
import type { Config } from '../../../base/config/schema.js';
import { Failure } from '../../../base/exit.js';
import { shellWord } from '../../../base/observe/format.js';
import { colorsWanted, safe } from '../../../base/observe/terminal.js';
import { packageVersion } from '../../../base/version.js';
import { addKey } from '../../../serve/keys/manage-keys.js';
import { type DemoResult, runDemo } from '../../demo/demo.js';
import type { Globals } from '../command.js';
import { loggerOf, settingsFor } from '../configured.js';
import { columnsOf, EXIT, type Io, stoppable } from '../io.js';
import { answerTable, UNKNOWN } from '../output/answer-table.js';
import { count, duration, formatJson, formatTable, wrapped } from '../output/output.js';
import { optionsOf, serveUntilStopped } from './serve.js';
import { display } from './sync.js';

const MEMORY_LIMIT_BYTES = 500e6;
const MOST_COLUMNS = 80;

export interface Flags extends Globals {
  folder: string;
  pages: number;
  nights: number;
  seed: number;
  serve?: boolean;
}

/** `indexhouse demo`: two weeks of a simulated service, synced night by night, then first answers and the dashboard. */
export async function run(flags: Flags, io: Io): Promise<number> {
  const { pages, nights, seed } = flags;
  const folder = resolve(io.cwd, flags.folder);
  const version = await packageVersion();
  const { log, progress } = display(flags.logLevel ?? 'warn', io);
  const result = await stoppable(io, (signal) =>
    runDemo({ folder, pages, nights, seed, version, log, progress, signal, now: Date.now() }),
  );
  const { warehouse, config, report, story, receipts, tookMs } = result;
  const json = { warehouse, config, report, took_ms: Math.round(tookMs), story, receipts };
  if (!flags.json) io.stdout.write(await demoText(result, flags, io));
  if (flags.serve) await serveDemo(json, flags, io);
  else if (flags.json) io.stdout.write(formatJson(json));
  return EXIT.done;
}

/** Serves the dashboard on the demo's warehouse, with a key of its own, until it is stopped. */
async function serveDemo(made: { warehouse: string }, flags: Flags, io: Io): Promise<void> {
  const { warehouse } = made;
  const settings = optionsOf(await settingsFor({ warehouse }, io), { warehouse });
  const { token } = await addKey(warehouse, { label: 'demo', websites: 'all' });
  const log = loggerOf({ logLevel: 'warn', ...flags }, io);
  const serve = (service: Config['service']) =>
    serveUntilStopped({ ...settings, service, prefix: '', log }, io, ({ url }) => {
      const dashboard = `${url}/`;
      io.stdout.write(flags.json ? formatJson({ ...made, dashboard, token }) : signIn(dashboard, token));
    });
  try {
    await serve(settings.service);
  } catch (error) {
    // The port is taken, and any will do for a demo.
    if (!(error instanceof Failure)) throw error;
    await serve({ ...settings.service, port: 0 });
  }
}

function signIn(dashboard: string, token: string): string {
  return `
Dashboard: ${dashboard}
Sign in with this token, which is shown only once:

  ${token}

Stop with Ctrl-C.
`;
}

/** What the demo found, as text: the trend, where pages fell out, what happened, and what to try next. */
export async function demoText(result: DemoResult, { nights, pages, serve }: Flags, io: Io): Promise<string> {
  const { stdout, env } = io;
  const color = colorsWanted(stdout, env);
  const width = Math.min(columnsOf(stdout), MOST_COLUMNS);
  return withReader({ warehouse: result.warehouse, memoryLimit: MEMORY_LIMIT_BYTES }, async (reader) => {
    const section = async (title: string, name: string, empty: string) => {
      const { columns, rows } = await askAnalysis(reader, name);
      if (rows.length === 0) return empty;
      const period = await periodNote(reader, await questionOf(reader, findAnalysis(name), new Map()));
      const answer = { analysis: findAnalysis(name), columns, rows, websites: new Map(), today: reader.today };
      const table = answerTable({ ...answer, isCut: false });
      const text = formatTable(table.columns, table.rows, { color, unknown: UNKNOWN });
      const below = period === null ? '' : `\n\n  ${wrapped(period, width - 2).replaceAll('\n', '\n  ')}`;
      return `${title} (query ${name})\n\n${text.trimEnd().replace(/^/gm, '  ')}${below}`;
    };
    const sections = [
      wrapped(heading(result, nights, pages), width),
      await section('How much of the site is indexed', 'indexing_trend', 'No listing is complete.'),
      await section('Where pages fell out of the index', 'deindexed_by_directory', 'No page fell out of the index.'),
      `What happened in the last seven days\n\n${bullets(result.story, width)}`,
      next(result, await examplePage(reader), serve === true, io),
    ];
    return `${sections.join('\n\n')}\n`;
  });
}

function bullets(sentences: readonly string[], width: number): string {
  return sentences
    .map((sentence) => wrapped(safe(sentence), width - 4).replaceAll('\n', '\n    '))
    .map((lines) => `  - ${lines}`)
    .join('\n');
}

function heading({ receipts, tookMs }: DemoResult, nights: number, pages: number): string {
  const websites = receipts.flatMap((receipt) => receipt.websites);
  const requests = websites.reduce((sum, website) => sum + website.requests.sent, 0);
  const reports = websites.reduce((sum, website) => sum + website.reports.fetched, 0);
  return (
    `${count(nights)} nights of a simulated site of ${count(pages)} pages, synced in ${duration(tookMs)}: ` +
    `${count(requests)} requests, ${count(reports)} URL reports, each page once, then what had changed or come due.`
  );
}

/** A page that fell out of the index, to look at. */
async function examplePage(reader: Reader): Promise<string | null> {
  const { columns, rows } = await askAnalysis(reader, 'deindexed_pages', { limit: '1' });
  const url = rows[0]?.[columns.indexOf('url')];
  return typeof url === 'string' ? url : null;
}

function next({ config, report }: DemoResult, page: string | null, serve: boolean, { cwd, program }: Io): string {
  const place = `-c ${shellWord(safe(relative(cwd, config)))}`;
  const ofPage = page ? `\n  ${program} query page ${place} \\\n    url=${shellWord(safe(page))}` : '';
  const dashboard = serve ? '' : `\n  ${program} demo --serve     # the same again, then its dashboard`;
  return `The report with charts is ${safe(relative(cwd, report))}. Try next:

  ${program} query deindexed_pages ${place}${ofPage}${dashboard}`;
}
