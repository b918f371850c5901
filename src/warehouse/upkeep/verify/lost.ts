import { join } from 'node:path';
import { exists, publishFile } from '../../../base/storage/durable.js';
import type { Engine } from '../../../base/storage/engine.js';
import { PARQUET_FORMAT } from '../../../base/storage/parquet-file.js';
import { literal } from '../../../base/storage/sql.js';
import { type Held, heldWithoutFile, LOG_ROWS } from '../../copies/duckdb-check.js';
import type { Follower } from '../../copies/follower.js';
import { tableFile, warehouseFolder } from '../../log/folder/layout.js';
import { copyRows } from '../../log/folder/sums.js';
import { storedColumns } from '../../log/folder/tables.js';
import type { Log } from '../../log/log.js';
import { isIndexedTable, makeRoom, readIndex } from '../../log/marker-index.js';
import { markersFrom, withoutDropped } from '../../log/markers.js';
import { checkFiles } from './files.js';
import type { Repairable } from './finding.js';

/** A row of the log that only a copy of it still has. `id` is that of its commit, run or note. */
export interface Lost extends Repairable {
  id: string;
}

/** Something that has rows of the log. */
interface Copy {
  title: string;
  /** What a query reads the rows of a table from; null if it has none. */
  from(table: Held['table']): string | null;
}

/**
 * Finds commits, runs and notes whose file is gone, although a copy of the log still has them. Their rows can be written
 * again from `indexhouse.duckdb` and the index; that of a commit only if its data is whole.
 *
 * @param temporary a folder of the file system of the warehouse, if they are to be repaired
 */
export async function findLost(
  engine: Engine,
  log: Log,
  { followers, temporary }: { followers: readonly Follower[]; temporary: string },
): Promise<Lost[]> {
  const found = new Map<string, Lost>();
  for (const copy of [await duckdbCopy(engine, log), await indexCopy(log)]) {
    for (const held of (await heldWithoutFile(engine, log, copy.from)).lost) {
      if (!found.has(held.id)) found.set(held.id, await lostRow(engine, log, { copy, held, temporary }));
    }
  }
  await engine.run('detach database if exists copy');
  for (const follower of followers) {
    for (const { id, ...difference } of (await follower.lost?.(log)) ?? []) {
      if (!found.has(id)) found.set(id, { check: 'lost', id, ...difference });
    }
  }
  return [...found.values()];
}

/** A file that cannot be read has nothing to give: the comparison says why. */
async function duckdbCopy(engine: Engine, { path }: Log): Promise<Copy> {
  const { database } = warehouseFolder(path);
  const isThere = await exists(database);
  const attach = () => engine.run(`attach ${literal(database)} as copy (read_only)`);
  const isOpen =
    isThere &&
    (await attach()
      .then(() => engine.run('from copy.snapshots limit 0'))
      .then(
        () => true,
        () => false,
      ));
  return { title: 'indexhouse.duckdb', from: (table) => (isOpen ? `copy.${table}` : null) };
}

async function indexCopy(log: Log): Promise<Copy> {
  const index = await readIndex(log.path);
  const from = (table: Held['table']) =>
    index && isIndexedTable(table) ? `(${log.query(table, [index.files[table]])})` : null;
  return { title: 'the index of old markers', from };
}

async function lostRow(
  engine: Engine,
  log: Log,
  { copy, held, temporary }: { copy: Copy; held: Held; temporary: string },
): Promise<Lost> {
  const { table, websiteId, id, date } = held;
  const from = copy.from(table) ?? '';
  const file = tableFile(log.path, table, held);
  const lost = {
    check: 'lost',
    level: 'difference',
    id,
    message: `${file} is missing, but ${copy.title} has its row`,
  } as const;
  const where = `website_id = ${literal(websiteId)} and ${LOG_ROWS[table].id} = ${literal(id)}`;
  const damage = table === 'snapshots' ? await damageOf(engine, log, `${from} where ${where}`) : null;
  if (damage) return { ...lost, remedy: `restore it from a backup, and what else is gone of its commit: ${damage}` };
  const made = join(temporary, `${id}.lost`);
  await copyRows(engine, `select ${storedColumns(table)} from ${from} where ${where}`, {
    file: made,
    format: PARQUET_FORMAT,
  });
  const repair = async () => {
    if (copy.title === 'indexhouse.duckdb') await makeRoom(log.path, date);
    await publishFile(made, file, log.path);
    return `wrote ${file} again, which ${copy.title} still had`;
  };
  return { ...lost, remedy: '`indexhouse verify --repair` writes it again', repair };
}

/** What is wrong with the files that the marker of a commit names; null if all are there as they were committed. */
async function damageOf(engine: Engine, { path, tombstones }: Log, from: string): Promise<string | null> {
  const dropped = new Set(tombstones.map(({ table_name, snapshot_id }) => `${table_name} ${snapshot_id}`));
  const markers = withoutDropped(await markersFrom(engine, path, from), dropped);
  return (await checkFiles(engine, path, markers)).findings[0]?.message ?? null;
}
