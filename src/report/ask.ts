import { z } from 'zod';
import { askAnalysis } from '../analysis/ask-analysis.js';
import type { Reader } from '../analysis/reader.js';

/** Asks a ready-made analysis of one website or of all (null), and checks each row. */
export async function askOf<T extends { website_id: string }>(
  reader: Reader,
  name: string,
  schema: z.ZodType<T>,
  website: string | null,
  given: Readonly<Record<string, string>> = {},
): Promise<T[]> {
  const answer = await askAnalysis(reader, name, { ...given, ...(website === null ? {} : { website }) });
  const records = answer.rows.map((row) => Object.fromEntries(answer.columns.map((column, at) => [column, row[at]])));
  // Analyses take a website's name too, which may be another one's id.
  return z
    .array(schema)
    .parse(records)
    .filter(({ website_id }) => website === null || website_id === website);
}
