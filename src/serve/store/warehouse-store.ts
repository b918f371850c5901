import { z } from 'zod';
import type { Reader } from '../../answers/query/reader.js';
import { ageText } from '../../answers/status/data-age.js';
import { sql } from '../../base/storage/sql.js';
import type { KeyDetails } from '../../source/contract/key.js';
import type { UrlReport } from '../../source/contract/report.js';
import { filesOf, type Marker } from '../../warehouse/log/markers.js';
import { ServiceError } from '../api/errors.js';
import type { WindowBounds } from '../api/pagination.js';
import type { ListingWindow, Moment, RequestContext, ShownState, StateQuery, Store } from '../api/store.js';
import { commitsAt, type ServedCommits } from './commits.js';
import { type KnownPage, Listings, reportOf, websitesOf, withHistory } from './listing.js';
import { explained, type LiveReader, UnreadableError } from './live-reader.js';

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
}

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
    query: StateQuery,
    context: RequestContext,
  ): Promise<ListingWindow> {
    const markers = await this.options.reader.markersOf(websiteId);
    const kind = (await this.#isQuick(markers, query)) ? 'quick' : 'slow';
    return this.options.reader.ask(context, kind, async (reader) => {
      const seen = await this.#seen(reader, markers, query);
      if (!seen) {
        const when = query.moment === null ? 'yet' : 'then';
        throw new ServiceError(404, `Nothing had been observed of this website ${when}.`);
      }
      const { commits, now } = seen;
      try {
        const answer = await this.#listings.window(reader, commits, window, now);
        const entries = answer.entries.map((entry) => this.#linked(markers, entry, context));
        return { ...answer, entries, ...shownState(commits) };
      } catch (cause) {
        const error = explained(cause);
        // The walk took longer than files stay after retention has dropped them: nothing is damaged.
        throw query.version !== null && error instanceof UnreadableError && error.isMissing ? noSuchState() : error;
      }
    });
  }

  async findReport(
    url: string,
    websiteIds: readonly string[],
    moment: Moment,
    context: RequestContext,
  ): ReturnType<Store['findReport']> {
    return this.options.reader.ask(context, moment === null ? 'quick' : 'slow', async (reader) => {
      const known = await websitesOf(reader, url, websiteIds);
      for (const page of websiteIds.flatMap((id) => known.find(({ website_id }) => website_id === id) ?? [])) {
        const markers = reader.markersOf(page.website_id);
        const seen = await this.#seen(reader, markers, { moment, version: null });
        const report = seen && (await this.#report(reader, seen, markers, { ...page, url }));
        if (report) return { report: this.#linked(markers, report, context), ...shownState(seen.commits) };
      }
      const isElsewhere = known.some(({ website_id, is_listed }) => is_listed && !websiteIds.includes(website_id));
      return isElsewhere ? 'elsewhere' : null;
    });
  }

  async #isQuick(markers: readonly Marker[], { moment, version }: StateQuery): Promise<boolean> {
    if (moment !== null) return false;
    const commits = await commitsAt(markers, null, version, async () => true);
    return commits === null || this.#listings.isQuick(commits);
  }

  /** @throws ServiceError 404 for a state that the website does not have */
  async #seen(reader: Reader, markers: readonly Marker[], { moment, version }: StateQuery): Promise<Seen | null> {
    if (version !== null && !markers.some(({ snapshotId }) => snapshotId === version)) throw noSuchState();
    const commits = await commitsAt(markers, moment, version, async (snapshot, time) => {
      const coverage = filesOf(this.options.warehouse, [snapshot], 'coverage');
      if (coverage.length === 0) return true;
      const [row] = await reader.rows(listedRow, sql('serve/store/last_listed'), { coverage });
      return row?.listed_at === null || row?.listed_at === undefined || row.listed_at <= time.getTime();
    });
    if (!commits) return null;
    const now = this.options.now?.() ?? Date.now();
    const end = moment && (await this.#endOf(reader, moment));
    const until = end === null || end > now ? null : end;
    return { commits, now: until ?? now, until };
  }

  async #report(
    reader: Reader,
    seen: Seen,
    markers: readonly Marker[],
    { url, report_snapshot_id }: KnownPage & { url: string },
  ): Promise<UrlReport | null> {
    const { commits, now, until } = seen;
    const { warehouse } = this.options;
    const entry = await this.#listings.of(reader, commits, url, now);
    if (!entry) return null;
    const past = markers.filter(({ snapshotAt }) => until === null || Date.parse(snapshotAt) <= until);
    // The state names the snapshot with the newest report, so that no other file is opened.
    const held = until === null ? markers.filter(({ snapshotId }) => snapshotId === report_snapshot_id) : past;
    const report = await reportOf(reader, entry, filesOf(warehouse, held, 'url_reports'), seen);
    if (!markers.at(-1)?.byInspection) return report;
    return withHistory(reader, report, filesOf(warehouse, past, 'page_versions'));
  }

  /** A page whose source has no record of it to link to has one in the dashboard. */
  #linked<T extends { url: string; service_link?: string | null | undefined }>(
    markers: readonly Marker[],
    page: T,
    { origin = '' }: RequestContext,
  ): T {
    const newest = markers.at(-1);
    if (!newest?.byInspection || origin === '') return page;
    const website = `${origin}${this.options.dashboard ?? '/dashboard'}/websites/${encodeURIComponent(newest.websiteId)}`;
    return { ...page, service_link: `${website}/page?url=${encodeURIComponent(page.url)}` };
  }

  async #endOf(reader: Reader, moment: NonNullable<Moment>): Promise<number> {
    if ('time' in moment) return moment.time.getTime();
    const asked = { date: moment.date, time_zone: this.options.timeZone };
    const [row] = await reader.rows(endRow, sql('serve/store/end_of_date'), asked);
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
