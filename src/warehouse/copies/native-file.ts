import { rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../base/exit.js';
import { exists, publish, syncFile } from '../../base/storage/durable.js';
import { type Engine, type EngineOptions, withEngine } from '../../base/storage/engine.js';
import { lockHolder, probeLock } from '../../base/storage/locks.js';
import { warehouseFolder } from '../log/folder/layout.js';
import type { Log } from '../log/log.js';
import { lackingIn, type Marker } from '../log/markers.js';
import { type FollowerLag, removedIn } from './follower.js';

const countRow = z.object({ rows: z.coerce.number() });
const heldRun = z.object({ websiteId: z.string(), id: z.string() });

/**
 * Whether a file holds what the log no longer has: of files that retention put out of use, or of websites from which
 * `indexhouse remove` took something. Then it is rebuilt. `prefix`: the name that it is attached by, with a dot.
 */
export async function isOutdated(engine: Engine, log: Log, prefix = ''): Promise<boolean> {
  // By runs, because a marker may only be lost; by its marker if a take-over kept the run's row from the bucket.
  const held = `select website_id as "websiteId", run_id as id from ${prefix}runs union
    select website_id, snapshot_id from ${prefix}snapshots anti join ${prefix}runs using (run_id, website_id)`;
  if (removedIn(log, await engine.rows(heldRun, held)).size > 0) return true;
  return (await countTombstoned(engine, log, prefix)) > 0;
}

/** Of how many commits a file holds rows that a tombstone put out of use. */
async function countTombstoned(engine: Engine, log: Log, prefix = ''): Promise<number> {
  if (log.tombstoneFiles.length === 0) return 0;
  const query = `select count(distinct snapshot_id) as rows from (${lackingTombstones(log, prefix)})
    where snapshot_id in (select id from (${commitsIn(prefix)}))`;
  return (await engine.rows(countRow, query))[0]?.rows ?? 0;
}

/** The tombstones that a file has not taken over yet. */
export function lackingTombstones(log: Log, prefix = ''): string {
  const all = log.query('tombstones', log.tombstoneFiles);
  return `select * from (${all}) anti join ${prefix}tombstones using (tombstone_id)`;
}

/** The ids of the snapshots that a native DuckDB file holds; `prefix` as for `isOutdated`. */
export async function knownCommits(engine: Engine, prefix = ''): Promise<Set<string>> {
  const rows = await engine.rows(z.object({ id: z.string() }), commitsIn(prefix));
  return new Set(rows.map(({ id }) => id));
}

function commitsIn(prefix: string): string {
  return `select snapshot_id as id from ${prefix}snapshots`;
}

/**
 * How far `indexhouse.duckdb` is, without writing to it or waiting for a process that has it open.
 *
 * @param engine with a temporary folder outside the warehouse, if nothing may be written into it
 */
export async function duckdbLag(
  log: Log,
  engine: EngineOptions,
  file = warehouseFolder(log.path).database,
): Promise<FollowerLag> {
  const { markers, damaged } = log;
  const lag = { name: 'duckdb', exact: true, held: null, error: null };
  if (!(await exists(file))) return { ...lag, behind: markers.length };
  const held = await probeLock(file);
  if (held?.access === 'write') return { ...lag, behind: await newerThan(file, markers), exact: false, held };
  try {
    const [known, tombstoned] = await withEngine({ ...engine, file, readOnly: true }, async (opened) => {
      return [await knownCommits(opened), await countTombstoned(opened, log)] as const;
    });
    const there = new Set([...markers, ...damaged].map((one) => basename(one.path, '.parquet')));
    const removed = [...known].filter((id) => !there.has(id)).length;
    return { ...lag, behind: lackingIn(known, markers).length + removed + tombstoned, held };
  } catch (error) {
    // A writer has opened it since we checked.
    if (lockHolder(error)) return { ...lag, behind: await newerThan(file, markers), exact: false, held };
    return { ...lag, behind: markers.length, exact: false, held, error: messageOf(error) };
  }
}

async function newerThan(file: string, markers: readonly Marker[]): Promise<number> {
  const { mtimeMs } = await stat(file);
  const times = await Promise.all(markers.map(({ path }) => stat(path)));
  return times.filter((time) => time.mtimeMs > mtimeMs).length;
}

/** Replaces a database file by a complete new one. A reader that has the old one open keeps it. */
export async function replaceDatabase(complete: string, file: string): Promise<void> {
  await syncFile(complete);
  // The WAL of the old file would be replayed into the new one. What it holds is in the Parquet files, too.
  await rm(`${file}.wal`, { force: true });
  await publish(complete, file);
}

/** Removes a database file and its WAL. */
export async function removeDatabase(file: string): Promise<void> {
  await rm(file, { force: true });
  await rm(`${file}.wal`, { force: true });
}
