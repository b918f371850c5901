import { join } from 'node:path';
import { z } from 'zod';
import { exists } from '../storage/durable.js';
import type { Engine, EngineOptions } from '../storage/engine.js';
import { whyNotParquet } from '../storage/parquet-file.js';
import { identifier } from '../storage/sql.js';
import { firstLine } from '../warehouse/damage.js';
import { markersOf, newestMarkers, stateFileOf } from '../warehouse/markers.js';
import type { OpenWarehouse } from '../warehouse/open.js';
import { rebuildState } from '../warehouse/state.js';

/** A website whose state is not what its log gives. */
export interface WrongState {
  websiteId: string;
  file: string;
  /** `missing`: derived, so the next sync makes it anew. */
  kind: 'missing' | 'different';
  message: string;
}

/** Replays the log of each website and compares what it gives with the state that lies there. */
export async function checkStates(engine: Engine, log: OpenWarehouse, options: EngineOptions): Promise<WrongState[]> {
  const { path: warehouse, markers } = log;
  const wrong: WrongState[] = [];
  for (const newest of newestMarkers(markers)) {
    const { websiteId } = newest;
    const file = stateFileOf(warehouse, newest);
    if (!(await exists(file))) {
      wrong.push({ websiteId, file, kind: 'missing', message: `${file} is missing` });
      continue;
    }
    const rebuilt = join(options.temporary, 'state.rebuilt');
    await rebuildState(warehouse, markersOf(markers, websiteId), options, rebuilt);
    const torn = await whyNotParquet(file);
    const differs = torn ? `it ${torn}` : await stateDiffers(engine, log, file, rebuilt);
    if (differs)
      wrong.push({ websiteId, file, kind: 'different', message: `${file} differs from the log: ${differs}` });
  }
  return wrong;
}

/** A file that cannot be read differs too. */
async function stateDiffers(engine: Engine, log: OpenWarehouse, file: string, rebuilt: string): Promise<string | null> {
  try {
    await engine.view('state_rebuilt', log.query('page_state', [rebuilt]));
    await engine.view('state_now', log.query('page_state', [file]));
    return await rowsDiffer(engine, await columnsOf(engine, 'state_now'), 'state_rebuilt', 'state_now');
  } catch (error) {
    return firstLine(error);
  }
}

const fingerprintRow = z.object({ rows: z.string(), fingerprint: z.string().nullable() });

/**
 * Whether two relations of one engine hold the same rows, in any order. Both sides are hashed now, by the same DuckDB:
 * a hash is no value to store, it may change between versions.
 *
 * @returns null, or what differs
 */
export async function rowsDiffer(engine: Engine, columns: string[], a: string, b: string): Promise<string | null> {
  const [first, second] = [await fingerprint(engine, columns, a), await fingerprint(engine, columns, b)];
  if (first.rows !== second.rows) return `${second.rows} rows instead of ${first.rows}`;
  return first.fingerprint === second.fingerprint ? null : `${first.rows} rows on both sides, with different content`;
}

async function fingerprint(engine: Engine, columns: string[], from: string) {
  const list = columns.map(identifier).join(', ');
  const [row] = await engine.rows(
    fingerprintRow,
    `select count(*)::varchar as rows,
       concat_ws('-', bit_xor(hash(${list})), sum(hash(${list})::hugeint)) as fingerprint
     from ${from}`,
  );
  return row ?? { rows: '0', fingerprint: null };
}

/** The names of a relation's columns, in order. */
export async function columnsOf(engine: Engine, relation: string): Promise<string[]> {
  const rows = await engine.rows(z.object({ column_name: z.string() }), `describe ${relation}`);
  return rows.map(({ column_name }) => column_name);
}
