import { Stopped } from '../../base/exit.js';
import { counted } from '../../base/observe/format.js';
import { codeOf } from '../../base/storage/durable.js';
import { addressOf, keyOf } from '../../base/url.js';
import { SourceError, TooLate } from '../errors.js';
import type { Searched } from '../source.js';
import { type Body, beginningOf, checkNotGone, SiteError } from './body.js';
import type { SubmittedSitemap } from './google-client.js';
import { addFinding, type ListingSource, newSource, SEARCH_ANALYTICS } from './listing-source.js';
import { guessedRobotsOf, isOfProperty, isOnHostOf } from './property.js';
import type { SiteFetch } from './site-fetch.js';
import { count, FLAWS, type Flaws, readSitemap } from './sitemap.js';

/** Files that are read at the same time. */
const WIDTH = 4;
/** An index may list indexes, and these sitemaps. */
const MAX_DEPTH = 2;
const MAX_FILES = 50_000;
/** Hosts of pages whose robots.txt is read. */
const MAX_HOSTS = 50;
/** A site that refuses this many files, or does not answer, is asked no further: each would wait for a timeout. */
const MAX_UNANSWERED = 100;
/** Of the places that are left, the first are named. */
const MOST_NAMED = 3;
/** What a file is named by that the user listed. */
const CONFIGURATION = 'the configuration';
const TOO_LATE = 'not read in time (reports.deadline, 4 hours at most); find out what is slow, or list fewer';

/** What one place says about one page. */
export interface Sighting {
  /** Its identity, as `keyOf` makes it. */
  url: string;
  /** Its address as the place writes it, in the form of `addressOf`; left out if it is `url`. */
  spelling?: string;
  sitemap?: string;
  /** As `toISOString` writes it; left out if unreadable. */
  lastmod?: string;
}

export interface UniverseDeps {
  property: string;
  /** `auto`: those that Search Console and robots.txt list. */
  sitemaps: 'auto' | readonly string[];
  listSitemaps(): Promise<readonly SubmittedSitemap[]>;
  /** What was read of search analytics, if anything. */
  searched: Searched | null;
  site: SiteFetch;
  /** When the listing ends with what was read by then, in milliseconds since 1970. */
  notAfter: number;
}

/** A property's pages: those of its sitemaps, and those with impressions. Memory does not grow with their number. */
export class Universe {
  /** What could not be read, one sentence each: the listing is partial. Whole after `sightings`. */
  readonly problems: string[] = [];
  /** What harms nothing. Whole after `sightings`. */
  readonly notes: string[] = [];
  /** Every place that was read or should have been. Whole after `sightings`. */
  readonly sources: ListingSource[] = [];
  readonly #files = new Map<string, ListingSource>();
  /** Hosts that have pages. */
  readonly #hosts = new Set<string>();
  /** The robots.txt of hosts that may have pages, and what reading it failed with. */
  readonly #guesses = new Map<string, { source: ListingSource; error: unknown }>();
  /** The places that were not read in time. */
  readonly #late: ListingSource[] = [];
  #unanswered = 0;
  readonly #queue: [source: ListingSource, job: () => Promise<Sighting[]>][] = [];

  constructor(private readonly deps: UniverseDeps) {}

  /** A page once for each place that shows it, in batches. Read once. @throws `Stopped`; SourceError `unauthorized` */
  async *sightings(): AsyncGenerator<Sighting[]> {
    const { property, sitemaps } = this.deps;
    const guesses = sitemaps === 'auto' ? guessedRobotsOf(property) : [];
    for (const robots of guesses) {
      const source = newSource(robots, 'robots_txt', []);
      this.#guesses.set(new URL(robots).host, { source, error: null });
      this.#queue.push([source, () => this.#guess(source)]);
    }
    if (guesses.length === 0) this.#visit(property);
    this.#addSearched();
    if (sitemaps === 'auto') {
      const list = this.#newSource('Search Console', 'search_console');
      this.#queue.unshift([list, () => this.#listed(list)]);
    } else for (const url of sitemaps) this.#addConfigured(url);
    while (this.#queue.length > 0 && this.#unanswered < MAX_UNANSWERED) {
      const some = this.#queue.splice(0, WIDTH);
      yield* await Promise.all(some.map(([source, job]) => job().catch((error) => this.#failed(source, error))));
    }
    this.#conclude();
  }

  #conclude(): void {
    for (const [host, { source, error }] of this.#guesses) {
      if (!this.#hosts.has(host) && source.http_status !== 200) continue;
      this.sources.push(source);
      if (error && this.#hosts.has(host)) this.#failed(source, error);
    }
    const queued = this.#queue.map(([source]) => source);
    for (const source of queued) addFinding(source, 'error', 'was not read, as too much else failed');
    if (queued.length > 0) this.problems.push(this.#left(queued, 'not read after all these; solve them first'));
    // First, because only the first problems are named as the reason of a partial listing.
    if (this.#late.length > 0) this.problems.unshift(this.#left(this.#late, TOO_LATE));
  }

  #left(places: readonly ListingSource[], why: string): string {
    const named = places.slice(0, MOST_NAMED).map((place) => this.#titleOf(place));
    const some = `${named.join(', ')}${places.length > MOST_NAMED ? ' …' : ''}`;
    return `${counted(places.length, 'place')} of ${this.deps.property} (${some}) ${why}`;
  }

  #addSearched(): void {
    const { searched } = this.deps;
    const analytics = this.#newSource(SEARCH_ANALYTICS, 'search_analytics');
    if (searched === null) return;
    analytics.entries = searched.entries;
    if (searched.error !== null) this.#find(analytics, 'error', searched.error);
    if (searched.remark !== null) this.#find(analytics, 'remark', searched.remark);
    for (const page of searched.hosts) this.#visit(page);
  }

  #newSource(name: string, kind: ListingSource['kind'], namedBy: readonly string[] = []): ListingSource {
    const source = newSource(name, kind, namedBy);
    this.sources.push(source);
    return source;
  }

  #titleOf({ source, kind }: ListingSource): string {
    if (kind === 'search_console') return `the list of sitemaps of ${this.deps.property} in Search Console`;
    return kind === 'search_analytics' ? `${source} of ${this.deps.property}` : source;
  }

  #find(source: ListingSource, what: 'error' | 'remark', text: string): void {
    addFinding(source, what, text);
    (what === 'error' ? this.problems : this.notes).push(`${this.#titleOf(source)} ${text}`);
  }

  /** What one place fails with. */
  #failed(source: ListingSource, error: unknown, where = ''): Sighting[] {
    if (error instanceof SiteError) this.#find(source, error.harmless ? 'remark' : 'error', where + error.message);
    else if (error instanceof TooLate) {
      addFinding(source, 'error', 'was not read in time');
      this.#late.push(source);
    } else if (!(error instanceof SourceError) || error.kind === 'unauthorized') throw error;
    else {
      this.#unanswered++;
      this.#find(source, 'error', `${where}cannot be read: ${error.message}`);
    }
    return [];
  }

  async #listed(list: ListingSource): Promise<Sighting[]> {
    for (const { path, ...facts } of await this.deps.listSitemaps()) {
      list.entries++;
      const file = this.#addListed(path, list);
      if (file) Object.assign(file, facts);
    }
    return [];
  }

  /** A robots.txt where nobody said that there is a site: what it fails with matters only if pages are found there. */
  async #guess(source: ListingSource): Promise<Sighting[]> {
    try {
      return await this.#robots(source);
    } catch (error) {
      if (error instanceof Stopped) throw error;
      this.#guesses.set(new URL(source.source).host, { source, error });
      return [];
    }
  }

  async #robots(source: ListingSource): Promise<Sighting[]> {
    const robots = source.source;
    const { status, found } = await this.#get(source, beginningOf).catch((error) => {
      // A host that is no more may have had impressions.
      if (error instanceof SourceError && codeOf(error.cause) === 'ENOTFOUND') return { status: 404, found: null };
      throw error;
    });
    if (status >= 500 || [401, 403, 429].includes(status)) throw refusal(status);
    // A line at a time: `\s` and `^` of one expression for all meet at line separators, which takes for ever.
    for (const line of found?.split(/[\r\n]+/) ?? []) {
      const named = /^\s*sitemap\s*:([^#]+)/i.exec(line)?.[1];
      if (!named) continue;
      source.entries++;
      this.#addListed(addressOf(named.trim(), robots) ?? named.trim(), source);
    }
    return [];
  }

  /** What can be read of a file counts, whatever else is wrong with it. */
  async #file(source: ListingSource, depth: number): Promise<Sighting[]> {
    const file = source.source;
    let [pages, flaws, news]: [Sighting[], Flaws, number] = [[], new Map(), 0];
    const read = (body: Body) => {
      [pages, flaws, news, source.entries] = [[], new Map(), 0, 0];
      return readSitemap(body, ({ isSitemap, addresses, lastmod, isNews }) => {
        source.entries++;
        if (isNews) news++;
        if (isSitemap) source.kind = 'index';
        if (isSitemap && depth === MAX_DEPTH)
          throw new SiteError('is an index below two others; list its sitemaps there');
        if (addresses.length === 0) count(flaws, 'missing');
        for (const address of addresses) {
          const found = isSitemap ? [] : this.#sighting(address, { sitemap: file, ...timeOf(lastmod) });
          pages.push(...found);
          if (found.length > 0 || (isSitemap && this.#add(address, depth + 1, source, body.url))) continue;
          count(flaws, /^[a-z][a-z\d+.-]*:/i.test(address) ? 'foreign' : 'relative', address);
        }
      });
    };
    try {
      const { status } = await this.#get(source, read);
      checkNotGone(status);
      if (status !== 200) {
        this.#unanswered++;
        throw refusal(status);
      }
    } catch (error) {
      this.#failed(source, error);
    }
    source.is_news = news > 0 && 2 * news >= source.entries;
    for (const [flaw, { entries, first }] of flaws) {
      this.#find(source, flaw === 'foreign' ? 'remark' : 'error', FLAWS[flaw](entries, first));
    }
    return pages;
  }

  async #get<T>(source: ListingSource, read: (body: Body) => Promise<T>) {
    const { site, notAfter } = this.deps;
    const answer = await site.get(source.source, { notAfter, read });
    source.http_status = answer.status;
    return answer;
  }

  #addListed(address: string, where: ListingSource): ListingSource | null {
    const file = this.#add(address, 0, where);
    if (file === null) this.#find(where, 'remark', `lists ${address}, which is no address of a file; correct it`);
    return file;
  }

  #addConfigured(address: string): void {
    if (this.#add(address, 0, null) !== null) return;
    const file = this.#newSource(address, 'sitemap', [CONFIGURATION]);
    this.#find(file, 'error', `is no address of a file; correct it in ${CONFIGURATION}`);
  }

  /**
   * Each file once.
   *
   * @param where what names it; null: the configuration
   * @param index where an index was found that names it: it may name only files on its own host and those of the property
   * @returns null if it may not be read
   */
  #add(address: string, depth: number, where: ListingSource | null, index?: string): ListingSource | null {
    const file = addressOf(address);
    if (file === null) return null;
    if (index && !isOnHostOf(this.deps.property, file) && new URL(file).host !== new URL(index).host) return null;
    const name = where?.source ?? CONFIGURATION;
    const known = this.#files.get(file);
    if (known) {
      if (!known.named_by.includes(name)) known.named_by.push(name);
      return known;
    }
    if (this.#files.size === MAX_FILES)
      throw new SiteError(`is one too many: more than ${MAX_FILES} files; list fewer`);
    const source = this.#newSource(file, 'sitemap', [name]);
    this.#files.set(file, source);
    this.#queue.push([source, () => this.#file(source, depth)]);
    return source;
  }

  #sighting(address: string, found: Omit<Sighting, 'url'>): Sighting[] {
    const [url, spelling] = [keyOf(address), addressOf(address)];
    if (url === null || spelling === null || !isOfProperty(this.deps.property, url)) return [];
    this.#visit(url);
    return [{ url, ...(spelling === url ? {} : { spelling }), ...found }];
  }

  /** The robots.txt of each host with pages may list sitemaps. */
  #visit(page: string): void {
    const { host, origin } = new URL(page);
    if (this.deps.sitemaps !== 'auto' || this.#hosts.has(host) || this.#hosts.size === MAX_HOSTS) return;
    this.#hosts.add(host);
    if (this.#guesses.has(host)) return;
    const robots = this.#newSource(`${origin}/robots.txt`, 'robots_txt');
    this.#queue.push([robots, () => this.#robots(robots)]);
  }
}

function refusal(status: number): SiteError {
  return new SiteError(`answered ${status}; let it answer 200 to indexhouse, or 404 if it is gone`);
}

function timeOf(lastmod = ''): Pick<Sighting, 'lastmod'> {
  if (!/^\d{4}-|^\w{3}, \d/.test(lastmod)) return {};
  // Without a zone it would be read in this machine's own.
  const at = new Date(lastmod.replace(/T[\d:.]+$/, '$&Z').replace(/ ([\d:.]+|[AP]M)$|-\d$/i, '$& Z'));
  return Number.isNaN(at.getTime()) ? {} : { lastmod: at.toISOString() };
}
