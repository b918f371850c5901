import { z } from 'zod';
import type { Engine } from '../storage/engine.js';
import { readReadable } from './damage.js';
import { listTableFiles } from './layout.js';
import { tableQuery } from './prepare.js';

const tombstoneRow = z.object({
  tombstone_id: z.string(),
  website_id: z.string(),
  tombstoned_at: z.string(),
  table_name: z.string(),
  commit_id: z.string(),
  snapshot_date: z.string(),
  rows: z.int(),
  checkpoint_id: z.string(),
  checkpoint_sha256: z.string(),
});

/** A file of the log that was put out of use, for good: whoever reads leaves it out, whether it is deleted or not yet. */
export interface Tombstone {
  /** All files that one run of `maintain` put out of use for a website share it. */
  tombstoneId: string;
  websiteId: string;
  /** ISO 8601. */
  tombstonedAt: string;
  table: string;
  commitId: string;
  /** The date of the commit. */
  date: string;
  rows: number;
  /** The commit whose state was kept before, because it can no longer be made from the log; and the file's SHA-256. */
  checkpointId: string;
  checkpointSha256: string;
}

/**
 * Reads all tombstones that can be read, oldest first, and says which files cannot.
 *
 * @param schemas the folder whose empty files give each table its columns
 */
export async function readTombstones(engine: Engine, warehouse: string, schemas: string) {
  const files = await listTableFiles(warehouse, 'tombstones');
  return readReadable(engine, 'tombstones', files, (readable) => readFiles(engine, schemas, readable));
}

async function readFiles(engine: Engine, schemas: string, paths: readonly string[]): Promise<Tombstone[]> {
  if (paths.length === 0) return [];
  const rows = await engine.rows(
    tombstoneRow,
    `select tombstone_id, website_id, strftime(tombstoned_at, '%Y-%m-%dT%H:%M:%S.%gZ') as tombstoned_at, table_name,
       commit_id, snapshot_date::varchar as snapshot_date, rows, checkpoint_id, checkpoint_sha256
     from (${tableQuery(schemas, 'tombstones', paths)})
     order by tombstone_id, table_name, commit_id`,
  );
  return rows.map((row) => ({
    tombstoneId: row.tombstone_id,
    websiteId: row.website_id,
    tombstonedAt: row.tombstoned_at,
    table: row.table_name,
    commitId: row.commit_id,
    date: row.snapshot_date,
    rows: row.rows,
    checkpointId: row.checkpoint_id,
    checkpointSha256: row.checkpoint_sha256,
  }));
}
