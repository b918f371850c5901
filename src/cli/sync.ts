import { type Command, InvalidArgumentError } from 'commander';
import type { Config } from '../config/schema.js';
import type { Receipt } from '../run/receipt.js';
import { configOf, flagsOf, type Globals, newCommand, type Outcome, packageVersion, UsageError } from './command.js';

const EXAMPLES = `
Examples:
  indexhouse sync                                 one run now, every configured website
  indexhouse sync --website 645f2e5c --max-reports 0   the listing of one website only
  indexhouse sync --deadline 6h --json            for a script: stop fetching after six hours
  indexhouse sync --recover                       only finish what an interrupted run left`;

interface Flags extends Globals {
  website?: string[];
  maxReports?: number;
  deadline?: string;
  recover?: boolean;
}

/** `indexhouse sync`: one run now. */
export function syncCommand(outcome: Outcome): Command {
  return newCommand('sync', 'fetch the listing and the reports of each website, and commit a snapshot')
    .option('-w, --website <id...>', 'only these websites')
    .option('--max-reports <number>', 'reports to fetch at most; 0: the listing only', wholeNumber)
    .option('--deadline <duration>', 'stop fetching reports after this long, such as 6h, and commit what is there')
    .option('--recover', 'only finish what an interrupted run left')
    .addHelpText('after', EXAMPLES)
    .action(async (_: Flags, command: Command) => {
      outcome.exitCode = await syncOnce(flagsOf<Flags>(command));
    });
}

async function syncOnce(flags: Flags): Promise<number> {
  const config = await configOf(flags, {
    overrides: { reports: { max_per_run: flags.maxReports, deadline: flags.deadline } },
  });
  checkWebsites(flags.website ?? [], config.websites);
  const [{ runSync }, { exitCodeOf }] = await Promise.all([import('./run-sync.js'), import('../run/receipt.js')]);
  const receipt = await runSync(config, {
    version: await packageVersion(),
    logLevel: flags.logLevel ?? 'info',
    websites: flags.website ?? [],
    recoverOnly: flags.recover ?? false,
  });
  process.stdout.write(flags.json ? await jsonText(receipt) : await summary(receipt, config.websites));
  return exitCodeOf(receipt, config.quality.max_reject_ratio);
}

function checkWebsites(asked: string[], configured: Config['websites']): void {
  if (configured === 'all') return;
  const unknown = asked.filter((id) => !configured.some((website) => website.id === id));
  if (unknown.length === 0) return;
  const known = configured.map(({ id }) => id).join(', ');
  throw new UsageError(`--website ${unknown.join(', ')} is not configured; configured are: ${known}`);
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0.');
  return Number(text);
}

async function jsonText(receipt: Receipt): Promise<string> {
  const { formatJson } = await import('./output.js');
  return `${formatJson(receipt)}\n`;
}

async function summary(receipt: Receipt, configured: Config['websites']): Promise<string> {
  const { syncSummary } = await import('./sync-output.js');
  const names = new Map(configured === 'all' ? [] : configured.map(({ id, name }) => [id, name] as const));
  return syncSummary(receipt, (id) => names.get(id) ?? id, process.stdout.columns);
}
