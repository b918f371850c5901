import { type Command, Option } from 'commander';
import type { Config } from '../config/schema.js';
import type { Receipt } from '../run/receipt.js';
import { checkWebsites, configOf, flagsOf, newCommand, type Outcome, packageVersion } from './command.js';
import { type SyncFlags, showPlan, withSyncFlags } from './plan.js';

const EXAMPLES = `
Examples:
  indexhouse sync                                 one run now, every configured website
  indexhouse sync --website 645f2e5c --max-reports 0   the listing of one website only
  indexhouse sync --deadline 6h --json            for a script: stop fetching after six hours
  indexhouse sync --max-reports 500 --dry-run     what that run would cost and reach, as indexhouse plan
  indexhouse sync --recover                       only finish what an interrupted run left`;

interface Flags extends SyncFlags {
  recover?: boolean;
  dryRun?: boolean;
}

/** `indexhouse sync`: one run now. */
export function syncCommand(outcome: Outcome): Command {
  return withSyncFlags(newCommand('sync', 'fetch the listing and the reports of each website, and commit a snapshot'))
    .option('--recover', 'only finish what an interrupted run left')
    .addOption(new Option('--dry-run', 'fetch nothing: print the plan of this run').conflicts('recover'))
    .addHelpText('after', EXAMPLES)
    .action(async (_: Flags, command: Command) => {
      const { dryRun, ...flags } = flagsOf<Flags>(command);
      if (dryRun) outcome.exitCode = await showPlan(flags);
      else outcome.exitCode = await syncOnce(flags);
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

async function jsonText(receipt: Receipt): Promise<string> {
  const { formatJson } = await import('./output.js');
  return `${formatJson(receipt)}\n`;
}

async function summary(receipt: Receipt, configured: Config['websites']): Promise<string> {
  const { syncSummary } = await import('./sync-output.js');
  const names = new Map(configured === 'all' ? [] : configured.map(({ id, name }) => [id, name] as const));
  return syncSummary(receipt, (id) => names.get(id) ?? id, process.stdout.columns);
}
