import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { counted } from '../../../base/observe/format.js';
import { exists, publishFile, sha256Of } from '../../../base/storage/durable.js';
import type { Engine } from '../../../base/storage/engine.js';
import { whyNotFile } from '../../../base/storage/only-files.js';
import { PARQUET_FORMAT, rowsIn } from '../../../base/storage/parquet-file.js';
import { literal } from '../../../base/storage/sql.js';
import { type Held, heldWithoutFile } from '../../copies/duckdb-check.js';
import type { Follower } from '../../copies/follower.js';
import { listTableFiles, tableFile, warehouseFolder } from '../../log/folder/layout.js';
import { copyRows } from '../../log/folder/sums.js';
import { DATA_TABLES, ROW_FILES, type Table, typedColumns } from '../../log/folder/tables.js';
import type { Log } from '../../log/log.js';
import { fileOf, type Marker, markersFrom, markersOf, newestMarkers, withoutDropped } from '../../log/markers.js';
import { CheckpointError, checkpointFile, stateBase } from '../../log/state.js';
import { earlierThan, hasIndex, INDEXED_TABLES, makeRoom, readIndex } from '../../log/update-index.js';
import { damaged, type Finding, type Repairable } from './finding.js';

/**
 * Checks every file of every commit against its marker: it exists, and its SHA-256 and number of rows match.
 *
 * @returns among others the commits whose files are all there and intact: only their rows can be checked
 */
export async function checkFiles(engine: Engine, warehouse: string, markers: readonly Marker[]) {
  const whole: Marker[] = [];
  const findings: Finding[] = [];
  const checked = { whole, files: 0, rows: 0, findings };
  for (const marker of markers) {
    const before = checked.findings.length;
    for (const table of DATA_TABLES) {
      const expected = marker.files[table];
      if (!expected) continue;
      checked.files++;
      checked.rows += expected.rows;
      const wrong = await whatIsWrong(engine, fileOf(warehouse, marker, table), expected);
      if (wrong) checked.findings.push(damaged(wrong));
    }
    if (checked.findings.length === before) checked.whole.push(marker);
  }
  return checked;
}

async function whatIsWrong(
  engine: Engine,
  file: string,
  expected: { rows: number; sha256: string },
): Promise<string | null> {
  const otherwise = (await exists(file)) ? whyNotFile(file) : 'is missing';
  if (otherwise !== null) return `${file} ${otherwise}`;
  if ((await sha256Of(file)) !== expected.sha256) return `${file} was changed after its commit: its SHA-256 differs`;
  const rows = await rowsIn(engine, file);
  return rows === expected.rows ? null : `${file} has ${counted(rows, 'row')}, its marker says ${expected.rows}`;
}

const tableSum = z.object({ rows: z.string(), hash: z.string().nullable() });

/** Whether the index of old markers, if there is one, matches their files. */
export async function isIndexRight(engine: Engine, log: Log): Promise<boolean> {
  if (!(await hasIndex(log.path))) return true;
  const index = await readIndex(log.path);
  if (index === null) return false;
  const agree = async (table: Table, files: string[], indexed: string[]) => {
    const sums = [files, indexed].map((some) =>
      engine.rows(
        tableSum,
        `select count(*)::varchar as rows, bit_xor(hash(one))::varchar as hash from (${log.query(table, some)}) as one`,
      ),
    );
    const [expected, found] = await Promise.all(sums);
    return isDeepStrictEqual(expected, found);
  };
  for (const table of INDEXED_TABLES) {
    const files = earlierThan(await listTableFiles(log.path, table), index.before);
    if (!(await agree(table, files, [index.files[table]]))) return false;
  }
  return true;
}

/**
 * Checks that each website whose older files are out of use has the checkpoint that replaces them, and that each
 * checkpoint named by a tombstone is unchanged. An older checkpoint may be gone once there is a newer one.
 */
export async function checkCheckpoints({ path, markers, tombstones }: Log): Promise<Finding[]> {
  const findings: Finding[] = [];
  const sums = new Map(tombstones.map(({ checkpoint_id, checkpoint_sha256 }) => [checkpoint_id, checkpoint_sha256]));
  for (const marker of markers) {
    const expected = sums.get(marker.snapshotId);
    const file = checkpointFile(path, marker);
    if (expected === undefined || !(await exists(file)) || (await sha256Of(file)) === expected) continue;
    findings.push(damaged(`the checkpoint ${file} was changed: its SHA-256 differs`));
  }
  for (const { websiteId } of newestMarkers(markers)) {
    try {
      await stateBase(path, markersOf(markers, websiteId));
    } catch (error) {
      if (!(error instanceof CheckpointError)) throw error;
      findings.push(damaged(error.message));
    }
  }
  return findings;
}

/** A row of the log that only a copy of it still has. `id` is that of its commit, run or note. */
interface Lost extends Repairable {
  id: string;
}

/**
 * Finds commits, runs and notes whose file is gone, although a copy of the log still has them. Rows of
 * `indexhouse.duckdb` can be written again; that of a commit only if its data is whole.
 *
 * @param temporary a folder of the file system of the warehouse, if they are to be repaired
 */
export async function findLost(
  engine: Engine,
  log: Log,
  { followers, temporary }: { followers: readonly Follower[]; temporary: string },
): Promise<Lost[]> {
  const found = new Map<string, Lost>();
  const { database } = warehouseFolder(log.path);
  const attach = `attach ${literal(database)} as copy (read_only)`;
  // The comparison says why it cannot be opened.
  const isFile = (await exists(database)) && whyNotFile(database) === null;
  if (isFile && (await engine.run(attach).catch(() => null))) {
    const { lost } = await heldWithoutFile(engine, log, 'copy.').catch(() => ({ lost: [] }));
    for (const held of lost) found.set(held.id, await lostRow(engine, log, held, temporary));
    await engine.run('detach copy');
  }
  for (const follower of followers) {
    for (const one of (await follower.lost?.(log)) ?? []) {
      if (!found.has(one.id)) found.set(one.id, { check: 'lost', ...one });
    }
  }
  return [...found.values()];
}

async function lostRow(engine: Engine, log: Log, held: Held, temporary: string): Promise<Lost> {
  const { table, websiteId, id, date } = held;
  const file = tableFile(log.path, table, held);
  const message = `${file} is missing, but indexhouse.duckdb has its row`;
  const from = `copy.${table} where website_id = ${literal(websiteId)} and ${ROW_FILES[table].id} = ${literal(id)}`;
  const damage = table === 'snapshots' ? await damageOf(engine, log, from) : null;
  const lost = { check: 'lost', level: 'difference', id, message } as const;
  if (damage) return { ...lost, remedy: `restore it from a backup, and what else is gone of its commit: ${damage}` };
  const made = join(temporary, `${id}.lost`);
  const row = `select ${typedColumns(table, undefined, 'VARCHAR')} from ${from}`;
  await copyRows(engine, row, { file: made, format: PARQUET_FORMAT });
  const repair = async () => {
    await makeRoom(log.path, date);
    await publishFile(made, file, log.path);
    return `wrote ${file} again from indexhouse.duckdb`;
  };
  return { ...lost, remedy: '`indexhouse verify --repair` writes it again', repair };
}

/** What is wrong with the files that the marker of a commit names; null if all are there as they were committed. */
async function damageOf(engine: Engine, { path, tombstones }: Log, from: string): Promise<string | null> {
  const markers = withoutDropped(await markersFrom(engine, path, from), tombstones);
  return (await checkFiles(engine, path, markers)).findings[0]?.message ?? null;
}
