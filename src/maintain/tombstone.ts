import { dirname, join, relative } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { crashPoint } from '../storage/crash-point.js';
import { makeFolder, publish, syncFile } from '../storage/durable.js';
import { type EngineOptions, withEngine } from '../storage/engine.js';
import { sql } from '../storage/sql.js';
import { tableFile } from '../warehouse/layout.js';
import { parquetFormat } from '../warehouse/stage.js';
import type { Kept } from './checkpoint.js';
import type { PlannedFile } from './plan.js';

export interface TombstoneInput {
  warehouse: string;
  websiteId: string;
  /** At least one. */
  files: readonly PlannedFile[];
  /** The state that stands for them. */
  kept: Kept;
  /** Milliseconds since 1970, and the calendar date of that in the warehouse's time zone. */
  now: number;
  date: string;
  /** Such as `thinned to monthly before 2025-01-10`. */
  reason: string;
  compression: 'zstd' | 'snappy' | 'gzip';
  engine: EngineOptions;
}

/** Puts files of a website out of use, all at once: from the moment that this is renamed into place, nobody reads them. */
export async function writeTombstone(input: TombstoneInput): Promise<void> {
  const { warehouse, websiteId, date, now, engine: options } = input;
  const id = uuidv7({ msecs: now });
  const made = join(options.temporary, 'tombstone.made');
  await withEngine(options, (engine) =>
    engine.run(`copy (${sql('maintain/tombstones')}) to $file (${parquetFormat(input.compression)})`, {
      file: made,
      tombstone_id: id,
      website_id: websiteId,
      tombstoned_at: new Date(now).toISOString(),
      reason: input.reason,
      checkpoint_id: input.kept.id,
      checkpoint_sha256: input.kept.sha256,
      ...listsOf(warehouse, input.files),
    }),
  );
  await syncFile(made);
  const file = tableFile(warehouse, 'tombstones', { websiteId, date, id });
  await makeFolder(dirname(file));
  await publish(made, file);
  crashPoint('wrote the tombstone');
}

function listsOf(warehouse: string, files: readonly PlannedFile[]): Record<string, string[]> {
  return {
    table_names: files.map(({ table }) => table),
    commit_ids: files.map(({ marker }) => marker.commitId),
    snapshot_ids: files.map(({ marker }) => marker.snapshotId),
    snapshot_ats: files.map(({ marker }) => marker.snapshotAt),
    snapshot_dates: files.map(({ marker }) => marker.date),
    rows: files.map(({ rows }) => String(rows)),
    sums: files.map(({ marker, table }) => marker.files[table]?.sha256 ?? ''),
    paths: files.map(({ file }) => relative(warehouse, file)),
  };
}
