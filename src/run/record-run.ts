import { toldOf } from '../journal/mend.js';
import { dropJournal, writeRunRow } from '../warehouse/commit.js';
import { journalEngine, type WebsiteRun } from './context.js';
import { calendarDate } from './dates.js';
import { failedReceipt, type WebsiteReceipt } from './receipt.js';

/** Writes into `runs` that a website got no snapshot and why, and forgets its journal: another run would begin anew. */
export async function recordFailure(run: WebsiteRun, message: string): Promise<WebsiteReceipt> {
  const { header, requests } = run;
  const error = header.set_aside ? `${message}; ${toldOf(header.set_aside)}` : message;
  await writeRow(run, { outcome: 'failed', snapshot_id: null, error });
  return failedReceipt(header.website_id, error, {
    ...(header.set_aside ? { set_aside: header.set_aside.folder } : {}),
    requests,
    resumed: header.resumed > 0,
    duration_ms: Math.max(0, run.effects.now() - Date.parse(header.started_at)),
  });
}

/** Writes the row of a run whose marker is there but whose own row a crash left out, and forgets its journal. */
export async function recordCommitted(run: WebsiteRun): Promise<void> {
  await writeRow(run, { outcome: 'committed', snapshot_id: run.header.snapshot_id, error: null });
}

async function writeRow(
  run: WebsiteRun,
  end: { outcome: 'committed' | 'failed'; snapshot_id: string | null; error: string | null },
): Promise<void> {
  const { header, requests, config, effects, folder, warehouse } = run;
  await writeRunRow({
    warehouse,
    folder,
    engine: journalEngine(run),
    compression: config.warehouse.parquet_compression,
    date: calendarDate(new Date(header.started_at), config.warehouse.time_zone),
    row: {
      run_id: header.run_id,
      website_id: header.website_id,
      started_at: header.started_at,
      finished_at: new Date(effects.now()).toISOString(),
      ...end,
      requests_sent: requests.sent,
      requests_throttled: requests.throttled,
      requests_retried: requests.retried,
    },
  });
  await dropJournal(folder);
}
