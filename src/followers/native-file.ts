import { rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../exit.js';
import { exists, publish, syncFile } from '../storage/durable.js';
import { type Engine, type EngineOptions, withEngine } from '../storage/engine.js';
import { lockHolder, probeLock } from '../storage/locks.js';
import { warehouseFolder } from '../warehouse/layout.js';
import { lackingIn, type Marker } from '../warehouse/markers.js';
import type { OpenWarehouse } from '../warehouse/open.js';
import { isThinned, TABLES, type Table, THINNED_TABLES } from '../warehouse/tables.js';
import { type FollowerLag, removedIn } from './follower.js';

const retentionRow = z.object({ retained_from: z.string().nullable(), deleted_rows: z.coerce.number() });

/** A native DuckDB file's record of the rows that were dropped from it. */
export interface Retention {
  /** `YYYY-MM-DD`: rows of `coverage` and `url_reports` of earlier snapshots were dropped; null: none were. */
  retainedFrom: string | null;
  /** Rows deleted since the file was created; a copy would be smaller by these. */
  deletedRows: number;
}

/** Creates this record: a table of one row that exists only in a native file. */
export const RETENTION = [
  'create table retention (retained_from date, deleted_rows bigint not null)',
  'insert into retention values (null, 0)',
];

/** Reads the record of dropped rows; `prefix`: the name that the file is attached by, with a dot. */
export async function readRetention(engine: Engine, prefix = ''): Promise<Retention> {
  const query = `select retained_from::varchar as retained_from, deleted_rows from ${prefix}retention`;
  const [row] = await engine.rows(retentionRow, query);
  return { retainedFrom: row?.retained_from ?? null, deletedRows: row?.deleted_rows ?? 0 };
}

/** All rows of replays are kept: the view `quarantine` needs them to know what was replayed. */
export const OLD_ROWS = 'snapshot_date < $before::date and commit_id = snapshot_id';

/** Whether the rows of a commit that is not in the file yet would be dropped. */
export function isDropped(marker: Marker, table: Table, retainedFrom: string | null): boolean {
  return isThinned(table) && retainedFrom !== null && marker.kind === 'snapshot' && marker.date < retainedFrom;
}

/**
 * Drops the rows of earlier snapshots and records it, in the caller's transaction.
 *
 * @param before a date; with null, or one earlier than that of the record, nothing changes
 * @returns the date that the file holds rows from, or null
 */
export async function dropOldRows(engine: Engine, before: string | null): Promise<string | null> {
  const { retainedFrom } = await readRetention(engine);
  if (before === null || (retainedFrom !== null && retainedFrom >= before)) return retainedFrom;
  for (const table of THINNED_TABLES) {
    const { rowsChanged } = await engine.run(`delete from ${table} where ${OLD_ROWS}`, { before });
    await countDeleted(engine, rowsChanged);
  }
  await engine.run('update retention set retained_from = $before::date', { before });
  return before;
}

/** Drops what was removed and the rows of files that got a tombstone since, in the caller's transaction. */
export async function takeTombstones(engine: Engine, log: OpenWarehouse): Promise<void> {
  for (const website of await removedInFile(engine, log)) await dropWebsite(engine, website);
  if (log.tombstoneFiles.length === 0) return;
  await engine.run(
    `create or replace temp table new_tombstones as
     select * from (${log.query('tombstones', log.tombstoneFiles)}) anti join tombstones using (tombstone_id)`,
  );
  for (const table of THINNED_TABLES) {
    const { rowsChanged } = await engine.run(
      `delete from ${table} where commit_id in (select commit_id from new_tombstones where table_name = $table)`,
      { table },
    );
    await countDeleted(engine, rowsChanged);
  }
  await engine.run('insert into tombstones by name select * from new_tombstones');
  await engine.run('drop table new_tombstones');
}

const heldRun = z.object({ websiteId: z.string(), id: z.string() });

/** Websites of which a file holds what the log no longer has; by runs, because a marker may only be lost. */
export async function removedInFile(engine: Engine, log: OpenWarehouse, prefix = ''): Promise<ReadonlySet<string>> {
  const held = ['runs', 'snapshots'].map(
    (table) => `select website_id as "websiteId", run_id as id from ${prefix}${table}`,
  );
  return removedIn(log, await engine.rows(heldRun, held.join(' union ')));
}

/** All of its commits are inserted again. */
async function dropWebsite(engine: Engine, website: string): Promise<void> {
  for (const table of TABLES) {
    const { rowsChanged } = await engine.run(`delete from ${table} where website_id = $website`, { website });
    await countDeleted(engine, rowsChanged);
  }
}

async function countDeleted(engine: Engine, rows: number): Promise<void> {
  if (rows > 0) await engine.run(`update retention set deleted_rows = deleted_rows + ${Math.trunc(rows)}`);
}

/** The ids of the commits, snapshots and replays, that a native DuckDB file holds; `prefix` as for `readRetention`. */
export async function knownCommits(engine: Engine, prefix = ''): Promise<Set<string>> {
  const query = `select snapshot_id as id from ${prefix}snapshots union all select replay_id from ${prefix}replays`;
  const rows = await engine.rows(z.object({ id: z.string() }), query);
  return new Set(rows.map(({ id }) => id));
}

/**
 * How far `indexhouse.duckdb` is, without writing to it or waiting for a process that has it open.
 *
 * @param engine with a temporary folder outside the warehouse, if nothing may be written into it
 */
export async function duckdbLag(
  { path, markers, damaged }: Pick<OpenWarehouse, 'path' | 'markers' | 'damaged'>,
  engine: EngineOptions,
  file = warehouseFolder(path).database,
): Promise<FollowerLag> {
  const lag = { name: 'duckdb', exact: true, held: null, error: null };
  if (!(await exists(file))) return { ...lag, behind: markers.length };
  const held = await probeLock(file);
  if (held?.access === 'write') return { ...lag, behind: await newerThan(file, markers), exact: false, held };
  try {
    const known = await withEngine({ ...engine, file, readOnly: true }, (opened) => knownCommits(opened));
    const there = new Set([...markers, ...damaged].map((one) => basename(one.path, '.parquet')));
    const removed = [...known].filter((id) => !there.has(id)).length;
    return { ...lag, behind: lackingIn(known, markers).length + removed, held };
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
