import { count, counted, size } from '../../../base/observe/format.js';
import { type MaintainReceipt, maintain, maintainExitCode } from '../../../warehouse/removal/maintain.js';
import { configOf, loggerOf } from '../configured.js';
import { type Globals, type Io, widthOf } from '../io.js';
import { figures, formatJson, formatTable, warningLines } from '../output/output.js';

const NOT_CONFIGURED = `No retention configured; everything is kept. To change that, add to indexhouse.yaml, for example:

retention: 400d    # of older listings, reports and preliminary days the last complete snapshot of each month stays
`;

export interface Flags extends Globals {
  dryRun?: boolean;
}

/** `indexhouse maintain`: removes what retention says is too old. */
export async function run(flags: Flags, io: Io): Promise<number> {
  const config = await configOf(flags, io, { withoutTokens: true });
  const receipt = await maintain({ config, dryRun: flags.dryRun ?? false, logger: loggerOf(flags, io, config) });
  io.stdout.write(flags.json ? formatJson(receipt) : summary(receipt, widthOf(io.stdout)));
  return maintainExitCode(receipt);
}

/** The receipt as text. */
function summary(receipt: MaintainReceipt, width: number | undefined): string {
  const parts = [
    receipt.configured ? '' : NOT_CONFIGURED,
    receipt.thinned_before === null ? '' : parquetText(receipt, width),
    removedText(receipt),
    warningLines(receipt.followers.flatMap(({ reason }) => (reason ? [reason] : []))),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

const BECAUSE: Record<MaintainReceipt['parquet'][number]['kept'][number]['reason'], string> = {
  recent: 'not old enough',
  last_of_month: 'last of its month',
  newest_listing: 'newest complete listing',
  last_listings: 'last listing of a page',
  newest_reports: 'newest report of a page',
  newest_days: 'newest days of search analytics',
};

function parquetText({ parquet, thinned_before, dry_run }: MaintainReceipt, width: number | undefined): string {
  const title = `Parquet files before ${thinned_before}, thinned to one a month${dry_run ? ' (dry run: nothing is changed)' : ''}\n`;
  if (parquet.length === 0) return `${title}\nNone.\n`;
  const rows = parquet.map(({ website_id, table, files, rows, bytes, first_date, last_date, kept }) => {
    const stays = kept.map((one) => `${count(one.files)} ${BECAUSE[one.reason]}`).join(', ');
    const dates = first_date === null ? '' : `${first_date} to ${last_date}`;
    return [website_id, table, count(files), count(rows), files === 0 ? '' : size(bytes), dates, stays];
  });
  const columns = ['website', 'table', ...figures('files', 'rows', 'size'), 'dates', 'files that stay'];
  return `${title}\n${formatTable(columns, rows, { width })}`;
}

function removedText({ deleted, waiting, dry_run }: MaintainReceipt): string {
  const lines = [];
  if (deleted.files > 0) {
    const done = dry_run ? 'Would delete' : 'Deleted';
    lines.push(`${done} ${counted(deleted.files, 'file')} removed more than an hour ago: ${size(deleted.bytes)}.\n`);
  }
  if (waiting.files > 0) {
    const done = dry_run ? 'Would remove' : 'Removed';
    const files = `${counted(waiting.files, 'file')} (${size(waiting.bytes)})`;
    lines.push(`${done} ${files}; \`indexhouse maintain\` deletes what is removed after an hour.\n`);
  }
  return lines.join('');
}
