import { z } from 'zod';
import { rowsSchema } from './rows.js';

/** The request to the process that runs a client's SQL. */
export const sqlRequest = z.object({
  warehouse: z.string(),
  /** Ids; null: all. */
  websites: z.array(z.string()).readonly().nullable(),
  /** Bytes: for DuckDB, for its spill files, and for the whole process, which ends itself above that. */
  memoryLimit: z.number(),
  spillLimit: z.number(),
  processLimit: z.number(),
  sql: z.string(),
  limit: z.int(),
  offset: z.int(),
  /** Time limit for counting all rows, in milliseconds. */
  countMs: z.number(),
});
export type SqlRequest = z.infer<typeof sqlRequest>;

/** Its answer; `refused` is reported to the client, `failed` only to the log. */
export const sqlAnswer = z.union([
  z.object({ rows: rowsSchema }),
  z.object({ refused: z.string() }),
  z.object({ failed: z.string() }),
]);
export type SqlAnswer = z.infer<typeof sqlAnswer>;
