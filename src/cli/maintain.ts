import type { Command } from 'commander';
import type { Shrunk } from '../followers/shrink.js';
import type { MaintainReceipt, TableThinned } from '../maintain/receipt.js';
import { configOf, EXIT, flagsOf, type Globals, newCommand, type Outcome } from './command.js';

const HELP = `
What goes is said by the section \`retention\` of the configuration; without it everything is kept. Parquet files are put
out of use first, and deleted by a run that comes an hour later, so that readers can finish. A file with a page's newest
report, the last listing of a monitored page or the newest complete listing always stays; indexhouse.duckdb goes by the
date alone.

Exit codes: 0 done; 3 done, but indexhouse.duckdb is in use and could not be made smaller.

Examples:
  indexhouse maintain --dry-run      only say what would go, and why the rest stays
  indexhouse maintain                best once a day, behind the sync`;

const NOT_CONFIGURED = `Nothing is configured to go: everything is kept. To change that, add to indexhouse.yaml, for example:

retention:
  duckdb_keep: 400d           # older rows of coverage and url_reports leave indexhouse.duckdb
  parquet_keep_daily: 400d    # older Parquet files of both are thinned
  parquet_then: monthly       # to the last complete snapshot of each month; or weekly
`;

interface Flags extends Globals {
  dryRun?: boolean;
}

/** `indexhouse maintain`: drops what retention says is too old. */
export function maintainCommand(outcome: Outcome): Command {
  return newCommand('maintain', 'drop what is older than the configured retention, and free its space')
    .option('--dry-run', 'only say what would go, and why the rest stays')
    .addHelpText('after', HELP)
    .action(async (_: Flags, command: Command) => {
      outcome.exitCode = await maintainOnce(flagsOf<Flags>(command));
    });
}

async function maintainOnce(flags: Flags): Promise<number> {
  const [{ maintain }, { exitCodeOf }, { formatJson }] = await Promise.all([
    import('../maintain/maintain.js'),
    import('../maintain/receipt.js'),
    import('./output.js'),
  ]);
  const config = await configOf(flags, { withoutTokens: true });
  const receipt = await maintain({ config, dryRun: flags.dryRun ?? false });
  process.stdout.write(flags.json ? formatJson(receipt) : await summary(receipt));
  return exitCodeOf(receipt) === 3 ? EXIT.look : EXIT.done;
}

/** The receipt for people. */
async function summary(receipt: MaintainReceipt): Promise<string> {
  const parts = [
    receipt.configured ? '' : NOT_CONFIGURED,
    receipt.thinned_before === null ? '' : await parquetText(receipt),
    await removedText(receipt),
    receipt.duckdb ? await duckdbText(receipt.duckdb, receipt.dry_run) : '',
  ];
  return parts.filter((part) => part !== '').join('\n');
}

const BECAUSE: Record<TableThinned['kept'][number]['reason'], string> = {
  recent: 'not old enough',
  last_of_period: 'last of its week or month',
  newest_listing: 'newest complete listing',
  replayed: 'replayed',
  last_listings: 'last listing of a page',
  newest_reports: 'newest report of a page',
};

async function parquetText({ parquet, thinned_before, thinned_to, dry_run }: MaintainReceipt): Promise<string> {
  const { count, formatTable, size } = await import('./output.js');
  const title = `Parquet files before ${thinned_before}, thinned to ${thinned_to}${dry_run ? ' (a dry run: nothing is changed)' : ''}\n`;
  if (parquet.length === 0) return `${title}\nThere are none.\n`;
  const right = ['files', 'rows', 'size'].map((name) => ({ name, align: 'right' as const }));
  const rows = parquet.map(({ website_id, table, files, rows, bytes, first_date, last_date, kept }) => {
    const stays = kept.map((one) => `${count(one.files)} ${BECAUSE[one.reason]}`).join(', ');
    const dates = first_date === null ? '' : `${first_date} to ${last_date}`;
    return [website_id, table, count(files), count(rows), files === 0 ? '' : size(bytes), dates, stays];
  });
  const columns = ['website', 'table', ...right, 'dates', 'files that stay'];
  return `${title}\n${formatTable(columns, rows, { width: process.stdout.columns })}`;
}

async function removedText({ deleted, waiting, dry_run }: MaintainReceipt): Promise<string> {
  const { count, size } = await import('./output.js');
  const lines = [];
  if (deleted.files > 0) {
    const done = dry_run ? 'Would delete' : 'Deleted';
    lines.push(`${done} ${count(deleted.files)} files that were out of use for an hour: ${size(deleted.bytes)}.\n`);
  }
  if (waiting.files > 0) {
    const are = dry_run ? 'would be' : 'are';
    lines.push(
      `${count(waiting.files)} files (${size(waiting.bytes)}) ${are} out of use; a run an hour later deletes them.\n`,
    );
  }
  return lines.join('');
}

async function duckdbText(shrunk: Shrunk, dryRun: boolean): Promise<string> {
  const [{ count, size }, { safe }] = await Promise.all([import('./output.js'), import('../observe/terminal.js')]);
  const { retained_from, rows_dropped, bytes_before, bytes_after, reason } = shrunk;
  if (reason !== null && !dryRun) return `! ${safe(reason)}\n`;
  const from = retained_from === null ? '' : `, coverage and url_reports from ${retained_from} on`;
  const rows = `${count(rows_dropped)} rows ${dryRun ? 'would go' : 'went'}`;
  const sizes = bytes_before === null || bytes_after === null ? '' : `; ${size(bytes_before)} → ${size(bytes_after)}`;
  return `indexhouse.duckdb${from}: ${rows}${sizes}\n${reason === null ? '' : `! ${safe(reason)}\n`}`;
}
