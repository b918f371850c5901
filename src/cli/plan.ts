import { ConfigError } from '../config/errors.js';
import type { Config } from '../config/schema.js';
import { UsageError } from '../exit.js';
import { csvText } from '../observe/csv.js';
import { nextRun, type PlannedPage } from '../plan/next-run.js';
import { chosenWebsites } from '../run/choose-websites.js';
import { configOf, exitFor, rebuiltLog } from './configured.js';
import { type Io, widthOf } from './io.js';
import { formatJson } from './output.js';
import { planText } from './plan-text.js';
import type { Globals } from './program.js';
import { checkSink, fileOf, writeStream } from './sink.js';

const FIRST_PAGES = 10;
const CSV_COLUMNS = ['website_id', 'place', 'url', 'reason', 'report_age_days', 'reached'] as const;

/** The flags that say which run it is. */
export interface RunFlags extends Globals {
  website?: string[];
  maxReports?: number;
  deadline?: string;
}

export interface Flags extends RunFlags {
  out?: string;
  force?: boolean;
}

/** `indexhouse plan`: what the next run costs and reaches, without a request. */
export async function run(flags: Flags, io: Io): Promise<number> {
  const { website = [], out, force = false, json } = flags;
  const config = await configFor(flags, io);
  const [file, toStdout] = [fileOf(out, io), out === '-'];
  if (toStdout && json) throw new UsageError('--json and --out - cannot be combined: both write to stdout');
  const sink = { format: 'csv', out: file, force, io } as const;
  await checkSink(sink);
  const { planned, damaged } = await nextRun({
    config,
    websites: await chosenWebsites(website, config, null),
    first: FIRST_PAGES,
    now: Date.now(),
    onRebuilt: rebuiltLog(flags, io),
    writePages: out === undefined ? undefined : (pages) => writeStream(csvText(CSV_COLUMNS, rowsOf(pages)), sink),
  });
  if (!toStdout) io.stdout.write(json ? formatJson(planned) : planText(planned, config, optionsOf(out, io)));
  return exitFor(damaged, io);
}

/** Nothing is requested, so no token is needed: if one cannot be read, all websites are assumed to share a key. */
async function configFor(flags: Flags, io: Io): Promise<Config> {
  const overrides = { reports: { max_per_run: flags.maxReports, deadline: flags.deadline } };
  try {
    return await configOf(flags, io, { overrides });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return configOf(flags, io, { overrides, withoutTokens: true });
  }
}

function optionsOf(out: string | undefined, { program, stdout }: Io) {
  return { program, width: widthOf(stdout), out };
}

async function* rowsOf(
  pages: AsyncIterable<PlannedPage & { website_id: string; reached: boolean }>,
): AsyncGenerator<unknown[][]> {
  for await (const page of pages) yield [CSV_COLUMNS.map((column) => page[column])];
}
