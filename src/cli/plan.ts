import { type Command, InvalidArgumentError } from 'commander';
import type { Config } from '../config/schema.js';
import type { Forecast } from '../forecast/document.js';
import type { ForecastInput } from '../forecast/forecast.js';
import type { DamagedFile } from '../warehouse/damage.js';
import { checkWebsites, configOf, flagsOf, type Globals, newCommand, type Outcome, UsageError } from './command.js';
import { exitFor, rebuiltLog } from './reader-options.js';
import { stopSignal } from './signals.js';

const FIRST_PAGES = 10;
const MANY_WEBSITES = 5;

const HELP = `
Tells how many requests the next run takes, when it ends and which pages it does not reach. Reads the newest snapshots
and asks the service nothing but how many pages a website has that has no snapshot yet. Writes nothing.

Examples:
  indexhouse plan                                 before the first run, and before any other
  indexhouse plan --max-reports 500 --deadline 2h what these would leave out
  indexhouse plan --younger-than 7d               nights until every report is younger than a week
  indexhouse plan --out plan.csv                  every wanted page in order, and whether it is reached
  indexhouse plan --ask                           with as many pages as the service counts now`;

/** The flags that a sync has too. */
export interface SyncFlags extends Globals {
  website?: string[];
  maxReports?: number;
  deadline?: string;
}

interface Flags extends SyncFlags {
  youngerThan?: string;
  ask?: boolean;
  offline?: boolean;
  first?: number;
  out?: string;
  force?: boolean;
}

/** `indexhouse plan`: what the next run costs and reaches. */
export function planCommand(outcome: Outcome): Command {
  return withSyncFlags(newCommand('plan', 'what the next run costs, when it ends, and which pages it does not reach'))
    .option('--younger-than <duration>', 'estimate nights until every report is newer than this (default: 30d)')
    .option('--ask', 'ask the service how many pages there are, also where snapshots tell')
    .option('--offline', 'ask the service nothing')
    .option('--first <number>', 'pages to name that come first', wholeNumber, FIRST_PAGES)
    .option('-o, --out <file>', 'write every wanted page there, as CSV')
    .option('--force', 'write over an existing file')
    .addHelpText('after', HELP)
    .action(async (_: Flags, command: Command) => {
      outcome.exitCode = await showPlan(flagsOf<Flags>(command));
    });
}

/** The options that say which run it is. */
export function withSyncFlags(command: Command): Command {
  return command
    .option('-w, --website <id...>', 'only these websites')
    .option('--max-reports <number>', 'reports to fetch at most; 0: the listing only', wholeNumber)
    .option('--deadline <duration>', 'stop fetching reports after this long, such as 6h, and commit what is there');
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0.');
  return Number(text);
}

/** Prints the plan of a run with these flags, and gives the exit code. */
export async function showPlan(flags: Flags): Promise<number> {
  if (flags.ask && flags.offline) throw new UsageError('--ask and --offline exclude each other: leave one out');
  const { config, withoutTokens } = await configFor(flags);
  checkWebsites(flags.website ?? [], config.websites);
  const [{ forecast }, { checkSink }] = await Promise.all([
    import('../forecast/forecast.js'),
    import('./query-output.js'),
  ]);
  const { out, force = false, json } = flags;
  await checkSink({ format: 'csv', out, force, guardFormulas: true, terminal: process });
  const { signal, release } = stopSignal();
  try {
    let damaged: readonly DamagedFile[] = [];
    const onDamaged = (found: readonly DamagedFile[]) => {
      damaged = found;
    };
    const planned = await forecast({
      ...(await inputOf(flags, config)),
      onRebuilt: rebuiltLog(flags),
      onDamaged,
      signal,
    });
    process.stdout.write(json ? await jsonOf(planned) : await textOf(planned, { withoutTokens, out }));
    return await exitFor(damaged);
  } finally {
    release();
  }
}

/** Whoever asks nothing needs no token: where one cannot be read, all websites are taken to share one. */
async function configFor(flags: Flags): Promise<{ config: Config; withoutTokens: boolean }> {
  const overrides = { reports: { max_per_run: flags.maxReports, deadline: flags.deadline } };
  try {
    return { config: await configOf(flags, { overrides }), withoutTokens: false };
  } catch (error) {
    if (!flags.offline || !(error instanceof Error) || error.name !== 'ConfigError') throw error;
    return { config: await configOf(flags, { overrides, withoutTokens: true }), withoutTokens: true };
  }
}

async function inputOf(flags: Flags, config: Config): Promise<Omit<ForecastInput, 'signal'>> {
  const { website = [], maxReports, deadline, out } = flags;
  const { writeWanted } = await import('./plan-output.js');
  return {
    config,
    websites: website,
    ask: flags.ask ? 'always' : flags.offline ? 'never' : 'unknown',
    youngerThan: await youngerThan(flags),
    first: flags.first ?? FIRST_PAGES,
    onAsk: sayAsking,
    asScheduled: website.length === 0 && maxReports === undefined && deadline === undefined,
    writeWanted: out === undefined ? undefined : (pages) => writeWanted(out, pages),
  };
}

/** A request each, at the key's pace: many of them take minutes. */
function sayAsking(websites: number): void {
  if (process.stderr.isTTY && websites >= MANY_WEBSITES) {
    process.stderr.write(`Asking the service how many pages ${websites} websites have …\n`);
  }
}

async function youngerThan({ youngerThan: text }: Flags): Promise<number | undefined> {
  if (text === undefined) return undefined;
  const { duration } = await import('../config/scalars.js');
  const parsed = duration(1).safeParse(text);
  if (parsed.success) return parsed.data;
  throw new UsageError(`--younger-than ${text} ${parsed.error.issues[0]?.message.replace('\n', '. ')}`);
}

async function jsonOf(planned: Forecast): Promise<string> {
  return (await import('./output.js')).formatJson(planned);
}

async function textOf(planned: Forecast, notes: { withoutTokens: boolean; out: string | undefined }): Promise<string> {
  const { planText } = await import('./plan-output.js');
  return planText(planned, { ...notes, width: process.stdout.isTTY ? process.stdout.columns : undefined });
}
