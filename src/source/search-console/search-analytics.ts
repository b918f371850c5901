import { z } from 'zod';
import { addDays, calendarDate, isCalendarDate } from '../../base/time.js';
import { addressOf, keyOf } from '../../base/url.js';
import type { SearchDate, SearchRow, SearchTotals, SearchType } from '../source.js';
import { answerIn, type CallOptions, type GoogleClient, SITES } from './google-client.js';
import { isOfProperty } from './property.js';

/** The most that one answer holds. */
const ROWS = 25_000;
/** The most pages of a day and type that Google gives: those with the most clicks. */
const MOST_PAGES = 50_000;
/** Data end as many days ago, at the latest, where Google does not say which days may still change. */
const DAYS_BEHIND = 3;

const number = z.int().nonnegative();
/** Discover and Google News know no position. */
const figures = { clicks: number, impressions: number, position: z.number().nonnegative().nullable().default(null) };
/** A row of search analytics. */
export const rowSchema = z
  .object({ keys: z.tuple([z.string()]), ...figures })
  .transform(({ keys: [key], clicks, impressions, position }) => ({ key, clicks, impressions, position }));
const rowsSchema = z.looseObject({ rows: z.array(rowSchema).default([]) });
const datesSchema = rowsSchema.extend({
  // Google's documents and its own clients spell it in two ways.
  metadata: z
    .looseObject({ first_incomplete_date: z.iso.date().optional(), firstIncompleteDate: z.iso.date().optional() })
    .default({}),
});

/** The date in California, whose days are Google's. @param ms since 1970 */
export function californiaDate(ms: number): string {
  return calendarDate(new Date(ms), 'America/Los_Angeles');
}

/** The dates of a type that have data, from one on, and the first that may still change. @throws SourceError */
export async function searchTotals(
  client: GoogleClient,
  { type, since, ...call }: CallOptions & { type: SearchType; since: string },
): Promise<SearchTotals> {
  const today = californiaDate(client.now);
  // All pages of a date, as the rows of its pages are counted.
  const query = { startDate: since, endDate: today, type, dataState: 'all', aggregationType: 'byPage' };
  const { rows, metadata } = await ask(client, datesSchema, { ...query, dimensions: ['date'], rowLimit: ROWS }, call);
  const dates = rows.filter(({ key }) => isCalendarDate(key));
  const first = metadata.first_incomplete_date ?? metadata.firstIncompleteDate ?? addDays(today, 1 - DAYS_BEHIND);
  return { firstPreliminary: first, dates: new Map(dates.map(({ key, ...totals }) => [key, totals])) };
}

/** The rows of a day by what a page is known as, those with the most clicks first, as they arrive. @throws SourceError */
export async function* searchRows(
  client: GoogleClient,
  {
    date,
    type,
    isFinal,
    most = ROWS,
    ...call
  }: CallOptions & Pick<SearchDate, 'date' | 'type' | 'isFinal'> & { most?: number },
): AsyncGenerator<SearchRow[]> {
  const query = { startDate: date, endDate: date, type, dataState: isFinal ? 'final' : 'all', dimensions: ['page'] };
  for (let startRow = 0; startRow < MOST_PAGES; startRow += most) {
    const { rows } = await ask(client, rowsSchema, { ...query, rowLimit: most, startRow }, call);
    yield rows.map(({ key, ...shown }) => ({ ...pageOf(key, call.property), ...shown }));
    if (rows.length < most) return;
  }
}

/** Whether a day with so many rows lacks others. */
export function isCut(rows: number): boolean {
  return rows >= MOST_PAGES;
}

async function ask<T>(client: GoogleClient, schema: z.ZodType<T>, body: object, call: CallOptions): Promise<T> {
  const path = `${SITES}/${encodeURIComponent(call.property)}/searchAnalytics/query`;
  return answerIn(schema, await client.call('POST', path, { ...call, body }));
}

/** A page's identity, and Google's names for it where they differ; the identity is null for what is no page of the property. */
function pageOf(page: string, property: string): Pick<SearchRow, 'url' | 'page' | 'spelling'> {
  const [key, address] = [keyOf(page), addressOf(page)];
  const url = key !== null && isOfProperty(property, key) ? key : null;
  return {
    url,
    ...(page === url ? {} : { page }),
    ...(address === null || address === url ? {} : { spelling: address }),
  };
}
