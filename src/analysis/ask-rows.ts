import { z } from 'zod';
import type { Parameters } from '../storage/engine.js';
import { sql } from '../storage/sql.js';
import type { Value } from '../storage/values.js';
import { type Analysis, findAnalysis } from './catalog.js';
import { QuestionError } from './errors.js';
import { checkPeriod, valuesOf } from './parameters.js';
import { ask, type Question } from './question.js';
import type { Reader } from './reader.js';

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
  const { name } = analysis;
  const parameters = valuesOf(analysis, given, reader.today);
  // Without `until` nothing is wrong: there may be no snapshot since. Nor is it where defaults count from no snapshot.
  if (given.has('until') && (given.has('since') || reader.markers.length > 0)) checkPeriod(analysis, parameters);
  const website = parameters['website'];
  if (typeof website === 'string') await checkWebsite(reader, name, website);
  return { name, sql: analysis.sql, parameters };
}

/** Asks a statement of ours, by its name such as `report/snapshots`, and checks each row. */
export async function askRows<T>(
  reader: Reader,
  name: string,
  schema: z.ZodType<T>,
  parameters: Parameters,
): Promise<T[]> {
  return askText(reader, sql(name), schema, parameters);
}

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

const countRow = z.object({ rows: z.int() });

/**
 * A window of what a statement of ours selects, and how much that is in all. The statement gives what it sorts by as
 * `ascending` or `descending`, one of them null; what is equal, or not known, comes last and is ordered by `url`.
 *
 * @param columns names of ours, so that nothing else is read; every one but what it sorts by where they are left out
 */
export async function askSelected<T>(
  reader: Reader,
  name: string,
  schema: z.ZodType<T>,
  {
    selection,
    skip,
    limit,
    columns,
  }: { selection: Parameters; skip: number; limit: number; columns?: readonly string[] },
): Promise<{ count: number; rows: T[] }> {
  const selected = `(${sql(name)}\n)`;
  const [counted] = await askText(reader, `select count(*)::integer as rows from ${selected}`, countRow, selection);
  const named = columns?.join(', ') ?? '* exclude (ascending, descending)';
  const rows = await askText(
    reader,
    `select ${named} from ${selected}
     order by ascending nulls last, descending desc nulls last, url limit $limit::bigint offset $skip::bigint`,
    schema,
    { ...selection, limit, skip },
  );
  return { count: counted?.rows ?? 0, rows };
}

async function askText<T>(reader: Reader, text: string, schema: z.ZodType<T>, parameters: Parameters): Promise<T[]> {
  reader.nextTurn();
  return reader.withStates(() => reader.engine.rows(schema, text, parameters));
}

const websiteRow = z.object({ website_id: z.string(), website_name: z.string().nullable() });
type Website = z.infer<typeof websiteRow>;

/**
 * Makes sure that there is a website of this id or name, as analyses take it.
 *
 * @throws QuestionError with the websites that there are; never where the warehouse has no snapshot yet
 */
export async function checkWebsite(reader: Reader, question: string, given: string): Promise<void> {
  const { markers } = reader;
  // The markers are in memory; names are in their files.
  if (markers.length === 0 || markers.some(({ websiteId }) => websiteId === given)) return;
  reader.nextTurn();
  const websites = await reader.engine.rows(websiteRow, sql('query/websites'));
  if (websites.some(({ website_id, website_name }) => website_id === given || website_name === given)) return;
  throw new QuestionError(`${question}: ${noWebsite(given, websites)}`);
}

/** What to say of an unknown website. */
export function noWebsite(given: string, websites: readonly Website[]): string {
  return `no website "${given}" in the warehouse. It has:\n${websiteList(websites)}`;
}

/** One line for each website. */
export function websiteList(websites: readonly Website[]): string {
  return websites.map(({ website_id, website_name }) => `  ${website_id}  ${website_name ?? ''}`.trimEnd()).join('\n');
}
