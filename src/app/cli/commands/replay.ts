import { packageVersion } from '../../../base/version.js';
import { exitCodeOf, type ReplayReceipt, replay } from '../../../sync/replay.js';
import type { Globals } from '../command.js';
import { configOf, loggerOf } from '../configured.js';
import { type Io, stoppable, widthOf } from '../io.js';
import { count, figures, formatJson, formatTable, warningLines } from '../output/output.js';

export interface Flags extends Globals {
  website?: string[];
  since?: string;
  dryRun?: boolean;
}

/** `indexhouse replay`: re-validates quarantined records, and commits what passes now. */
export async function run(flags: Flags, io: Io): Promise<number> {
  const config = await configOf(flags, io, { withoutTokens: true });
  const options = {
    config,
    version: await packageVersion(),
    log: loggerOf(flags, io),
    websites: flags.website ?? [],
    since: flags.since ?? null,
    dryRun: flags.dryRun ?? false,
  };
  const receipt = await stoppable(io, (signal) => replay({ ...options, signal }));
  io.stdout.write(flags.json ? formatJson(receipt) : summary(receipt, widthOf(io.stdout)));
  return exitCodeOf(receipt);
}

/** The receipt as text: one line per snapshot, and warnings. */
function summary({ dry_run, snapshots, skipped, followers }: ReplayReceipt, width: number | undefined): string {
  const warnings = [
    ...skipped.map(({ website_id, reason }) => `${website_id}: ${reason}`),
    ...followers.flatMap(({ reason }) => (reason ? [reason] : [])),
  ];
  const notes = warningLines(warnings);
  if (snapshots.length === 0) return `No records in quarantine.\n${notes}`;
  const passed = snapshots.reduce((all, { coverage, url_reports }) => all + coverage + url_reports, 0);
  const table = formatTable(
    ['website', 'snapshot', ...figures('entries', 'reports', 'changes', 'still rejected')],
    snapshots.map((one) => [
      one.website_id,
      one.snapshot_date,
      ...[one.coverage, one.url_reports, one.changes, one.still_rejected].map((figure) => count(figure)),
    ]),
    { width },
  );
  const left = snapshots.reduce((all, { still_rejected }) => all + still_rejected, 0);
  const done = dry_run ? 'would be replayed' : 'replayed';
  return `${table}\n${count(passed)} records ${done}, ${count(left)} still break the contract.\n${notes}`;
}
