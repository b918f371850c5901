import { type Command, InvalidArgumentError } from 'commander';
import type { ReplayReceipt } from '../run/replay.js';
import { configOf, flagsOf, type Globals, newCommand, type Outcome, packageVersion } from './command.js';

const HELP = `
Records that break the contract of the interface are kept with their own text. After an upgrade whose contract takes
them, this commits them as what they were then, once and without a request; the originals stay in rejected_records.

Examples:
  indexhouse replay --dry-run             what would pass now
  indexhouse replay --since 2026-11-01    of the snapshots of this date and later`;

interface Flags extends Globals {
  website?: string[];
  since?: string;
  dryRun?: boolean;
}

/** `indexhouse replay`: re-validates quarantined payloads, and commits what passes now. */
export function replayCommand(outcome: Outcome): Command {
  return newCommand('replay', 're-validate quarantined payloads after a fix, without a request')
    .option('-w, --website <id...>', 'only these websites')
    .option('--since <date>', 'only snapshots of this date, such as 2026-11-01, or later', calendarDate)
    .option('--dry-run', 'only say what would pass')
    .addHelpText('after', HELP)
    .action(async (_: Flags, command: Command) => {
      outcome.exitCode = await replayOnce(flagsOf<Flags>(command));
    });
}

async function replayOnce(flags: Flags): Promise<number> {
  const [{ replay, exitCodeOf }, { createLogger }, { stopSignal }, { formatJson }] = await Promise.all([
    import('../run/replay.js'),
    import('../observe/log.js'),
    import('./signals.js'),
    import('./output.js'),
  ]);
  const { signal, release } = stopSignal();
  try {
    const receipt = await replay({
      config: await configOf(flags, { withoutTokens: true }),
      version: await packageVersion(),
      log: createLogger({ level: flags.logLevel ?? 'info' }),
      websites: flags.website ?? [],
      since: flags.since ?? null,
      dryRun: flags.dryRun ?? false,
      signal,
    });
    process.stdout.write(flags.json ? formatJson(receipt) : await summary(receipt));
    return exitCodeOf(receipt);
  } finally {
    release();
  }
}

function calendarDate(text: string): string {
  const at = new Date(`${text}T00:00:00Z`);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== text) {
    throw new InvalidArgumentError('It must be a date such as 2026-11-01.');
  }
  return text;
}

/** The receipt for people: a line each snapshot, and what is worth a look. */
async function summary({ dry_run, snapshots, skipped, followers }: ReplayReceipt): Promise<string> {
  const [{ count, formatTable }, { safe }] = await Promise.all([
    import('./output.js'),
    import('../observe/terminal.js'),
  ]);
  const looks = [
    ...skipped.map(({ website_id, reason }) => `${website_id}: ${reason}`),
    ...followers.flatMap(({ reason }) => (reason ? [reason] : [])),
  ];
  const told = looks.map((look) => `\n! ${safe(look)}\n`).join('');
  if (snapshots.length === 0) return `Nothing waits in quarantine.\n${told}`;
  const passed = snapshots.reduce((all, { coverage, url_reports }) => all + coverage + url_reports, 0);
  const figures = ['entries', 'reports', 'changes', 'still rejected'];
  const table = formatTable(
    ['website', 'snapshot', ...figures.map((name) => ({ name, align: 'right' as const }))],
    snapshots.map((one) => [
      one.website_id,
      one.snapshot_date,
      ...[one.coverage, one.url_reports, one.changes, one.still_rejected].map((figure) => count(figure)),
    ]),
    { width: process.stdout.columns },
  );
  const left = snapshots.reduce((all, { still_rejected }) => all + still_rejected, 0);
  const done = dry_run ? 'would be replayed' : 'replayed';
  return `${table}\n${count(passed)} records ${done}, ${count(left)} break the contract still.\n${told}`;
}
