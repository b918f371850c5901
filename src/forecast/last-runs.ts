import { z } from 'zod';
import { exists } from '../storage/durable.js';
import type { Engine } from '../storage/engine.js';
import { sql } from '../storage/sql.js';
import { tableFile } from '../warehouse/layout.js';
import { type Marker, markersOf, newestMarkers } from '../warehouse/markers.js';
import { tableQuery } from '../warehouse/prepare.js';
import type { MeasuredWalk } from './listing-requests.js';

const snapshotRow = z.object({
  snapshot_id: z.string(),
  website_id: z.string(),
  website_name: z.string().nullable(),
  run_id: z.string(),
  is_complete: z.boolean(),
  pages_listed: z.int(),
  requests_sent: z.int(),
  reports_planned: z.int(),
  resumed: z.boolean(),
});
type SnapshotRow = z.infer<typeof snapshotRow>;

const runRow = z.object({
  run_id: z.string(),
  website_id: z.string(),
  started_ms: z.number(),
  finished_ms: z.number(),
  requests_sent: z.int(),
  requests_retried: z.int(),
});
type RunRow = z.infer<typeof runRow>;

/** What the newest run that gave a website a snapshot tells of the next one. */
export interface LastRun {
  snapshotId: string;
  websiteName: string | null;
  runId: string;
  /** Of the newest complete listing; null where there is none. */
  walk: MeasuredWalk | null;
  /** When the run's part for this website went, and its requests; null where it was interrupted. */
  time: { startedMs: number; finishedMs: number; requests: number } | null;
}

/** Reads the newest snapshot of each website, its newest complete one, and their runs: a few files a website. */
export async function readLastRuns(
  engine: Engine,
  warehouse: string,
  markers: readonly Marker[],
): Promise<Map<string, LastRun>> {
  const snapshots = markers.filter(({ kind }) => kind === 'snapshot');
  const newest = newestMarkers(snapshots);
  const complete = newestMarkers(snapshots.filter(({ listingComplete }) => listingComplete));
  const needed = [...new Set([...newest, ...complete])];
  if (needed.length === 0) return new Map();
  const rows = await readSnapshots(engine, warehouse, needed);
  const runs = await readRuns(engine, warehouse, needed, rows);
  const rowOf = (marker: Marker | undefined) => rows.find((row) => row.snapshot_id === marker?.commitId);
  return new Map(
    newest.map((marker) => {
      const listed = rowOf(markersOf(complete, marker.websiteId)[0]);
      return [marker.websiteId, lastRun(marker, rowOf(marker), { listed, runs })];
    }),
  );
}

async function readSnapshots(engine: Engine, warehouse: string, markers: Marker[]): Promise<SnapshotRow[]> {
  const files = markers.map(({ path }) => path);
  await engine.view('snapshots', tableQuery(warehouse, 'snapshots', files));
  return engine.rows(snapshotRow, sql('forecast/last_snapshots'));
}

/** A run that ended just now may have no row yet. */
async function readRuns(
  engine: Engine,
  warehouse: string,
  markers: Marker[],
  rows: SnapshotRow[],
): Promise<Map<string, RunRow>> {
  const files: string[] = [];
  for (const { run_id, snapshot_id } of rows) {
    const marker = markers.find(({ commitId }) => commitId === snapshot_id);
    if (!marker) continue;
    const file = tableFile(warehouse, 'runs', { websiteId: marker.websiteId, date: marker.date, id: run_id });
    if (await exists(file)) files.push(file);
  }
  await engine.view('runs', tableQuery(warehouse, 'runs', files));
  const runs = await engine.rows(runRow, sql('forecast/last_runs'));
  return new Map(runs.map((run) => [nameOf(run), run]));
}

function nameOf({ run_id, website_id }: { run_id: string; website_id: string }): string {
  return `${run_id} ${website_id}`;
}

function lastRun(
  marker: Marker,
  row: SnapshotRow | undefined,
  { listed, runs }: { listed: SnapshotRow | undefined; runs: ReadonlyMap<string, RunRow> },
): LastRun {
  const run = row && runs.get(nameOf(row));
  return {
    snapshotId: marker.commitId,
    websiteName: row?.website_name ?? null,
    runId: row?.run_id ?? '',
    walk: listed ? walkOf(listed, runs.get(nameOf(listed))) : null,
    time:
      run && !row.resumed
        ? { startedMs: run.started_ms, finishedMs: run.finished_ms, requests: run.requests_sent }
        : null,
  };
}

/** What is left of a run's requests when its reports and what was asked for twice are taken off. */
function walkOf(snapshot: SnapshotRow, run: RunRow | undefined): MeasuredWalk | null {
  const requests = snapshot.requests_sent - snapshot.reports_planned - (run?.requests_retried ?? 0);
  return requests > 0 && snapshot.pages_listed > 0 ? { requests, pages: snapshot.pages_listed } : null;
}
