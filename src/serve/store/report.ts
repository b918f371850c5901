import { z } from 'zod';
import { askEach, askRows } from '../../answers/query/ask-rows.js';
import type { Reader } from '../../answers/query/reader.js';
import { sql } from '../../base/storage/sql.js';
import type { CoverageEntry } from '../../source/contract/coverage.js';
import { type UrlReport, urlReportSchema } from '../../source/contract/report.js';
import { daysSince } from './listing.js';

const knownPage = z.object({
  website_id: z.string(),
  report_snapshot_id: z.string().nullable(),
  is_listed: z.boolean(),
});
/** A page of a website that lists it, or once listed it. */
export type KnownPage = z.infer<typeof knownPage>;

/** Only the fields of a report, of all that its row holds. */
const reportRow = z.object({ ...urlReportSchema.shape, crawled_at: z.coerce.number().nullable() });

/**
 * The websites that know a page. A website knows what it ever listed, so nothing else can be found.
 *
 * @param websiteIds if files are damaged, only these are asked
 * @throws DamageError if one of these, which may know the page, cannot be read
 */
export async function websitesOf(reader: Reader, url: string, websiteIds: readonly string[]): Promise<KnownPage[]> {
  const { rows, errors } = await askEach(websiteIds, (website) =>
    askRows(reader, 'serve/store/websites_of_page', knownPage, { url }, website),
  );
  const [error] = errors.values();
  if (error && rows.length === 0) throw error;
  return rows;
}

/**
 * The report of a listed page. If none was fetched yet: what the entry says, and null for the rest.
 *
 * @param files that may hold the report
 * @param times milliseconds since 1970: only what had been fetched by `until`, unless that is null; ages count to `now`
 */
export async function reportOf(
  reader: Reader,
  entry: CoverageEntry,
  files: readonly string[],
  { until, now }: { until: number | null; now: number },
): Promise<UrlReport> {
  const asked = { url: entry.url, reports: reader.filled(files), until };
  const [row] = await reader.rows(reportRow, sql('serve/store/newest_report'), asked);
  if (row) {
    const { crawled_at, ...report } = row;
    return { ...report, days_since_last_crawl: daysSince(crawled_at, now) };
  }
  const fields = Object.keys(urlReportSchema.shape).map((field) => [field, entry[field] ?? null]);
  return urlReportSchema.parse(Object.fromEntries(fields));
}

/** Of each of these it is known whether it ever happened to a page; the link is that of the page's inspection. */
const historyRow = z.looseObject({
  previously_indexed: z.boolean(),
  canonical_changed: z.boolean(),
  ever_blocked_by_robots_txt: z.boolean(),
});

/** A report of a source that says only how pages are, with what these files of `page_versions` saw happen to the page. */
export async function withHistory(reader: Reader, report: UrlReport, files: readonly string[]): Promise<UrlReport> {
  // Of a page that was never inspected nothing is known.
  if (report.index_summary === null) return report;
  const asked = { url: report.url, versions: reader.filled(files) };
  const [seen] = await reader.rows(historyRow, sql('serve/store/own_history'), asked);
  const happened = {
    previously_indexed: seen?.previously_indexed || report.index_summary === 'Indexed',
    canonical_changed: seen?.canonical_changed ?? false,
    ever_blocked_by_robots_txt: seen?.ever_blocked_by_robots_txt || report.blocked_by_robots_txt === 'Yes',
  };
  const said = Object.entries(happened).flatMap(([field, is]) => [
    [field, is ? 'Yes' : 'No'],
    [`${field}_link`, is ? report.inspection_link : null],
  ]);
  return urlReportSchema.parse({ ...report, ...seen, ...Object.fromEntries(said) });
}
