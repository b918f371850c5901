import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { askEach, askRows } from '../../answers/query/ask-rows.js';
import type { Reader } from '../../answers/query/reader.js';
import type { Parameters } from '../../base/storage/engine.js';
import { sql } from '../../base/storage/sql.js';
import { DAY_MS } from '../../base/time.js';
import type { CoverageEntry } from '../../source/contract/coverage.js';
import { type UrlReport, urlReportSchema } from '../../source/contract/report.js';
import type { DataTable } from '../../warehouse/log/folder/tables.js';
import { filesOf } from '../../warehouse/log/markers.js';
import type { WindowBounds } from '../api/pagination.js';
import type { ServedCommits } from './commits.js';

/** The position of every page of this many is known, so that a window is read from near its beginning. */
const MARKED = 1000;
/** How many listings to keep the index of: mostly the newest one of each website. */
const MAX_REMEMBERED = 200;
/** URLs are ordered by their bytes, and none comes after this. */
const BEHIND_ALL = '\u{10ffff}';
const WHOLE = { from_url: '', to_url: BEHIND_ALL };

/** The files that a listing is read from; a bare object of lists, as statements take it. */
type ListingFiles = { coverage: string[]; rejected: string[]; earlier: string[] };

/** Where the entries of a listing are found. */
interface ListingIndex {
  files: ListingFiles;
  count: number;
  /** The URL of every 1,000th page, from the first on. */
  marks: string[];
}

const urlRow = z.object({ url: z.string() });
const countRow = z.object({ count: z.int() });
const maybeText = z.string().nullable();
const entryRow = z.object({
  url: z.string(),
  index_summary: maybeText,
  index_coverage_state: maybeText,
  canonicals_match: z.boolean().nullable(),
  searchengine_selected_canonical: maybeText,
  user_selected_canonical: maybeText,
  last_crawl_time: maybeText,
  days_since_last_crawl: z.null(),
  inspection_link: maybeText,
  service_link: maybeText,
  canonicals_match_present: z.boolean().nullable(),
  crawled_at: z.number().nullable(),
});
type EntryRow = z.infer<typeof entryRow>;
const entriesRow = z.object({ entries: z.string().transform((text) => z.array(entryRow).parse(JSON.parse(text))) });

/**
 * The listings of a warehouse, read from their Parquet files. These are sorted by URL, so that any window needs only the
 * one or two row groups that hold it.
 */
export class Listings {
  readonly #files = new LRUCache<string, ListingFiles>({ max: MAX_REMEMBERED });
  readonly #indexes = new LRUCache<string, ListingIndex>({ max: MAX_REMEMBERED });

  constructor(private readonly warehouse: string) {}

  /** Whether a window only needs to be read, without first finding positions. */
  isQuick(commits: ServedCommits): boolean {
    return this.#indexes.has(listingId(commits));
  }

  /** Entries by their position in the listing's own order. @param now what `days_since_last_crawl` counts to */
  async window(
    reader: Reader,
    commits: ServedCommits,
    { skip, limit }: WindowBounds,
    now: number,
  ): Promise<{ entries: CoverageEntry[]; count: number }> {
    const { files, count, marks } = await this.#index(reader, commits);
    if (skip >= count) return { entries: [], count };
    const first = Math.floor(skip / MARKED);
    const rows = await entryRows(reader, files, {
      from_url: marks[first] ?? '',
      to_url: marks[Math.ceil((skip + limit) / MARKED)] ?? BEHIND_ALL,
      limit,
      skip: skip - first * MARKED,
    });
    return { entries: rows.map((row) => entryOf(row, now)), count };
  }

  /** The entry of a page; undefined if it is not listed. */
  async of(reader: Reader, commits: ServedCommits, url: string, now: number): Promise<CoverageEntry | undefined> {
    const files = await this.#filesOf(reader, commits);
    const [row] = await entryRows(reader, files, { from_url: url, to_url: `${url}\u0001`, limit: 1, skip: 0 });
    return row?.url === url ? entryOf(row, now) : undefined;
  }

  /**
   * The files that a listing is read from. Of earlier commits, only those with a page that is in quarantine now: mostly
   * none.
   */
  async #filesOf(reader: Reader, commits: ServedCommits): Promise<ListingFiles> {
    const key = listingId(commits);
    const known = this.#files.get(key);
    if (known) return known;
    const { listing, earlier } = commits;
    const of = (table: DataTable, markers = listing) => filesOf(this.warehouse, markers, table);
    const files: ListingFiles = { coverage: of('coverage'), rejected: of('rejected_records'), earlier: [] };
    if (files.rejected.length > 0)
      files.earlier = await replacementsIn(reader, files, of('coverage', earlier), listing);
    this.#files.set(key, files);
    return files;
  }

  async #index(reader: Reader, commits: ServedCommits): Promise<ListingIndex> {
    const key = listingId(commits);
    const known = this.#indexes.get(key);
    if (known) return known;
    const files = await this.#filesOf(reader, commits);
    const [counted] = await ask(reader, countRow, files, 'serve/store/counted', WHOLE);
    const marks = await ask(reader, urlRow, files, 'serve/store/url_marks', { ...WHOLE, step: MARKED });
    const index = { files, count: counted?.count ?? 0, marks: marks.map(({ url }) => url) };
    this.#indexes.set(key, index);
    return index;
  }
}

/** Identifies a listing, whatever is committed since. */
function listingId({ listing, earlier }: ServedCommits): string {
  return [...listing, ...earlier.slice(-1)].map(({ snapshotId }) => snapshotId).join(' ');
}

/** Of the files of earlier commits, newest first, those that list a page that is now only in quarantine. */
async function replacementsIn(
  reader: Reader,
  { coverage, rejected }: ListingFiles,
  earlier: readonly string[],
  listing: ServedCommits['listing'],
): Promise<string[]> {
  const { engine } = reader;
  const asked = {
    coverage: reader.filled(coverage),
    rejected: reader.filled(rejected),
    website: listing[0]?.websiteId ?? '',
  };
  const rows = await askRows(reader, 'serve/store/quarantined_urls', urlRow, asked);
  const missing = new Set(rows.map(({ url }) => url));
  const found: string[] = [];
  for (const file of [...earlier].reverse()) {
    if (missing.size === 0) break;
    const held = await engine.rows(urlRow, sql('serve/store/held_urls'), { coverage: [file], urls: [...missing] });
    if (held.length > 0) found.push(file);
    for (const { url } of held) missing.delete(url);
  }
  return found;
}

/** A window of the entries, sorted by URL. */
async function entryRows(reader: Reader, files: ListingFiles, given: Parameters): Promise<EntryRow[]> {
  const rows = await ask(reader, entriesRow, files, 'serve/store/entries', given);
  return rows.flatMap(({ entries }) => entries);
}

/** The entry as the API returns it: `canonicals_match` is omitted where the upstream service omitted it. */
function entryOf({ crawled_at, canonicals_match_present: isPresent, ...row }: EntryRow, now: number): CoverageEntry {
  const { canonicals_match: _, ...bare } = row;
  return { ...(isPresent ? row : bare), days_since_last_crawl: daysSince(crawled_at, now) };
}

/** Asks a question of `listed`: the entries of a listing in a range of URLs. */
async function ask<T>(
  reader: Reader,
  schema: z.ZodType<T>,
  { coverage, rejected, earlier }: ListingFiles,
  answer: string,
  given: Parameters,
): Promise<T[]> {
  // If one commit makes up the listing and none of it is in quarantine, as on most nights, it holds each page once.
  const isOneFile = coverage.length === 1 && rejected.length === 0;
  const listed = sql(isOneFile ? 'serve/store/listed_once' : 'serve/store/listed');
  const asked = {
    ...given,
    coverage: reader.filled(coverage),
    ...(!isOneFile && {
      rejected: reader.filled(rejected),
      earlier: reader.filled(earlier),
    }),
  };
  return reader.rows(schema, `with listed as (${listed}\n)\n${sql(answer)}`, asked);
}

/** Whole days, never negative: a crawl in the future, by a clock ahead of ours, was today. Milliseconds since 1970. */
function daysSince(crawledAt: number | null, now: number): number | null {
  if (crawledAt === null) return null;
  return Math.max(0, Math.floor((now - crawledAt) / DAY_MS));
}

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
