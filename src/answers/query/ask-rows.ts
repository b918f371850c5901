import { z } from 'zod';
import { type PageFilters, pageFilters } from '../../base/config/page-filters.js';
import { UsageError } from '../../base/exit.js';
import type { Parameters, Scalar } from '../../base/storage/engine.js';
import { sql } from '../../base/storage/sql.js';
import type { Value } from '../../base/storage/values.js';
import { DamageError, isOfDamage } from '../../warehouse/log/folder/damage.js';
import { type Analysis, findAnalysis } from './catalog.js';
import type { OwnColumns } from './own-pages.js';
import { checkPeriod, valuesOf } from './parameters.js';
import { ask, type Question } from './question.js';
import type { Reader } from './reader.js';

/** The pages of a selection, with the parameters of `selectionOf`. */
export const SELECTED_PAGES = 'selected_pages($filters::json, $sort::varchar)';
/** Filters that the listing of an earlier date can be asked for, too. */
const OF_ANY_LISTING: ReadonlySet<string> = new Set(['q', 'directory', 'state', 'indexed', 'canonical']);

const FILTERS = pageFilters.omit({ q: true, own: true }).keyof().options;
const pagesRow = z.object({ pages: z.int() });

/** Which pages of a website, as the macro `selected_pages` takes it. */
export function selectionOf(website: string, filters: PageFilters & { sort?: string }): Record<string, Scalar> {
  const { q, own, sort = 'url' } = filters;
  const narrowed = Object.fromEntries(FILTERS.map((name) => [name, filters[name]]));
  const asked = { website, url_contains: q, ...narrowed, own: own === undefined ? own : ownValues(own) };
  return { filters: JSON.stringify(asked), sort };
}

/** The values of a filter by the user's own columns, such as `owner=Anna&template=-`. */
function ownValues(own: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(own));
}

/** Why such a filter can select nothing, without a full stop; null if it can. */
export function wrongOwn({ columns, notes }: OwnColumns, own: string | undefined): string | null {
  if (own === undefined) return null;
  const asked = [...new URLSearchParams(own)];
  const [unknown] = asked.find(([name]) => !columns.includes(name)) ?? [];
  const isWhole = asked.length > 0 && asked.every(([, value]) => value !== '');
  if (unknown === undefined) return isWhole ? null : 'own: write column=value, or column=- for pages without one';
  const there = [...(columns.length > 0 ? [`there are ${columns.join(', ')}.`] : []), ...notes];
  const known = there.map((sentence) => sentence.slice(0, -1)).join('; ');
  return `own: there is no column "${unknown}"; ${known || 'pages_from is not configured, or not used here'}`;
}

/**
 * How many pages of a website match in its newest complete listing, and how many did in that of a date; null without one,
 * or if only the present is known of a filter.
 */
export async function countPages(reader: Reader, website: string, filters: PageFilters, listed: string | null) {
  const isKnown = Object.keys(filters).every((name) => OF_ANY_LISTING.has(name));
  const countOf = async (day: string | null) => {
    const { filters: asked } = selectionOf(website, filters);
    const given = { filters: asked ?? null, listed: day };
    const [row] = await reader.rows(pagesRow, sql('answers/query/count_pages'), given, website);
    return row?.pages ?? 0;
  };
  return { now: await countOf(null), before: listed === null || !isKnown ? null : await countOf(listed) };
}

/** Runs a built-in analysis and reads its whole answer into memory. */
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
 * @throws UsageError for wrong parameters, including a website, page or own column that there is not
 */
export async function questionOf(
  reader: Reader,
  analysis: Analysis,
  given: ReadonlyMap<string, string>,
): Promise<Question> {
  const { name } = analysis;
  const parameters = valuesOf(analysis, given, reader.today);
  // The default end is the newest snapshot's date. A period may begin after it, and then has no rows.
  if (given.has('until') && (given.has('since') || !reader.isEmpty)) checkPeriod(analysis, parameters);
  const { website, url, own } = parameters;
  if (typeof own === 'string') {
    const wrong = wrongOwn(reader.own, own);
    if (wrong !== null) throw new UsageError(`${name}: ${wrong}`);
    parameters['own'] = JSON.stringify(ownValues(own));
  }
  // Before the first snapshot, no website or page is known, so naming one is not an error.
  if (reader.isEmpty) return { name, sql: analysis.sql, parameters };
  const id = typeof website === 'string' ? await reader.websiteId(website) : null;
  if (typeof url === 'string') await checkPage(reader, name, { url, website: id });
  return {
    name,
    sql: analysis.sql,
    parameters: typeof website === 'string' ? { ...parameters, website: id } : parameters,
    website: id,
  };
}

const hasPage = z.object({ is_there: z.boolean() });
const nearPage = z.object({ url: z.string() });

/** @throws UsageError for a page that is not in the warehouse; it suggests similar pages */
async function checkPage(reader: Reader, name: string, page: { url: string; website: string | null }): Promise<void> {
  const [found] = await askRows(reader, 'answers/query/has_page', hasPage, page, page.website);
  if (found?.is_there) return;
  const near = await askRows(reader, 'answers/query/near_pages', nearPage, page, page.website);
  const list = near.map(({ url }) => `\n  ${url}`).join('');
  throw new UsageError(
    `${name}: no page ${page.url} in the warehouse. Give its whole URL, as in the listing` +
      (list === '' ? '' : `. Near it:${list}`),
  );
}

/**
 * Runs a statement of `sql/`, by its name such as `answers/report/snapshots`, and validates each row.
 *
 * @param website the id of the only website that it is about; null: it may read of all
 */
export async function askRows<T>(
  reader: Reader,
  name: string,
  schema: z.ZodType<T>,
  parameters: Parameters,
  website: string | null = websiteIn(parameters),
): Promise<T[]> {
  return reader.rows(schema, sql(name), parameters, website);
}

/** The only website that a statement of ours reads: the one that it is given. */
function websiteIn({ website }: Parameters): string | null {
  return typeof website === 'string' ? website : null;
}

/**
 * Asks about several websites at once (null) or, if files of some of them are damaged, about one after the other.
 *
 * @returns the rows, and the errors of the websites that cannot be read
 */
export async function askEach<T>(
  websites: readonly string[],
  ask: (website: string | null) => Promise<T[]>,
): Promise<{ rows: T[]; errors: Map<string, Error> }> {
  const errors = new Map<string, Error>();
  const rows = await ask(null).catch(async (error) => {
    if (!isDamaged(error)) throw error;
    const each: T[] = [];
    for (const website of websites) {
      const own = await ask(website).catch((cause) => {
        if (!isDamaged(cause)) throw cause;
        errors.set(website, cause);
        return [];
      });
      each.push(...own);
    }
    return each;
  });
  return { rows, errors };
}

function isDamaged(error: unknown): error is Error {
  return error instanceof DamageError || isOfDamage(error);
}

/** Runs a built-in analysis for one website or for all (null), and validates each row. */
export async function askOf<T>(
  reader: Reader,
  name: string,
  schema: z.ZodType<T>,
  website: string | null,
  given: Readonly<Record<string, string>> = {},
): Promise<T[]> {
  const values = { ...given, ...(website === null ? {} : { website }) };
  const question = await questionOf(reader, findAnalysis(name), new Map(Object.entries(values)));
  return reader.rows(schema, question.sql, question.parameters, question.website);
}

const countRow = z.object({ rows: z.int() });

/** How many rows a statement of `sql/` selects. */
export async function countSelected(reader: Reader, name: string, selection: Parameters): Promise<number> {
  const text = `select count(*)::integer as rows from (${sql(name)}\n)`;
  const [counted] = await reader.rows(countRow, text, selection, websiteIn(selection));
  return counted?.rows ?? 0;
}

/** A relation, such as `(select …)` or a call of a macro, with its parameters, and the columns to read. */
interface Selected {
  from: string;
  selection: Parameters;
  /** The id of the only website that it reads. */
  website: string;
  columns: readonly string[];
}

/**
 * Runs a statement over a window of the rows of a relation, which it reads as `selected`. The relation has its sort key
 * as `ascending` or `descending`, with the other null. Unknown keys come last; ties are sorted by `url`.
 */
export async function askSelected<T>(
  reader: Reader,
  body: string,
  schema: z.ZodType<T>,
  { selected, skip, limit }: { selected: Selected; skip: number; limit: number },
): Promise<T[]> {
  const window = `${selectedText(selected)} limit $limit::bigint offset $skip::bigint`;
  const text = `with selected as materialized (${window})\n${body}`;
  return reader.rows(schema, text, { ...selected.selection, limit, skip }, selected.website);
}

/** @param where which of the selected rows */
export function selectedText({ from, columns }: Pick<Selected, 'from' | 'columns'>, where = 'true'): string {
  return `select ${columns.join(', ')} from ${from} where ${where} order by ascending nulls last, descending desc nulls last, url`;
}
