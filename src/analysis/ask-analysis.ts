import type { Value } from '../storage/values.js';
import { type Analysis, findAnalysis } from './catalog.js';
import { checkPeriod, valuesOf } from './parameters.js';
import { ask, type Question } from './question.js';
import type { Reader } from './reader.js';
import { checkWebsite } from './websites.js';

/** Asks a ready-made analysis and reads its whole answer. For answers that are small by their grain. */
export async function askAnalysis(
  reader: Reader,
  name: string,
  given: Readonly<Record<string, string>> = {},
): Promise<{ columns: string[]; rows: Value[][] }> {
  const question = await questionOf(reader, findAnalysis(name), new Map(Object.entries(given)));
  const { columns, parts } = await ask(reader, question);
  const rows: Value[][] = [];
  for await (const part of parts) rows.push(...part);
  return { columns, rows };
}

/**
 * An analysis with its parameters, as a question to this warehouse.
 *
 * @throws QuestionError for parameters that are wrong, a website that the warehouse does not have among them
 */
export async function questionOf(
  reader: Reader,
  analysis: Analysis,
  given: ReadonlyMap<string, string>,
): Promise<Question> {
  const { name, sql } = analysis;
  const parameters = valuesOf(analysis, given, reader.today);
  // Without `until` nothing is wrong: there may be no snapshot since. Nor is it where defaults count from no snapshot.
  if (given.has('until') && (given.has('since') || reader.markers.length > 0)) checkPeriod(analysis, parameters);
  const website = parameters['website'];
  if (typeof website === 'string') await checkWebsite(reader, name, website);
  return { name, sql, parameters };
}
