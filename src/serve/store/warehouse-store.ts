import { z } from 'zod';
import type { Reader } from '../../answers/query/reader.js';
import { ageText } from '../../answers/status/data-age.js';
import { sql } from '../../base/storage/sql.js';
import type { CoverageEntry } from '../../source/contract/coverage.js';
import type { KeyDetails } from '../../source/contract/key.js';
import type { UrlReport } from '../../source/contract/report.js';
import { filesOf, type Marker } from '../../warehouse/log/markers.js';
import { ServiceError } from '../api/errors.js';
import type { ListingQuery, Moment } from '../api/listing-query.js';
import type { WindowBounds } from '../api/pagination.js';
import type {
  FoundReports,
  ListingStream,
  ListingWindow,
  RequestContext,
  ShownState,
  SnapshotWindow,
  Store,
} from '../api/store.js';
import { commitsAt, type ServedCommits } from './commits.js';
import { Listings } from './listing.js';
import type { LiveReader } from './live-reader.js';
import { type KnownPage, knownPages, reportsOf, withHistory } from './reports.js';
import { explained, UnreadableError } from './unreadable.js';

const BATCH_ENTRIES = 5_000;

export interface WarehouseStoreOptions {
  warehouse: string;
  /** Every question goes through it. Its owner closes it. */
  reader: LiveReader;
  /** IANA name: decides when a calendar date ends. */
  timeZone: string;
  findKey(token: string): Promise<KeyDetails | null>;
  /** Path of the dashboard, for pages without a link of their source. Default: `/dashboard`. */
  dashboard?: string;
  /** Milliseconds since 1970: what ages are counted to. */
  now?: () => number;
  /** How many entries of a streamed listing to hold in memory. Default: 5,000. */
  batchEntries?: number;
}

const statusRow = z.object({ snapshot_id: z.string(), listing_status: z.string(), reports_status: z.string() });
const listedRow = z.object({ listed_at: z.coerce.number().nullable() });
const endRow = z.object({ ends_at: z.coerce.number() });

/** Which commits of a website a request sees. */
interface Seen {
  commits: ServedCommits;
  /** Milliseconds since 1970: what ages are counted to. */
  now: number;
  /** When the requested moment ended, if it is in the past. */
  until: number | null;
}
type StateQuery = Pick<ListingQuery, 'moment' | 'version'>;

/**
 * A store over a warehouse: its newest state, or that of any past moment. It reads only Parquet files, takes no lock,
 * and holds no file that a sync needs.
 */
export class WarehouseStore implements Store {
  readonly hasHistory = true;
  readonly findKey: Store['findKey'];
  readonly #listings: Listings;

  constructor(private readonly options: WarehouseStoreOptions) {
    this.findKey = options.findKey;
    this.#listings = new Listings(options.warehouse);
  }

  async hasWebsite(websiteId: string): Promise<boolean> {
    return (await this.options.reader.markersOf(websiteId)).length > 0;
  }

  async dataAge(websiteIds: readonly string[]): ReturnType<NonNullable<Store['dataAge']>> {
    const age = await this.options.reader.dataAge(websiteIds, this.options.now?.() ?? Date.now());
    return age && { asOf: age.as_of, stale: age.old === null ? null : ageText(age) };
  }

  async listCoverage(
    websiteId: string,
    window: WindowBounds,
    query: ListingQuery,
    context: RequestContext,
  ): Promise<ListingWindow> {
    const markers = await this.options.reader.markersOf(websiteId);
    const { selection } = query;
    const kind = (await this.#isQuick(markers, query)) ? 'quick' : 'slow';
    return this.options.reader.ask(context, kind, async (reader) => {
      const seen = await this.#seen(reader, markers, query);
      if (!seen) throw nothingThen(query);
      const { commits, now } = seen;
      try {
        const answer = selection
          ? await this.#listings.selected(reader, commits, { selection, window, now })
          : await this.#listings.window(reader, commits, window, now);
        const linked = this.#linked(markers, answer.entries, context);
        return { ...answer, entries: linked, ...shownState(commits) };
      } catch (cause) {
        const error = explained(cause);
        // The walk took longer than files stay after retention has dropped them: nothing is damaged.
        throw query.version !== null && error instanceof UnreadableError && error.isMissing ? noSuchState() : error;
      }
    });
  }

  /** Reads window by window, so that other keys' questions run in between and a slow client holds nothing. */
  async streamListing(websiteId: string, query: ListingQuery, context: RequestContext): Promise<ListingStream> {
    const limit = this.options.batchEntries ?? BATCH_ENTRIES;
    const read = (skip: number, version: string | null) =>
      this.listCoverage(websiteId, { skip, limit }, { ...query, version }, context);
    const { entries, ...facts } = await read(0, query.version);
    async function* batches(): AsyncGenerator<CoverageEntry[]> {
      yield entries;
      for (let skip = limit; skip < facts.count; skip += limit) {
        yield (await read(skip, facts.version ?? null)).entries;
      }
    }
    return { ...facts, batches: batches() };
  }

  async listSnapshots(websiteId: string, window: WindowBounds, context: RequestContext): Promise<SnapshotWindow> {
    const markers = await this.options.reader.markersOf(websiteId);
    return this.options.reader.ask(context, 'quick', (reader) => snapshotsIn(reader, markers, window));
  }

  async findReports(
    urls: readonly string[],
    websiteIds: readonly string[],
    moment: Moment,
    context: RequestContext,
  ): Promise<FoundReports> {
    return this.options.reader.ask(context, moment === null ? 'quick' : 'slow', async (reader) => {
      const known = await knownPages(reader, urls, websiteIds);
      const reports = new Map<string, UrlReport>();
      const shown: ShownState[] = [];
      for (const websiteId of websiteIds) {
        const pages = known.filter((page) => page.website_id === websiteId && !reports.has(page.url));
        if (pages.length === 0) continue;
        const markers = reader.markersOf(websiteId);
        const seen = await this.#seen(reader, markers, { moment, version: null });
        const found = seen ? await this.#reports(reader, seen, markers, pages) : [];
        for (const report of this.#linked(markers, found, context)) reports.set(report.url, report);
        if (seen && found.length > 0) shown.push(shownState(seen.commits));
      }
      const elsewhere = known.filter((page) => page.is_listed && !websiteIds.includes(page.website_id));
      // Only the state of a single website has a name.
      return { reports, elsewhere: new Set(elsewhere.map(({ url }) => url)), ...(shown.length === 1 ? shown[0] : {}) };
    });
  }

  async #isQuick(markers: readonly Marker[], { moment, version, selection }: ListingQuery): Promise<boolean> {
    if (moment !== null) return false;
    const commits = await commitsAt(markers, null, version, async () => true);
    return commits === null || this.#listings.isQuick(commits, selection);
  }

  /** @throws ServiceError 404 for a state that the website does not have */
  async #seen(reader: Reader, markers: readonly Marker[], { moment, version }: StateQuery): Promise<Seen | null> {
    if (version !== null && !markers.some(({ snapshotId }) => snapshotId === version)) throw noSuchState();
    const commits = await commitsAt(markers, moment, version, async (snapshot, time) => {
      const coverage = filesOf(this.options.warehouse, [snapshot], 'coverage');
      if (coverage.length === 0) return true;
      const [row] = await reader.engine.rows(listedRow, sql('serve/store/last_listed'), { coverage });
      return row?.listed_at === null || row?.listed_at === undefined || row.listed_at <= time.getTime();
    });
    if (!commits) return null;
    const now = this.options.now?.() ?? Date.now();
    const end = moment && (await this.#endOf(reader, moment));
    const until = end === null || end > now ? null : end;
    return { commits, now: until ?? now, until };
  }

  async #reports(reader: Reader, seen: Seen, markers: readonly Marker[], pages: readonly KnownPage[]) {
    const { commits, now, until } = seen;
    const urls = pages.map(({ url }) => url);
    const entries = await this.#listings.of(reader, commits, urls, now);
    if (entries.length === 0) return [];
    // The newest reports are in the snapshots that the state names, so that no other file is opened.
    const named = new Set(pages.map(({ report_snapshot_id }) => report_snapshot_id));
    const held = markers.filter((marker) =>
      until === null ? named.has(marker.snapshotId) : Date.parse(marker.snapshotAt) <= until,
    );
    const reports = await reportsOf(reader, entries, filesOf(this.options.warehouse, held, 'url_reports'), seen);
    if (!markers.at(-1)?.byInspection) return reports;
    const past = markers.filter(({ snapshotAt }) => until === null || Date.parse(snapshotAt) <= until);
    return withHistory(reader, reports, filesOf(this.options.warehouse, past, 'page_versions'));
  }

  /** Pages whose source has no record of them to link to have one in the dashboard. */
  #linked<T extends { url: string; service_link?: string | null | undefined }>(
    markers: readonly Marker[],
    pages: T[],
    { origin = '' }: RequestContext,
  ): T[] {
    const newest = markers.at(-1);
    if (!newest?.byInspection || origin === '') return pages;
    const page = `${origin}${this.options.dashboard ?? '/dashboard'}/websites/${encodeURIComponent(newest.websiteId)}/page`;
    return pages.map((one) => ({ ...one, service_link: `${page}?url=${encodeURIComponent(one.url)}` }));
  }

  async #endOf(reader: Reader, moment: NonNullable<Moment>): Promise<number> {
    if ('time' in moment) return moment.time.getTime();
    const asked = { date: moment.date, time_zone: this.options.timeZone };
    const [row] = await reader.engine.rows(endRow, sql('serve/store/end_of_date'), asked);
    return row?.ends_at ?? Number.POSITIVE_INFINITY;
  }
}

function shownState({ version, listing }: ServedCommits): Required<ShownState> {
  const observedAt = new Date(Math.max(...listing.map(({ snapshotAt }) => Date.parse(snapshotAt))));
  return { version, observedAt };
}

function noSuchState(): ServiceError {
  return new ServiceError(404, 'There is no such snapshot of this website.');
}

function nothingThen({ moment }: StateQuery): ServiceError {
  const when = moment === null ? 'yet' : 'then';
  return new ServiceError(404, `Nothing had been observed of this website ${when}.`);
}

/**
 * Some of a website's snapshots, newest first, without those whose listing retention dropped.
 *
 * @param markers of the website, oldest first; the files of those outside the window are not read
 */
async function snapshotsIn(
  reader: Reader,
  markers: readonly Marker[],
  { skip, limit }: WindowBounds,
): Promise<SnapshotWindow> {
  const kept = markers.filter(({ dropped }) => !Object.hasOwn(dropped, 'coverage'));
  const shown = kept.toReversed().slice(skip, skip + limit);
  const paths = shown.map(({ path }) => path);
  const files = reader.filled('snapshots', paths);
  const rows = await reader.engine.rows(statusRow, sql('serve/store/snapshot_statuses'), { files });
  const statusOf = new Map(rows.map(({ snapshot_id, ...status }) => [snapshot_id, status]));
  const snapshots = shown.map(({ snapshotId, snapshotAt, date, files }) => ({
    id: snapshotId,
    time: snapshotAt,
    date,
    listing_status: statusOf.get(snapshotId)?.listing_status ?? '',
    reports_status: statusOf.get(snapshotId)?.reports_status ?? '',
    pages: files['coverage']?.rows ?? 0,
    reports: files['url_reports']?.rows ?? 0,
  }));
  return { snapshots, count: kept.length };
}
