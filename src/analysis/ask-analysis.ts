import { findAnalysis } from './catalog.js';
import { valuesOf } from './parameters.js';
import { ask } from './question.js';
import type { Reader } from './reader.js';
import type { Value } from './values.js';

/** Asks a ready-made analysis and reads its whole answer. For answers that are small by their grain. */
export async function askAnalysis(
  reader: Reader,
  name: string,
  given: Readonly<Record<string, string>> = {},
): Promise<{ columns: string[]; rows: Value[][] }> {
  const analysis = findAnalysis(name);
  const parameters = valuesOf(analysis, new Map(Object.entries(given)), reader.today);
  const { columns, parts } = await ask(reader, { name, sql: analysis.sql, parameters });
  const rows: Value[][] = [];
  for await (const part of parts) rows.push(...part);
  return { columns, rows };
}
