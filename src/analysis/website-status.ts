import { z } from 'zod';
import type { Engine } from '../storage/engine.js';
import { sql } from '../storage/sql.js';
import { OpenWarehouse } from '../warehouse/open.js';
import { readStates, type StateOptions } from '../warehouse/state.js';

const time = z.iso.datetime();

const snapshotRow = z.object({
  website_id: z.string(),
  website_name: z.string().nullable(),
  snapshots: z.int(),
  snapshot_id: z.string(),
  run_id: z.string(),
  snapshot_at: time,
  snapshot_date: z.string(),
  finished_at: time,
  age_seconds: z.int(),
  listing_status: z.enum(['complete', 'partial']),
  pages_expected: z.int().nullable(),
  pages_listed: z.int(),
  pages_rejected: z.int(),
  reports_status: z.string(),
  reports_planned: z.int(),
  reports_fetched: z.int(),
  reports_missing: z.int(),
  reports_failed: z.int(),
  reports_rejected: z.int(),
});

const runRow = z.object({
  website_id: z.string(),
  run_id: z.string(),
  started_at: time,
  finished_at: time,
  outcome: z.enum(['committed', 'failed']),
  error: z.string().nullable(),
  requests_sent: z.int(),
  requests_throttled: z.int(),
  requests_retried: z.int(),
  utilisation: z.number().nullable(),
});

const knownRow = z.object({
  website_id: z.string(),
  monitored: z.int(),
  with_report: z.int(),
  oldest_report_seconds: z.int().nullable(),
  median_report_seconds: z.int().nullable(),
});

const driftRow = z.object({
  website_id: z.string(),
  source: z.string(),
  kind: z.string(),
  field: z.string(),
  value: z.string().nullable(),
  occurrences: z.int(),
  sample: z.string().nullable(),
});
/** Something about the interface that a website's newest snapshot showed for the first time. */
export type NewDrift = z.infer<typeof driftRow>;

/** One website as the warehouse knows it. Times are ISO 8601 in UTC. */
export interface WebsiteStatus {
  website_id: string;
  website_name: string | null;
  /** How many snapshots there are. */
  snapshots: number;
  /** The newest one; null before the first. */
  last_snapshot: Omit<z.infer<typeof snapshotRow>, 'website_id' | 'website_name' | 'snapshots'> | null;
  /** The newest run that ended, with or without a snapshot. */
  last_run: Omit<z.infer<typeof runRow>, 'website_id'> | null;
  /** Pages that are monitored now, how many of them have a report, and the ages of those. */
  pages: (Omit<z.infer<typeof knownRow>, 'website_id'> & { report_share: number | null }) | null;
}

export interface WebsitesInput extends Pick<StateOptions, 'onRebuilt'> {
  warehouse: string;
  /** Bytes. */
  memoryLimit: number;
  /** Websites that are configured, shown also before their first run. */
  websites: readonly { id: string; name: string | null }[];
  /** Milliseconds since 1970. */
  now: number;
}

/** What the Parquet files tell of each website, with the log that they were read by. */
export async function readWebsites(
  engine: Engine,
  input: WebsitesInput,
  temporary: string,
): Promise<{ log: OpenWarehouse; websites: WebsiteStatus[]; drift: NewDrift[] }> {
  const { warehouse, memoryLimit, onRebuilt } = input;
  const log = await OpenWarehouse.read(engine, warehouse, temporary);
  log.leaveOut(await log.findTorn());
  const states = await readStates(engine, warehouse, log, { memoryLimit, temporary, onRebuilt });
  log.leaveOut(states.damaged);
  for (const table of ['snapshots', 'runs', 'drift_observations'] as const) await log.mount(table);
  await log.mount('page_state', states.files);
  const at = { checked_at: new Date(input.now).toISOString() };
  const snapshots = await engine.rows(snapshotRow, sql('status/last_snapshots'), at);
  const runs = await engine.rows(runRow, sql('status/last_runs'));
  const known = await engine.rows(knownRow, sql('status/reports_known'), at);
  const drift = await engine.rows(driftRow, sql('status/new_drift'));
  return { log, websites: joined(input, { snapshots, runs, known }), drift };
}

interface Rows {
  snapshots: z.infer<typeof snapshotRow>[];
  runs: z.infer<typeof runRow>[];
  known: z.infer<typeof knownRow>[];
}

/** One entry a website, whether it is configured, has run or has a snapshot. */
function joined({ websites }: WebsitesInput, { snapshots, runs, known }: Rows): WebsiteStatus[] {
  const ids = new Set([
    ...websites.map(({ id }) => id),
    ...[...snapshots, ...runs].map(({ website_id }) => website_id),
  ]);
  return [...ids].map((id) => {
    const of = <T extends { website_id: string }>(rows: T[]) => rows.find(({ website_id }) => website_id === id);
    const snapshot = of(snapshots);
    const name = websites.find((website) => website.id === id)?.name ?? snapshot?.website_name ?? null;
    return {
      website_id: id,
      website_name: name,
      snapshots: snapshot?.snapshots ?? 0,
      last_snapshot: snapshot ? snapshotOf(snapshot) : null,
      last_run: withoutId(of(runs)),
      pages: pagesOf(of(known)),
    };
  });
}

function snapshotOf(row: z.infer<typeof snapshotRow>): NonNullable<WebsiteStatus['last_snapshot']> {
  const { website_id: _id, website_name: _name, snapshots: _count, ...snapshot } = row;
  return snapshot;
}

function pagesOf(row: z.infer<typeof knownRow> | undefined): WebsiteStatus['pages'] {
  const pages = withoutId(row);
  return pages && { ...pages, report_share: pages.monitored > 0 ? pages.with_report / pages.monitored : null };
}

function withoutId<T extends { website_id: string }>(row: T | undefined): Omit<T, 'website_id'> | null {
  if (!row) return null;
  const { website_id: _id, ...rest } = row;
  return rest;
}
