import { counted } from '../../base/observe/format.js';
import { codeOf } from '../../base/storage/durable.js';
import { SourceError, TooLate } from '../errors.js';
import { type PageTraffic, TRAFFIC_WINDOWS, type TrafficWindow } from './calls.js';
import { addressOf, isOfProperty, isOnHostOf, robotsOf } from './property.js';
import { SiteError, type SiteFetch } from './site-fetch.js';
import { type Entry, readSitemap } from './sitemap.js';

/** Files that are read at the same time. */
const WIDTH = 4;
/** An index may list indexes, and these sitemaps. */
const MAX_DEPTH = 2;
const MAX_FILES = 50_000;
/** As much of a robots.txt as search engines read. */
const MOST_ROBOTS_BYTES = 500 * 1024;
/** A site that is down is asked no further: each of its files would wait for a timeout. */
const MAX_PROBLEMS = 100;
/** Of the places that are left, the first are named. */
const MOST_NAMED = 3;
const TOO_LATE = 'not read in time (reports.deadline, 4 hours at most); find out what is slow, or list fewer';

/** What one place says about one page. The address has the form of the WHATWG URL standard, without fragment. */
export interface Sighting {
  url: string;
  sitemap?: string;
  /** As `toISOString` writes it; left out if unreadable. */
  lastmod?: string;
  traffic?: Omit<PageTraffic, 'url'> & { window: TrafficWindow };
}

export interface UniverseDeps {
  property: string;
  /** `auto`: those that Search Console and robots.txt list. */
  sitemaps: 'auto' | readonly string[];
  listSitemaps(): Promise<readonly string[]>;
  /** An array for each answer of search analytics. */
  traffic(window: TrafficWindow): AsyncIterable<readonly PageTraffic[]>;
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
  readonly #seen = new Set<string>();
  /** The places that were not read in time. */
  readonly #late: string[] = [];
  readonly #queue: [name: string, job: () => Promise<Sighting[]>][] = [];

  constructor(private readonly deps: UniverseDeps) {}

  /** A page once for each place that shows it, in batches. Read once. @throws `Stopped`; SourceError `unauthorized` */
  async *sightings(): AsyncGenerator<Sighting[]> {
    const { property, sitemaps } = this.deps;
    for (const window of TRAFFIC_WINDOWS) yield* this.#traffic(window);
    if (sitemaps === 'auto') {
      this.#queue.push([`the list of sitemaps of ${property} in Search Console`, () => this.#listed()]);
      for (const url of robotsOf(property)) this.#queue.push([url, () => this.#robots(url)]);
    } else for (const url of sitemaps) this.#addListed(url, 'the configuration', this.problems);
    while (this.#queue.length > 0 && this.problems.length < MAX_PROBLEMS) {
      const some = this.#queue.splice(0, WIDTH);
      yield* await Promise.all(some.map(([name, job]) => job().catch((error) => this.#failed(name, error))));
    }
    const queued = this.#queue.map(([name]) => name);
    if (queued.length > 0) this.problems.push(this.#left(queued, 'not read after all these; solve them first'));
    // First, because only the first problems are named as the reason of a partial listing.
    if (this.#late.length > 0) this.problems.unshift(this.#left(this.#late, TOO_LATE));
  }

  #left(places: readonly string[], why: string): string {
    const some = `${places.slice(0, MOST_NAMED).join(', ')}${places.length > MOST_NAMED ? ' …' : ''}`;
    return `${counted(places.length, 'place')} of ${this.deps.property} (${some}) ${why}`;
  }

  async *#traffic(window: TrafficWindow): AsyncGenerator<Sighting[]> {
    try {
      for await (const rows of this.deps.traffic(window)) {
        yield rows.flatMap(({ url, ...figures }) => this.#sighting(url, { traffic: { window, ...figures } }));
      }
    } catch (error) {
      this.#failed(`search analytics (${window}) of ${this.deps.property}`, error);
    }
  }

  /** What one place fails with becomes a problem or a note. */
  #failed(name: string, error: unknown): Sighting[] {
    if (error instanceof SiteError) (error.harmless ? this.notes : this.problems).push(`${name} ${error.message}`);
    else if (error instanceof TooLate) this.#late.push(name);
    else if (!(error instanceof SourceError) || error.kind === 'unauthorized') throw error;
    else this.problems.push(`${name} cannot be read: ${error.message}`);
    return [];
  }

  async #listed(): Promise<Sighting[]> {
    for (const one of await this.deps.listSitemaps()) this.#addListed(one, 'Search Console');
    return [];
  }

  async #robots(robots: string): Promise<Sighting[]> {
    const { status, found } = await this.#get(robots, beginningOf).catch((error) => {
      // Of a domain and its `www` one may have no server.
      if (error instanceof SourceError && codeOf(error.cause) === 'ENOTFOUND') return { status: 404, found: null };
      throw error;
    });
    if (status >= 500 || status === 429) throw refusal(status);
    // A line at a time: `\s` and `^` of one expression for all meet at line separators, which takes for ever.
    for (const line of found?.split(/[\r\n]+/) ?? []) {
      const named = /^\s*sitemap\s*:([^#]+)/i.exec(line)?.[1];
      if (named) this.#addListed(addressOf(named.trim(), robots) ?? named, robots);
    }
    return [];
  }

  async #file(file: string, depth: number): Promise<Sighting[]> {
    const pages: Sighting[] = [];
    let foreign = 0;
    const take = ({ loc = '', lastmod }: Entry, isIndex: boolean) => {
      if (isIndex && depth === MAX_DEPTH) throw new SiteError('is an index below two others; list its sitemaps there');
      const found = isIndex ? [] : this.#sighting(loc, { sitemap: file, ...timeOf(lastmod) });
      pages.push(...found);
      if (found.length === 0 && !(isIndex && this.#add(loc, depth + 1))) foreign++;
    };
    const { status } = await this.#get(file, (pieces) => readSitemap(pieces, take));
    if (status === 404 || status === 410) {
      throw new SiteError(`answered ${status}, so it counts as empty: list it no longer`, true);
    }
    if (status !== 200) throw refusal(status);
    if (foreign > 0) this.notes.push(`${file} has ${counted(foreign, 'link')} out of the property, passed over`);
    return pages;
  }

  #get<T>(url: string, read: (pieces: AsyncIterable<Buffer>) => Promise<T>) {
    const { property, site, notAfter } = this.deps;
    return site.get(url, { isAllowed: (to) => isOnHostOf(property, to), notAfter, read });
  }

  #addListed(address: string, where: string, findings = this.notes): void {
    if (this.#add(address, 0)) return;
    findings.push(
      `${address}, listed in ${where}, is on no host of ${this.deps.property} and was not read; correct it`,
    );
  }

  /** Each file once. @returns whether it may be read */
  #add(address: string, depth: number): boolean {
    const file = addressOf(address);
    if (file === null || !isOnHostOf(this.deps.property, file)) return false;
    if (this.#seen.has(file)) return true;
    if (this.#seen.size === MAX_FILES) throw new SiteError(`is one too many: more than ${MAX_FILES} files; list fewer`);
    this.#seen.add(file);
    this.#queue.push([file, () => this.#file(file, depth)]);
    return true;
  }

  #sighting(address: string, found: Omit<Sighting, 'url'>): Sighting[] {
    const url = addressOf(address);
    return url !== null && isOfProperty(this.deps.property, url) ? [{ url, ...found }] : [];
  }
}

async function beginningOf(pieces: AsyncIterable<Buffer>): Promise<string> {
  const read: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    read.push(piece);
    bytes += piece.length;
    if (bytes >= MOST_ROBOTS_BYTES) break;
  }
  return Buffer.concat(read).toString('utf8', 0, MOST_ROBOTS_BYTES);
}

function refusal(status: number): SiteError {
  return new SiteError(`answered ${status}; let it answer 200 to indexhouse, or 404 if it is gone`);
}

function timeOf(lastmod = ''): Pick<Sighting, 'lastmod'> {
  // Without a zone it would be read in this machine's own.
  const at = /^\d{4}-/.test(lastmod) ? new Date(/[T ][\d:.]+$/.test(lastmod) ? `${lastmod}Z` : lastmod) : null;
  return at === null || Number.isNaN(at.getTime()) ? {} : { lastmod: at.toISOString() };
}
