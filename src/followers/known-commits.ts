import { z } from 'zod';
import type { Engine } from '../storage/engine.js';

/**
 * The ids of the commits that a native DuckDB file holds, of snapshots and of replays. A file that an older version
 * wrote has no table of replays yet.
 *
 * @param database the name that the file is attached by; left out: the one that the engine has open
 */
export async function knownCommits(engine: Engine, database: string | null = null): Promise<Set<string>> {
  const prefix = database === null ? '' : `${database}.`;
  const replays = (await hasTable(engine, database, 'replays'))
    ? ` union all select replay_id as id from ${prefix}replays`
    : '';
  const query = `select snapshot_id as id from ${prefix}snapshots${replays}`;
  const rows = await engine.rows(z.object({ id: z.string() }), query);
  return new Set(rows.map(({ id }) => id));
}

/** Whether a DuckDB file has a table. */
export async function hasTable(engine: Engine, database: string | null, table: string): Promise<boolean> {
  const found = await engine.rows(
    z.object({ table_name: z.string() }),
    `select table_name from duckdb_tables()
     where table_name = $table and database_name = coalesce($database, current_database())`,
    { table, database },
  );
  return found.length > 0;
}
