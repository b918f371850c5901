import { z } from 'zod';
import { askRows, askSelected } from '../analysis/ask-rows.js';
import type { Reader } from '../analysis/reader.js';
import { type CoverageEntry, coverageEntrySchema } from '../contract/coverage.js';
import type { KeyDetails } from '../contract/key.js';
import type { UrlReport } from '../contract/report.js';
import { ServiceError } from '../service/errors.js';
import type { ListingQuery, Moment, Selection } from '../service/listing-query.js';
import type { Window } from '../service/pagination.js';
import type { ListingStream, ListingWindow, RequestContext, SnapshotWindow, Store } from '../service/store.js';
import { sql } from '../storage/sql.js';
import { type Marker, markersOf } from '../warehouse/markers.js';
import { commitsAt, type ServedCommits } from './commits.js';
import { entriesOf } from './listing-file.js';
import { ListingFiles } from './listing-files.js';
import { LiveReader } from './live-reader.js';
import { ReportBlocks } from './report-blocks.js';
import { snapshotsIn } from './snapshots.js';
import { viewListing, viewOver } from './views.js';
import { type ServedWebsite, websitesOf } from './websites.js';

export interface WarehouseStoreOptions {
  warehouse: string;
  /** Bytes, of DuckDB. */
  memoryLimit: number;
  /** IANA name: decides when a calendar date ends. */
  timeZone: string;
  findKey(token: string): Promise<KeyDetails | null>;
  /** Milliseconds since 1970: what ages are counted to. */
  now?: () => number;
  /** Milliseconds that never go back: tells when to look for new commits. */
  clock?: () => number;
}

/** What is held in memory of a listing that is streamed. */
const BATCH_ENTRIES = 5_000;

const lineRow = z.object({ line: z.string() });
const listedRow = z.object({ was_listed: z.boolean() });
const monitoredRow = z.object({ url: z.string() });
const endRow = z.object({ ends_at: z.coerce.number() });

/**
 * A warehouse as what the service reads from: the newest state, or that of any past moment. It reads Parquet files and
 * nothing else, takes no lock, and holds no file that a sync wants.
 */
export class WarehouseStore implements Store {
  readonly hasHistory = true;
  readonly findKey: Store['findKey'];
  readonly #options: WarehouseStoreOptions;
  readonly #live: LiveReader;
  readonly #files: ListingFiles;
  readonly #reports: ReportBlocks;

  constructor(options: WarehouseStoreOptions) {
    this.#options = options;
    this.findKey = options.findKey;
    this.#live = new LiveReader(options, options.clock);
    const ask = <T>(question: (reader: Reader) => Promise<T>) => this.#live.use(question);
    this.#files = new ListingFiles(options.warehouse, ask);
    this.#reports = new ReportBlocks(options.warehouse, ask);
  }

  /** The websites that have a snapshot, by their ids. */
  async websites(): Promise<ServedWebsite[]> {
    return this.#live.use((reader) => websitesOf(reader));
  }

  async hasWebsite(websiteId: string): Promise<boolean> {
    return this.#live.use(async ({ markers }) => markersOf(markers, websiteId).length > 0);
  }

  async listCoverage(
    websiteId: string,
    { skip, limit }: Window,
    query: ListingQuery,
    _context: RequestContext,
  ): Promise<ListingWindow | null> {
    const { markers, commits, end } = await this.#seen(websiteId, query);
    if (markers.length === 0) return null;
    if (!commits) throw nothingThen(query);
    const { version } = commits;
    const now = this.#past(end);
    const { selection } = query;
    const facts = { version, observedAt: observedAt(commits), committedAt: committedAt(commits) };
    if (selection) return { ...(await this.#selected(commits, selection, { skip, limit, now })), ...facts };
    return this.#files.use(commits, async (file) => {
      return { entries: await file.window(skip, limit, now), count: file.count, ...facts };
    });
  }

  async streamListing(websiteId: string, query: ListingQuery, context: RequestContext): Promise<ListingStream | null> {
    const first = await this.listCoverage(websiteId, { skip: 0, limit: BATCH_ENTRIES }, query, context);
    if (!first) return null;
    const { entries, ...facts } = first;
    const rest = { ...query, version: facts.version ?? null };
    return { ...facts, batches: this.#batches(websiteId, first, rest, context) };
  }

  async *#batches(
    websiteId: string,
    first: ListingWindow,
    query: ListingQuery,
    context: RequestContext,
  ): AsyncGenerator<CoverageEntry[]> {
    yield parsedEntries(first);
    for (let skip = BATCH_ENTRIES; skip < first.count; skip += BATCH_ENTRIES) {
      context.signal.throwIfAborted();
      const window = await this.listCoverage(websiteId, { skip, limit: BATCH_ENTRIES }, query, context);
      if (window) yield parsedEntries(window);
    }
  }

  async listSnapshots(websiteId: string, window: Window): Promise<SnapshotWindow | null> {
    return this.#live.use(async (reader) => {
      const markers = markersOf(reader.markers, websiteId);
      return markers.length === 0 ? null : snapshotsIn(reader, markers, window);
    });
  }

  async findReports(
    urls: readonly string[],
    websiteIds: readonly string[],
    moment: Moment,
    { signal }: RequestContext,
  ): Promise<ReadonlyMap<string, UrlReport>> {
    const reports = new Map<string, UrlReport>();
    for (const websiteId of websiteIds) {
      for (const url of urls.filter((each) => !reports.has(each))) {
        signal.throwIfAborted();
        const report = await this.#report(websiteId, url, moment);
        if (report) reports.set(url, report);
      }
    }
    return reports;
  }

  async monitoredBeside(websiteIds: readonly string[], urls: readonly string[]): Promise<ReadonlySet<string>> {
    const asked = { urls: [...urls], websites: [...websiteIds] };
    const rows = await this.#live.use((reader) => askRows(reader, 'serve/monitored_beside', monitoredRow, asked));
    return new Set(rows.map(({ url }) => url));
  }

  async close(): Promise<void> {
    await this.#files.close();
    this.#live.close();
  }

  /** The commits of a website, those that a request sees of them, and when the moment that it asks for ends. */
  #seen(
    websiteId: string,
    query: Pick<ListingQuery, 'moment' | 'version'>,
  ): Promise<{ markers: Marker[]; commits: ServedCommits | null; end: number | null }> {
    return this.#live.use(async (reader) => {
      const markers = markersOf(reader.markers, websiteId);
      const commits = await this.#commits(reader, markers, query);
      return { markers, commits, end: query.moment && (await this.#endOf(reader, query.moment)) };
    });
  }

  async #commits(
    reader: Reader,
    markers: readonly Marker[],
    { moment, version }: Pick<ListingQuery, 'moment' | 'version'>,
  ): Promise<ServedCommits | null> {
    if (version !== null && !markers.some(({ commitId }) => commitId === version)) {
      throw new ServiceError(404, 'There is no such snapshot of this website.');
    }
    return commitsAt(markers, moment, version, async (snapshot, time) => {
      await viewOver(reader, 'asked_coverage', { ...this.#options, table: 'coverage', markers: [snapshot] });
      const at = { time: time.toISOString() };
      const [row] = await reader.engine.rows(listedRow, sql('serve/listed_by'), at);
      return row?.was_listed ?? true;
    });
  }

  async #selected(
    commits: ServedCommits,
    selection: Selection,
    { skip, limit, now }: { skip: number; limit: number; now: number },
  ): Promise<{ entries: Buffer; count: number }> {
    return this.#live.use(async (reader) => {
      await viewListing(reader, this.#options.warehouse, commits);
      const wished = Object.fromEntries(SELECTED_BY.map((name) => [name, selection[name] ?? null]));
      const { count, rows } = await askSelected(reader, 'serve/selected', lineRow, { wished, skip, limit });
      return { entries: entriesOf(Buffer.from(rows.map(({ line }) => `${line}\n`).join('')), now), count };
    });
  }

  async #report(websiteId: string, url: string, moment: Moment): Promise<UrlReport | null> {
    const { markers, commits, end } = await this.#seen(websiteId, { moment, version: null });
    if (!commits) return null;
    const now = this.#past(end);
    // A moment that is still to come has no end that matters, and perhaps none that can be written.
    const until = end === null || end > now ? null : new Date(end).toISOString();
    return this.#files.use(commits, (listing) =>
      this.#reports.report(url, { websiteId, markers, until, listing }, now),
    );
  }

  /** What ages are counted to: now, or the moment that was asked for if that is past. */
  #past(end: number | null): number {
    const now = this.#options.now?.() ?? Date.now();
    return end === null ? now : Math.min(now, end);
  }

  async #endOf(reader: Reader, moment: NonNullable<Moment>): Promise<number> {
    if ('time' in moment) return moment.time.getTime();
    const [row] = await reader.engine.rows(endRow, sql('serve/end_of_date'), {
      date: moment.date,
      time_zone: this.#options.timeZone,
    });
    return row?.ends_at ?? Number.POSITIVE_INFINITY;
  }
}

const SELECTED_BY = [
  'index_summary',
  'index_coverage_state',
  'canonicals_match',
  'url_contains',
  'crawled_before',
  'crawled_after',
  'sort',
] as const satisfies (keyof Selection)[];

/** When the newest walk of a listing began. */
function observedAt({ listing }: ServedCommits): Date {
  return new Date(Math.max(...listing.map(({ snapshotAt }) => Date.parse(snapshotAt))));
}

/** When the newest commit that is shown was made. */
function committedAt({ listing, earlier }: ServedCommits): Date {
  return new Date(Math.max(...[...listing, ...earlier].map((marker) => Date.parse(marker.committedAt))));
}

function parsedEntries({ entries }: ListingWindow): CoverageEntry[] {
  return Buffer.isBuffer(entries) ? z.array(coverageEntrySchema).parse(JSON.parse(entries.toString())) : entries;
}

function nothingThen({ moment }: ListingQuery): ServiceError {
  const when = moment === null ? 'yet' : 'then';
  return new ServiceError(404, `Nothing had been observed of this website ${when}.`);
}
