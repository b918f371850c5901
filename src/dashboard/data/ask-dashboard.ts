import type { z } from 'zod';
import type { Reader } from '../../analysis/reader.js';
import type { Parameters } from '../../storage/engine.js';
import { sql } from '../../storage/sql.js';

/** Asks a statement of `sql/dashboard`, and checks each row. */
export function askDashboard<T>(
  reader: Reader,
  name: string,
  schema: z.ZodType<T>,
  parameters: Parameters,
): Promise<T[]> {
  reader.nextTurn();
  return reader.engine.rows(schema, sql(`dashboard/${name}`), parameters);
}
