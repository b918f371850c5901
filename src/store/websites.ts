import { z } from 'zod';
import type { Reader } from '../analysis/reader.js';
import { sql } from '../storage/sql.js';

export interface ServedWebsite {
  id: string;
  /** As the configuration called it when its newest snapshot was made; else its id. */
  name: string;
}

const websiteRow = z.object({ id: z.string(), name: z.string() });

/** The websites that have a snapshot, by their ids. */
export async function websitesOf(reader: Reader): Promise<ServedWebsite[]> {
  return reader.engine.rows(websiteRow, sql('serve/websites'));
}
