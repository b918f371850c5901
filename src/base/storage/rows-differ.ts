import { z } from 'zod';
import { counted } from '../observe/format.js';
import type { Engine } from './engine.js';
import { identifier } from './sql.js';

const fingerprintRow = z.object({ rows: z.string(), fingerprint: z.string().nullable() });

/**
 * Whether two relations of one engine hold the same rows in the columns of the second, in any order. Both sides are
 * hashed now, by the same DuckDB: a hash is no value to store, it may change between versions.
 *
 * @returns null, or what differs
 */
export async function rowsDiffer(engine: Engine, a: string, b: string): Promise<string | null> {
  const described = await engine.rows(z.object({ column_name: z.string() }), `describe ${b}`);
  const columns = described.map(({ column_name }) => column_name);
  const [first, second] = [await fingerprint(engine, columns, a), await fingerprint(engine, columns, b)];
  if (first.rows !== second.rows) return `${counted(Number(second.rows), 'row')} instead of ${first.rows}`;
  return first.fingerprint === second.fingerprint
    ? null
    : `${counted(Number(first.rows), 'row')} on both sides, with different content`;
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
