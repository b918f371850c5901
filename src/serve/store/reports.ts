import { z } from 'zod';
import { askEach, askRows } from '../../answers/query/ask-rows.js';
import type { Reader } from '../../answers/query/reader.js';
import { sql } from '../../base/storage/sql.js';
import type { CoverageEntry } from '../../source/contract/coverage.js';
import { type UrlReport, urlReportSchema } from '../../source/contract/report.js';
import { daysSince, rangeOf } from './listing.js';

const knownPage = z.object({
  website_id: z.string(),
  url: z.string(),
  report_snapshot_id: z.string().nullable(),
  is_listed: z.boolean(),
});
/** A page that a website lists, or once listed. */
export type KnownPage = z.infer<typeof knownPage>;

/** Only the fields of a report, of all that its row holds. */
const reportRow = z.object({ ...urlReportSchema.shape, crawled_at: z.coerce.number().nullable() });

/**
 * Which websites know these pages. A website knows what it ever listed, so nothing else can be found.
 *
 * @param websiteIds if files are damaged, only these are asked
 * @throws DamageError if one of these, which may know one of the pages, cannot be read
 */
export async function knownPages(
  reader: Reader,
  urls: readonly string[],
  websiteIds: readonly string[],
): Promise<KnownPage[]> {
  const asked = { ...rangeOf(urls), urls: [...urls] };
  const { rows, errors } = await askEach(websiteIds, (website) =>
    askRows(reader, 'serve/store/websites_of_pages', knownPage, asked, website),
  );
  for (const error of errors.values()) if (urls.some((url) => !rows.some((page) => page.url === url))) throw error;
  return rows;
}

/**
 * The reports of listed pages. Where none was fetched yet: what the entry says, and null for the rest.
 *
 * @param files that may hold the reports
 * @param times milliseconds since 1970: only what had been fetched by `until`, unless that is null; ages count to `now`
 */
export async function reportsOf(
  reader: Reader,
  entries: readonly CoverageEntry[],
  files: readonly string[],
  { until, now }: { until: number | null; now: number },
): Promise<UrlReport[]> {
  const urls = entries.map(({ url }) => url);
  const asked = { ...rangeOf(urls), urls, reports: reader.filled('url_reports', files), until };
  const rows = await reader.engine.rows(reportRow, sql('serve/store/newest_reports'), asked);
  const found = new Map(rows.map(({ crawled_at, ...report }) => [report.url, { report, crawled_at }]));
  return entries.map((entry) => {
    const { report, crawled_at = null } = found.get(entry.url) ?? {};
    if (report) return { ...report, days_since_last_crawl: daysSince(crawled_at, now) };
    const fields = Object.keys(urlReportSchema.shape).map((field) => [field, entry[field] ?? null]);
    return urlReportSchema.parse(Object.fromEntries(fields));
  });
}

/** Of each of these it is known whether it ever happened to a page; the link is that of the page's inspection. */
const historyRow = z.looseObject({
  url: z.string(),
  previously_indexed: z.boolean(),
  canonical_changed: z.boolean(),
  ever_blocked_by_robots_txt: z.boolean(),
});

/** Reports of a source that says only how pages are, with what these files of `page_versions` saw happen to them. */
export async function withHistory(
  reader: Reader,
  reports: readonly UrlReport[],
  files: readonly string[],
): Promise<UrlReport[]> {
  const urls = reports.map(({ url }) => url);
  const asked = { ...rangeOf(urls), urls, versions: reader.filled('page_versions', files) };
  const rows = await reader.engine.rows(historyRow, sql('serve/store/own_histories'), asked);
  return reports.map((report) => {
    // Of a page that was never inspected nothing is known.
    if (report.index_summary === null) return report;
    const seen = rows.find(({ url }) => url === report.url);
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
  });
}
