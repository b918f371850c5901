import { z } from 'zod';
import type { Reader } from '../analysis/reader.js';
import { type UrlReport, urlReportSchema } from '../contract/report.js';
import { sql } from '../storage/sql.js';
import type { Marker } from '../warehouse/markers.js';
import { LastAsked } from './last-asked.js';
import { daysSince, type ListingFile } from './listing-file.js';
import { viewOver } from './views.js';

/** Pages that lie together are asked for together, as a client that walks a listing does: so they are read together. */
const PAGES_PER_BLOCK = 128;
/** Blocks that are kept: 2 KB a page. */
const MAX_KEPT = 64;

/** The newest report of a page, and its last crawl in milliseconds since 1970. */
interface KeptReport {
  text: string;
  crawledAt: number | null;
}
type Block = ReadonlyMap<string, KeptReport>;

/** Whose reports, and which of them. */
export interface ReportScope {
  websiteId: string;
  /** All commits of the website that may be seen, oldest first. */
  markers: readonly Marker[];
  /** Only what had been fetched by then; null: the newest there is. ISO 8601. */
  until: string | null;
  listing: ListingFile;
}

const snapshotRow = z.object({ report_snapshot_id: z.string() });
const reportRow = z.object({ url: z.string(), crawled_at: z.coerce.number().nullable(), report: z.string() });
const entrySchema = z.record(z.string(), z.unknown());

/** The newest reports of pages, read a block of neighbours at a time and kept for a while. */
export class ReportBlocks {
  readonly #kept = new LastAsked<Block>(MAX_KEPT);

  constructor(
    private readonly warehouse: string,
    private readonly use: <T>(ask: (reader: Reader) => Promise<T>) => Promise<T>,
  ) {}

  /**
   * The report of a listed page; what its entry in the listing tells, and null for the rest, where none was fetched yet.
   *
   * @param now milliseconds since 1970: what `days_since_last_crawl` counts to
   * @returns null where the page is not listed
   */
  async report(url: string, scope: ReportScope, now: number): Promise<UrlReport | null> {
    const found = await scope.listing.find(url, now);
    if (!found) return null;
    const kept = await this.#keptOf(url, Math.floor(found.position / PAGES_PER_BLOCK), scope);
    if (!kept) return reportOfEntry(found.entry);
    const report = urlReportSchema.parse(JSON.parse(kept.text));
    return { ...report, days_since_last_crawl: kept.crawledAt === null ? null : daysSince(kept.crawledAt, now) };
  }

  #keptOf(url: string, block: number, scope: ReportScope): Promise<KeptReport | undefined> {
    const newest = scope.markers.at(-1)?.commitId ?? '';
    const key = [scope.websiteId, newest, scope.until, block].join('\n');
    return this.#kept.use(
      key,
      () => this.#read(block, scope),
      (reports) => reports.get(url),
    );
  }

  async #read(number: number, { listing, websiteId, markers, until }: ReportScope): Promise<Block> {
    const urls = await listing.urls(number * PAGES_PER_BLOCK, PAGES_PER_BLOCK);
    const range = { from_url: urls[0] ?? '', to_url: urls.at(-1) ?? '' };
    return this.use(async (reader) => {
      const held = until === null ? await holding(reader, markers, { ...range, website: websiteId }) : markers;
      await viewOver(reader, 'served_reports', { warehouse: this.warehouse, table: 'url_reports', markers: held });
      const rows = await reader.engine.rows(reportRow, sql('serve/newest_reports'), { ...range, until });
      return new Map(rows.map(({ url, report, crawled_at }) => [url, { text: report, crawledAt: crawled_at }]));
    });
  }
}

/** The commits that hold the newest reports: the state names their snapshots, so that no other file is opened. */
async function holding(
  reader: Reader,
  markers: readonly Marker[],
  range: { website: string; from_url: string; to_url: string },
): Promise<Marker[]> {
  const rows = await reader.engine.rows(snapshotRow, sql('serve/report_snapshots'), range);
  const ids = new Set(rows.map(({ report_snapshot_id }) => report_snapshot_id));
  return markers.filter(({ snapshotId }) => ids.has(snapshotId));
}

function reportOfEntry(entry: string): UrlReport {
  const told = entrySchema.parse(JSON.parse(entry));
  const fields = Object.keys(urlReportSchema.shape).map((field) => [field, told[field] ?? null]);
  return urlReportSchema.parse(Object.fromEntries(fields));
}
