import { z } from 'zod';
import { addDays, calendarDate } from '../../base/time.js';
import { issuesOf, jsonOf } from '../../base/validate.js';
import type { Purpose } from '../client.js';
import { SourceError } from '../errors.js';
import type { CallOptions, GoogleClient } from './google-client.js';

const SITES = '/webmasters/v3/sites';
/** Windows of days of search analytics. Which pages exist comes from the longest; the plan compares the others. */
export const TRAFFIC_WINDOWS = ['90d', '28d', '7d'] as const;
export type TrafficWindow = (typeof TRAFFIC_WINDOWS)[number];
/** The most that one answer of search analytics holds. */
const ROWS = 25_000;
/** More than Google keeps for any property: an answer that never ends must not be read forever. */
const MAX_ROWS = 10_000_000;
/** The last day with data. */
const DAYS_BEHIND = 3;

const siteSchema = z.looseObject({ siteUrl: z.string(), permissionLevel: z.string().default('') });
/** A property as one account sees it. */
export type Site = z.infer<typeof siteSchema>;
const sitesSchema = z.looseObject({ siteEntry: z.array(siteSchema).default([]) });

/** Numbers of 64 bits are sent as text. */
const bigNumber = z.coerce.number().int().nonnegative().nullable().catch(null).default(null);
const submittedSchema = z
  .looseObject({
    path: z.string(),
    lastDownloaded: z.iso.datetime({ offset: true }).nullable().catch(null).default(null),
    errors: bigNumber,
    warnings: bigNumber,
    isPending: z.boolean().nullable().catch(null).default(null),
  })
  .transform(({ path, errors, warnings, lastDownloaded: last_downloaded, isPending: is_pending }) => {
    return { path, last_downloaded, errors, warnings, is_pending };
  });
/** A sitemap that was submitted for a property, with what Search Console says about it. */
export type SubmittedSitemap = z.output<typeof submittedSchema>;
/** Of a sitemap that was not submitted. */
export const SITEMAP_FACTS_UNKNOWN = { last_downloaded: null, errors: null, warnings: null, is_pending: null };
const sitemapsSchema = z.looseObject({ sitemap: z.array(submittedSchema).default([]) });

/** What a BIGINT holds, as JavaScript does. */
const number = z.int().nonnegative();
/** A row of search analytics. */
export const rowSchema = z
  .object({ keys: z.tuple([z.string()]), clicks: number, impressions: number, position: z.number().nonnegative() })
  .transform(({ keys: [url], ...figures }) => ({ url, ...figures }));
/** How often a page was shown and clicked in a window of days, and its average position. */
export type PageTraffic = z.infer<typeof rowSchema>;
const rowsSchema = z.looseObject({ rows: z.array(rowSchema).default([]) });

/** The date in California, whose days are Google's. @param ms since 1970 */
export function californiaDate(ms: number): string {
  return calendarDate(new Date(ms), 'America/Los_Angeles');
}

/** Every property that the account sees, with its permission. @throws SourceError */
export async function listSites(client: GoogleClient, purpose: Purpose): Promise<Site[]> {
  return answerIn(sitesSchema, await client.call('GET', SITES, { property: '', purpose })).siteEntry;
}

/** The sitemaps that were submitted for a property. @throws SourceError */
export async function listSitemaps(client: GoogleClient, call: CallOptions): Promise<SubmittedSitemap[]> {
  const text = await client.call('GET', `${SITES}/${encodeURIComponent(call.property)}/sitemaps`, call);
  return answerIn(sitemapsSchema, text).sitemap;
}

/** The pages shown in a window up to the last day with data, most clicks first, in batches of at most `most`. @throws SourceError */
export async function* searchTraffic(
  client: GoogleClient,
  { window, most = ROWS, ...call }: CallOptions & { window: TrafficWindow; most?: number },
): AsyncGenerator<PageTraffic[]> {
  const endDate = addDays(californiaDate(client.now), -DAYS_BEHIND);
  const startDate = addDays(endDate, 1 - Number.parseInt(window, 10));
  const query = { startDate, endDate, dimensions: ['page'], rowLimit: most };
  const path = `${SITES}/${encodeURIComponent(call.property)}/searchAnalytics/query`;
  for (let startRow = 0; startRow < MAX_ROWS; startRow += most) {
    const text = await client.call('POST', path, { ...call, body: { ...query, startRow } });
    const { rows } = answerIn(rowsSchema, text);
    if (rows.length === 0) return;
    yield rows;
  }
}

function answerIn<T>(schema: z.ZodType<T>, text: string): T {
  const { data, error } = schema.safeParse(jsonOf(text));
  if (!error) return data;
  const [issue] = issuesOf(error);
  const message = `Google's answer is not as documented (${issue?.path}: ${issue?.message}): check google.endpoint`;
  throw new SourceError('bad_body', message, { status: 200 });
}
