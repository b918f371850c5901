import { z } from 'zod';
import { journalsSetAside } from '../journal/folder.js';
import { type Engine, withEngine } from '../storage/engine.js';
import { type LockHolder, probeLock } from '../storage/lock-probe.js';
import { sql } from '../storage/sql.js';
import { withTemporary } from '../storage/temporary.js';
import type { DamagedFile } from '../warehouse/damage.js';
import { warehouseFolder } from '../warehouse/layout.js';
import type { Marker } from '../warehouse/markers.js';
import { OpenWarehouse } from '../warehouse/open.js';
import { readStates, type StateOptions } from '../warehouse/state.js';
import { type FollowerLag, followerLag } from './follower-lag.js';
import { type QuarantineStatus, quarantineOf } from './quarantine.js';
import { warningsOf } from './status-warnings.js';
import { type UnfinishedRun, unfinishedRuns } from './unfinished-runs.js';

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

/** A file that cannot be read: what it says is left out. */
export interface DamagedStatus {
  path: string;
  table: string;
  website_id: string;
  /** What follows the path in a sentence: `is missing`, `is empty`, … */
  reason: string;
}

/** The names are those of `status --json`. */
export interface Status {
  warehouse: string;
  checked_at: string;
  websites: WebsiteStatus[];
  /** The process that holds the run lock: a sync or another writing command is under way. */
  running: LockHolder | null;
  unfinished: UnfinishedRun[];
  /** Folders of damaged journals that were set aside; they may be deleted. */
  set_aside: string[];
  followers: FollowerLag[];
  /** What is new in the drift diary since the snapshot before the newest one of each website. */
  new_drift: NewDrift[];
  /** Websites with rejected records. */
  quarantine: QuarantineStatus[];
  /** Files of the log that cannot be read. */
  damaged: DamagedStatus[];
  /** What somebody should look at, a sentence each. */
  warnings: string[];
}

export interface StatusInput extends Pick<StateOptions, 'onRebuilt'> {
  warehouse: string;
  /** Bytes. */
  memoryLimit: number;
  /** Milliseconds: an unfinished run that is younger goes on, an older one is closed by the next sync. */
  resumeWithin: number;
  maxRejectRatio: number;
  /** Websites that are configured, shown also before their first run. */
  websites: readonly { id: string; name: string | null }[];
  /** Milliseconds since 1970. */
  now: number;
}

/**
 * Finds out how a warehouse is doing, from its Parquet files and journals: nothing that holds a database blocks it, and
 * it writes nothing into the warehouse but a state that is missing. Not to be called by a process that syncs.
 */
export async function readStatus(input: StatusInput): Promise<Status> {
  const { warehouse } = input;
  return withTemporary('status', async (temporary) => {
    // Before the journals: a sync that ends in between is then no run that nobody works on.
    const running = await probeLock(warehouseFolder(warehouse).lock);
    const unfinished = await unfinishedRuns({ ...input, isRunning: running !== null });
    const engine = { memoryLimit: input.memoryLimit, temporary };
    const { markers, websites, drift, damaged } = await withEngine(engine, (opened) =>
      readWebsites(opened, input, temporary),
    );
    const followers = [await followerLag({ warehouse, markers, engine })];
    const found = {
      warehouse,
      checked_at: new Date(input.now).toISOString(),
      websites,
      running,
      unfinished,
      set_aside: await journalsSetAside(warehouse),
      followers,
      new_drift: drift,
      quarantine: quarantineOf(markers),
      damaged: damaged.map(({ path, table, websiteId, reason }) => ({ path, table, website_id: websiteId, reason })),
    };
    return { ...found, warnings: warningsOf(found, input.maxRejectRatio) };
  });
}

async function readWebsites(
  engine: Engine,
  input: StatusInput,
  temporary: string,
): Promise<{ markers: Marker[]; websites: WebsiteStatus[]; drift: NewDrift[]; damaged: DamagedFile[] }> {
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
  const { markers, damaged } = log;
  return { markers, websites: joined(input, { snapshots, runs, known }), drift, damaged };
}

interface Rows {
  snapshots: z.infer<typeof snapshotRow>[];
  runs: z.infer<typeof runRow>[];
  known: z.infer<typeof knownRow>[];
}

/** One entry a website, whether it is configured, has run or has a snapshot. */
function joined({ websites }: StatusInput, { snapshots, runs, known }: Rows): WebsiteStatus[] {
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
