import { relative, resolve } from 'node:path';
import { askAnalysis } from '../../../answers/query/ask-rows.js';
import { type Reader, withReader } from '../../../answers/query/reader.js';
import type { Config } from '../../../base/config/schema.js';
import { Failure } from '../../../base/exit.js';
import { count, counted, duration, shellWord } from '../../../base/observe/format.js';
import { safe } from '../../../base/observe/terminal.js';
import { packageVersion } from '../../../base/version.js';
import { addKey } from '../../../serve/keys/manage-keys.js';
import { type DemoResult, type DemoSource, INSPECTIONS_A_DAY, runDemo } from '../../demo/demo.js';
import { loggerOf, settingsFor } from '../configured.js';
import { EXIT, type Globals, type Io, stoppable, terminalWidth } from '../io.js';
import { formatJson, wrapped } from '../output/output.js';
import { optionsOf, serveUntilStopped } from './serve.js';
import { display } from './sync.js';

const MEMORY_LIMIT_BYTES = 500e6;
const MOST_COLUMNS = 80;
/** The others are in the report. */
const MOST_SENTENCES = 4;

/** A site of this many pages, for this many nights. */
const DEFAULTS = { api: { pages: 3000, nights: 14 }, google: { pages: 6000, nights: 21 } };
const READ = {
  api: 'URL reports, each page once, then what had changed or come due',
  google: `inspections, ${INSPECTIONS_A_DAY} a night`,
};

interface Given extends Globals {
  source: DemoSource;
  folder: string;
  pages?: number;
  nights?: number;
  seed: number;
  serve?: boolean;
}
export type Flags = Given & { pages: number; nights: number };

/** `indexhouse demo`: weeks of a simulated service, synced night by night, then first answers and the dashboard. */
export async function run(given: Given, io: Io): Promise<number> {
  const flags = { ...DEFAULTS[given.source], ...given };
  const { source, pages, nights, seed } = flags;
  const folder = resolve(io.cwd, flags.folder);
  const version = await packageVersion();
  const { logger, progress } = display(flags.logLevel ?? 'warn', io);
  const result = await stoppable(io, (signal) =>
    runDemo({ folder, source, pages, nights, seed, version, logger, progress, signal, now: Date.now() }),
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
  const settings = optionsOf(await settingsFor({ warehouse }, io));
  const { token } = await addKey(warehouse, { label: 'demo', websites: 'all' });
  const logger = loggerOf({ logLevel: 'warn', ...flags }, io);
  const serve = (service: Config['service']) =>
    serveUntilStopped({ ...settings, service, prefix: '', logger }, io, ({ url }) => {
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

/** The demo's story: what happened in the last week, and what to try next. */
export async function demoText(result: DemoResult, flags: Flags, io: Io): Promise<string> {
  const width = Math.min(terminalWidth(io.stdout), MOST_COLUMNS);
  const { history, story } = result;
  return withReader({ warehouse: result.warehouse, memoryLimit: MEMORY_LIMIT_BYTES }, async (reader) => {
    const sections = [
      wrapped(heading(result, flags), width),
      ...(history.length > 0 ? [`What search shows, for 16 months:\n\n${bullets(history, width)}`] : []),
      `What happened in the last seven days:\n\n${bullets(story.slice(0, MOST_SENTENCES), width)}`,
      next(result, await examplePage(reader), flags, io),
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

function heading({ receipts, tookMs }: DemoResult, { source, nights, pages }: Flags): string {
  const websites = receipts.flatMap((receipt) => receipt.websites);
  const requests = websites.reduce((sum, website) => sum + website.requests.sent, 0);
  const reports = websites.reduce((sum, website) => sum + website.reports.fetched, 0);
  return (
    `${counted(nights, 'night')} of a simulated site of ${counted(pages, 'page')}, synced in ${duration(tookMs)}: ` +
    `${count(requests)} requests, ${count(reports)} ${READ[source]}.`
  );
}

/** A page that fell out of the index, to look at. */
async function examplePage(reader: Reader): Promise<string | null> {
  const { columns, rows } = await askAnalysis(reader, 'deindexed_pages', { limit: '1' });
  const url = rows[0]?.[columns.indexOf('url')];
  return typeof url === 'string' ? url : null;
}

function next({ config, report }: DemoResult, page: string | null, flags: Flags, { cwd, program }: Io): string {
  const place = `-c ${shellWord(safe(relative(cwd, config)))}`;
  const ofPage = page ? `\n  ${program} query page ${place} \\\n    url=${shellWord(safe(page))}` : '';
  const ofSource = flags.source === 'api' ? '' : ` --source ${flags.source}`;
  const dashboard = flags.serve
    ? ''
    : `\n  ${program} demo${ofSource} --serve     # the same again, then its dashboard`;
  return `The report with charts is ${safe(relative(cwd, report))}. Try next:

  ${program} query indexing_trend ${place}
  ${program} query deindexed_pages ${place}${ofPage}${dashboard}`;
}
