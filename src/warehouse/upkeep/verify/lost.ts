import { join } from 'node:path';
import { exists, publishFile } from '../../../base/storage/durable.js';
import type { Engine } from '../../../base/storage/engine.js';
import { whyNotFile } from '../../../base/storage/only-files.js';
import { PARQUET_FORMAT } from '../../../base/storage/parquet-file.js';
import { literal } from '../../../base/storage/sql.js';
import { type Held, heldWithoutFile } from '../../copies/duckdb-check.js';
import type { Follower } from '../../copies/follower.js';
import { tableFile, warehouseFolder } from '../../log/folder/layout.js';
import { copyRows } from '../../log/folder/sums.js';
import { ROW_FILES, typedColumns } from '../../log/folder/tables.js';
import type { Log } from '../../log/log.js';
import { makeRoom } from '../../log/marker-index.js';
import { markersFrom, withoutDropped } from '../../log/markers.js';
import { checkFiles } from './files.js';
import type { Repairable } from './finding.js';

/** A row of the log that only a copy of it still has. `id` is that of its commit, run or note. */
export interface Lost extends Repairable {
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
