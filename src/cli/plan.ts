import { ConfigError } from '../config/errors.js';
import { duration } from '../config/scalars.js';
import type { Config } from '../config/schema.js';
import { UsageError } from '../exit.js';
import { forecast, type WantedOf } from '../forecast/forecast.js';
import { csvText } from '../observe/csv.js';
import { chosenWebsites } from '../run/choose-websites.js';
import { realEffects } from '../source/effects.js';
import { configOf, exitFor, rebuiltLog } from './configured.js';
import { type Io, stoppable, widthOf } from './io.js';
import { formatJson } from './output.js';
import { planText } from './plan-output.js';
import type { Globals } from './program.js';
import { checkSink, fileOf, writeStream } from './sink.js';

const FIRST_PAGES = 10;
const MANY_WEBSITES = 5;
const CSV_COLUMNS = ['website_id', 'place', 'url', 'reason', 'report_age_days', 'reached'] as const;

/** The flags that say which run it is. */
export interface RunFlags extends Globals {
  website?: string[];
  maxReports?: number;
  deadline?: string;
}

export interface Flags extends RunFlags {
  youngerThan?: string;
  ask?: boolean;
  offline?: boolean;
  first?: number;
  out?: string;
  force?: boolean;
}

/** `indexhouse plan`: what the next run costs and reaches. */
export async function run(flags: Flags, io: Io): Promise<number> {
  const { ask, offline, website = [], maxReports, deadline, first = FIRST_PAGES, out, force = false, json } = flags;
  const { stdout, stderr } = io;
  if (ask && offline) throw new UsageError('--ask and --offline cannot be combined');
  const { config, withoutTokens } = await configFor(flags, io);
  const [file, toStdout] = [fileOf(out, io), out === '-'];
  if (toStdout && json) throw new UsageError('--json and --out - cannot be combined: both write to stdout');
  const sink = { format: 'csv', out: file, force, io } as const;
  await checkSink(sink);
  const { planned, damaged } = await stoppable(io, async (signal) => {
    const { ids, requests } = await selected(flags, config, signal);
    const found = await forecast({
      config,
      websites: ids,
      ask: ask ? 'always' : offline ? 'never' : 'unknown',
      youngerThan: youngerThan(flags),
      first,
      asScheduled: website.length === 0 && maxReports === undefined && deadline === undefined,
      // One request per website, at the key's pace: for many websites, this takes minutes.
      onAsk: (websites) => {
        if (!stderr.isTTY || websites < MANY_WEBSITES) return;
        stderr.write(`Asking the service how many pages ${websites} websites have …\n`);
      },
      onRebuilt: rebuiltLog(flags, io),
      signal,
      ...(out === undefined ? {} : { writeWanted: (pages) => writeStream(csvText(CSV_COLUMNS, rowsOf(pages)), sink) }),
    });
    return { ...found, planned: { ...found.planned, requests_sent: found.planned.requests_sent + requests } };
  });
  if (!toStdout)
    stdout.write(json ? formatJson(planned) : planText(planned, { withoutTokens, out, width: widthOf(stdout) }));
  return exitFor(damaged, io);
}

/** Without requests no token is needed: if one cannot be read, all websites are assumed to share a key. */
async function configFor(flags: Flags, io: Io): Promise<{ config: Config; withoutTokens: boolean }> {
  const overrides = { reports: { max_per_run: flags.maxReports, deadline: flags.deadline } };
  try {
    return { config: await configOf(flags, io, { overrides }), withoutTokens: false };
  } catch (error) {
    if (!flags.offline || !(error instanceof ConfigError)) throw error;
    return { config: await configOf(flags, io, { overrides, withoutTokens: true }), withoutTokens: true };
  }
}

/** The ids of the websites that the flags name, and the requests that it took to find them. */
async function selected({ website = [], offline }: Flags, config: Config, signal: AbortSignal) {
  let requests = 0;
  const onAnswer = () => {
    requests += 1;
  };
  const asking = offline ? null : { effects: realEffects, signal, onAnswer };
  return { ids: await chosenWebsites(website, config, asking), requests };
}

function youngerThan({ youngerThan: text }: Flags): number | undefined {
  if (text === undefined) return undefined;
  const parsed = duration(1).safeParse(text);
  if (parsed.success) return parsed.data;
  throw new UsageError(`--younger-than ${text} ${parsed.error.issues[0]?.message.replace('\n', '. ')}`);
}

async function* rowsOf(pages: AsyncIterable<WantedOf>): AsyncGenerator<unknown[][]> {
  for await (const page of pages) yield [CSV_COLUMNS.map((column) => page[column])];
}
