import { z } from 'zod';
import { DAY_MS } from '../../base/time.js';
import { keyOf } from '../../base/url.js';
import { issuesOf, jsonOf } from '../../base/validate.js';
import { absoluteUrl, timestamp } from '../contract/fields.js';
import { FETCH_STATUSES } from '../contract/known-values.js';
import { type UrlReport, urlReportSchema } from '../contract/report.js';
import { SourceError } from '../errors.js';
import type { Page, ReportOutcome } from '../source.js';
import { type CallOptions, type GoogleClient, INSPECT } from './google-client.js';

/** A field of a report, the name that Google has for it, and what becomes of its value. */
const FIELDS: readonly [field: keyof UrlReport, name: string, convert: (value: string, now: number) => unknown][] = [
  ['index_summary', 'verdict', (verdict) => (/^(PASS|PARTIAL)$/.test(verdict) ? 'Indexed' : 'Not Indexed')],
  ['index_coverage_state', 'coverageState', (state) => state],
  ['indexing_allowed', 'indexingState', (state) => yesNo(state === 'INDEXING_ALLOWED', state.startsWith('BLOCKED_'))],
  ['searchengine_selected_canonical', 'googleCanonical', page],
  ['user_selected_canonical', 'userCanonical', page],
  ['searchenginebot_primary_crawler', 'crawledAs', (crawler) => crawler],
  ['last_crawl_time', 'lastCrawlTime', time],
  ['days_since_last_crawl', 'lastCrawlTime', daysSince],
  ['page_fetch_status', 'pageFetchState', (state) => FETCH_STATUSES.get(state) ?? state],
  ['blocked_by_robots_txt', 'robotsTxtState', (state) => yesNo(state === 'DISALLOWED', state === 'ALLOWED')],
];

/** Texts of indexed pages, some of which have another verdict. */
const INDEXED = /^(Submitted and indexed$|Indexed\b|Page indexed\b)/;
const UNKNOWN = /unknown to Google/i;
/** So many answers make a fall. Of pages that were many at once, true states have come back as unknown. */
const LOOKS = { fallen: 2, unknown: 3 };
/** A crawl before this, such as in 1970 or in the year 1, stands for none. */
const FIRST_CRAWL_MS = Date.UTC(1996);

const word = z.string().nullish();
const words = Object.fromEntries(FIELDS.map(([, name]) => [name, word]));
const answerSchema = z.looseObject({
  inspectionResult: z.looseObject({
    inspectionResultLink: word,
    indexStatusResult: z.looseObject({ ...words, sitemap: z.array(z.string()).nullish() }),
  }),
});

/**
 * Inspects one page.
 *
 * @returns its report as the contract has it; null if the property's day is spent
 * @throws SourceError `unauthorized` or `closed`, because no other page can be inspected either; `Stopped`, `TooLate`
 */
export async function inspect(
  client: GoogleClient,
  { property, purpose, ...page }: CallOptions & Page,
): Promise<ReportOutcome | null> {
  const { url, spelling } = page;
  const body = { inspectionUrl: spelling ?? url, siteUrl: property, languageCode: 'en-US' };
  try {
    const text = await client.call('POST', INSPECT, { property, purpose, body });
    const judged = judgeInspection(text, url, client.now);
    if (judged.outcome !== 'fetched') return judged;
    // Whose quota it used is counted by this.
    const siteUrl = { siteUrl: property };
    const again = looksLeft(judged.record, page);
    if (again === 0) return { ...judged, extra: { ...judged.extra, ...siteUrl } };
    return { outcome: 'unconfirmed', message: stateOf(judged.record), again, extra: siteUrl };
  } catch (error) {
    if (!(error instanceof SourceError) || error.kind === 'unauthorized' || error.kind === 'closed') throw error;
    if (error.kind === 'paused') return null;
    return { outcome: 'failed', status: error.status, message: error.message };
  }
}

/** How many more answers must say the same of a page that leaves the index, or becomes unknown, against its history. */
function looksLeft(record: Partial<UrlReport>, { history, looks = 0 }: Page): number {
  const isUnknown = UNKNOWN.test(stateOf(record));
  const falls = record.index_summary === 'Not Indexed' && (history === 'indexed' || (history === 'known' && isUnknown));
  return falls ? Math.max(0, LOOKS[isUnknown ? 'unknown' : 'fallen'] - looks - 1) : 0;
}

function stateOf({ index_coverage_state: state }: Partial<UrlReport>): string {
  return state ?? '';
}

/** @param now when Google answered, by its clock */
export function judgeInspection(text: string, url: string, now: number): ReportOutcome {
  const { data, error } = answerSchema.safeParse(jsonOf(text));
  if (error) return { outcome: 'rejected', issues: issuesOf(error), payload: text };
  const { indexStatusResult, ...results } = data.inspectionResult;
  const status: Record<string, unknown> = indexStatusResult;
  const converted = FIELDS.map(([field, name, convert]) => {
    const value = known(status[name]);
    return [field, value === null ? null : convert(value, now)];
  });
  const record: Record<string, unknown> = {
    // Every field; those of our own history stay null.
    ...Object.fromEntries(Object.keys(urlReportSchema.shape).map((field) => [field, null])),
    url,
    ...Object.fromEntries(converted),
    sitemaps: (indexStatusResult.sitemap ?? []).filter((one) => address(one) !== null),
    inspection_date: new Date(now).toISOString(),
    inspection_link: address(results.inspectionResultLink ?? ''),
  };
  if (INDEXED.test(known(status['coverageState']) ?? '')) record['index_summary'] = 'Indexed';
  const rest = Object.entries({ ...status, ...results }).filter(([name, value]) => !isHeld(record, name, value));
  return { outcome: 'fetched', text: JSON.stringify(record), record, absent: [], extra: Object.fromEntries(rest) };
}

/** Whether a report holds a value as Google sent it; the rest of an answer is `extra`. */
function isHeld(record: Readonly<Record<string, unknown>>, name: string, value: unknown): boolean {
  const held = [...FIELDS, ['sitemaps', 'sitemap'], ['inspection_link', 'inspectionResultLink']] as const;
  return held.some(([field, own]) => own === name && JSON.stringify(record[field]) === JSON.stringify(value));
}

function known(value: unknown): string | null {
  return typeof value !== 'string' || value === '' || value.endsWith('_UNSPECIFIED') ? null : value;
}

function yesNo(yes: boolean, no: boolean): string | null {
  return yes ? 'Yes' : no ? 'No' : null;
}

/** The identity of a page, to compare it with. */
function page(value: string): string | null {
  return address(keyOf(value) ?? value);
}

function address(value: string): string | null {
  return absoluteUrl.safeParse(value).data ?? null;
}

/** As the contract writes it: Google might send nanoseconds or an offset. Null for a time that stands for "never". */
function time(value: string, now: number): string | null {
  const at = Date.parse(value);
  if (!(at >= FIRST_CRAWL_MS && at <= now + DAY_MS)) return null;
  const utc = new Date(at).toISOString();
  return timestamp.safeParse(value).data ?? timestamp.safeParse(utc).data ?? null;
}

function daysSince(value: string, now: number): number | null {
  const at = time(value, now);
  return at === null ? null : Math.max(0, Math.floor((now - Date.parse(at)) / DAY_MS));
}
