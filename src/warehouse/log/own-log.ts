import { join } from 'node:path';
import type { Engine } from '../../base/storage/engine.js';
import { encodeId } from '../../base/storage/names.js';
import { literal } from '../../base/storage/sql.js';
import { listTableFiles } from './folder/layout.js';
import { TABLES } from './folder/tables.js';
import { type ListedLog, listLog } from './log.js';
import { type MarkerIndex, readIndex } from './marker-index.js';

/**
 * Lists the log of some websites only. Their rows of the index are copied into separate files, so that no file that is
 * read later holds rows of other websites.
 */
export async function listOwnLog(
  engine: Engine,
  { path, temporary }: { path: string; temporary: string },
  websites: readonly string[],
): Promise<{ runs: string[]; listed: ListedLog }> {
  const whole = await readIndex(path);
  const index = whole && (await ownIndex(engine, whole, websites, temporary));
  const runs: string[] = [];
  const listed: ListedLog = { snapshots: [], tombstones: [], note_log: [], index };
  for (const websiteId of websites) {
    // Before the markers, so that every run's snapshot is among them.
    runs.push(...(await listTableFiles(path, 'runs', { websiteId, from: index?.before })));
    const own = await listLog(path, { websiteId, index });
    for (const table of ['snapshots', 'tombstones', 'note_log'] as const) listed[table].push(...own[table]);
  }
  return { runs, listed };
}

async function ownIndex(
  engine: Engine,
  { before, files }: MarkerIndex,
  websites: readonly string[],
  temporary: string,
): Promise<MarkerIndex> {
  const copy = async (table: keyof MarkerIndex['files']) => {
    const file = join(temporary, `own-${table}.parquet`);
    const list = websites.map(literal).join(', ') || 'null';
    const all = `from read_parquet(${literal(files[table])}, hive_partitioning = false)`;
    await engine.copy(`${all} where website_id in (${list})`, file, 'format parquet');
    return file;
  };
  return { before, files: { snapshots: await copy('snapshots'), runs: await copy('runs') } };
}

/** The folders that hold all websites of a warehouse, or only the given ones. */
export function readableFolders(warehouse: string, websites: readonly string[] | undefined): string[] {
  if (!websites) return ['parquet', 'state', 'schema', 'index'].map((name) => join(warehouse, name));
  const tables = [...TABLES, 'checkpoints'].map((table) => join(warehouse, 'parquet', table));
  const folders = websites.map((id) => `website=${encodeId(id)}`);
  return [
    join(warehouse, 'schema'),
    ...[...tables, join(warehouse, 'state')].flatMap((parent) => folders.map((name) => join(parent, name))),
  ];
}
