import { z } from 'zod';
import { askRows } from '../analysis/ask-rows.js';
import type { Reader } from '../analysis/reader.js';
import type { CoverageEntry } from '../contract/coverage.js';
import { type UrlReport, urlReportSchema } from '../contract/report.js';
import { sql } from '../storage/sql.js';
import { filesOf, type Marker } from '../warehouse/markers.js';
import { daysSince, rangeOf } from './listing.js';

const knownPage = z.object({
  website_id: z.string(),
  url: z.string(),
  report_snapshot_id: z.string().nullable(),
  is_monitored: z.boolean(),
});
/** A page that a website knows: it lists it, or did once. */
export type KnownPage = z.infer<typeof knownPage>;

/** The fields of a report alone, of all that its row holds. */
const reportRow = z.object({ ...urlReportSchema.shape, crawled_at: z.coerce.number().nullable() });

/** Which websites know some pages. What was listed at any time is known, so nothing else can be found. */
export async function knownPages(reader: Reader, urls: readonly string[]): Promise<KnownPage[]> {
  const asked = { ...rangeOf(urls), urls: [...urls] };
  return askRows(reader, 'serve/websites_of_pages', knownPage, asked);
}

/** Whose reports, and which of them. */
export interface ReportQuestion {
  warehouse: string;
  /** The website's entries of the pages. */
  entries: readonly CoverageEntry[];
  /** Of the website: those that may hold the reports. */
  markers: readonly Marker[];
  /** Only what had been fetched by then, in milliseconds since 1970; null: the newest there is. */
  until: number | null;
  /** Milliseconds since 1970: what `days_since_last_crawl` counts to. */
  now: number;
}

/** The reports of listed pages; what an entry tells, and null for the rest, where none was fetched yet. */
export async function reportsOf(reader: Reader, question: ReportQuestion): Promise<UrlReport[]> {
  const { entries, warehouse, markers, until, now } = question;
  const urls = entries.map(({ url }) => url);
  const reports = reader.filled('url_reports', filesOf(warehouse, markers, 'url_reports'));
  const asked = { ...rangeOf(urls), urls, reports, until };
  const rows = await reader.engine.rows(reportRow, sql('serve/newest_reports'), asked);
  const found = new Map(rows.map(({ crawled_at, ...report }) => [report.url, { report, crawled_at }]));
  return entries.map((entry) => {
    const { report, crawled_at = null } = found.get(entry.url) ?? {};
    if (!report) return reportOfEntry(entry);
    return { ...report, days_since_last_crawl: crawled_at === null ? null : daysSince(crawled_at, now) };
  });
}

function reportOfEntry(entry: CoverageEntry): UrlReport {
  const fields = Object.keys(urlReportSchema.shape).map((field) => [field, entry[field] ?? null]);
  return urlReportSchema.parse(Object.fromEntries(fields));
}
