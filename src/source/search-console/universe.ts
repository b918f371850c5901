import { Stopped } from '../../base/exit.js';
import { counted } from '../../base/observe/format.js';
import { codeOf } from '../../base/storage/durable.js';
import { SourceError, TooLate } from '../errors.js';
import { type Body, beginningOf } from './body.js';
import { type PageTraffic, TRAFFIC_WINDOWS, type TrafficWindow } from './calls.js';
import { addressOf, guessedRobotsOf, isOfProperty, isOnHostOf } from './property.js';
import { SiteError } from './site-error.js';
import type { SiteFetch } from './site-fetch.js';
import { readSitemap } from './sitemap.js';

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

/** What is wrong with some entries of a sitemap: how many they are, and the address of the first. */
type Flaws = Map<keyof typeof FLAWS, { entries: number; first: string }>;

const FLAWS = {
  missing: (entries: number) => `has no address in ${counted(entries, 'place')}; correct what writes it`,
  relative: (entries: number, first: string) =>
    `has ${counted(entries, 'relative link')} (${first.slice(0, 200)}); write them with https:// and the host`,
  foreign: (entries: number) => `has ${counted(entries, 'link')} out of the property, passed over`,
} as const;

/** A property's pages: those of its sitemaps, and those with impressions. Memory does not grow with their number. */
export class Universe {
  /** What could not be read, one sentence each: the listing is partial. Whole after `sightings`. */
  readonly problems: string[] = [];
  /** What harms nothing. Whole after `sightings`. */
  readonly notes: string[] = [];
  readonly #seen = new Set<string>();
  /** Hosts that have pages. */
  readonly #hosts = new Set<string>();
  /** Hosts that may have pages, and what reading their robots.txt failed with. */
  readonly #guesses = new Map<string, unknown>();
  /** The places that were not read in time. */
  readonly #late: string[] = [];
  #unanswered = 0;
  readonly #queue: [name: string, job: () => Promise<Sighting[]>][] = [];

  constructor(private readonly deps: UniverseDeps) {}

  /** A page once for each place that shows it, in batches. Read once. @throws `Stopped`; SourceError `unauthorized` */
  async *sightings(): AsyncGenerator<Sighting[]> {
    const { property, sitemaps } = this.deps;
    const guesses = sitemaps === 'auto' ? guessedRobotsOf(property) : [];
    for (const robots of guesses) this.#guesses.set(new URL(robots).host, null);
    if (guesses.length === 0) this.#visit(property);
    for (const window of TRAFFIC_WINDOWS) yield* this.#traffic(window);
    if (sitemaps === 'auto') {
      this.#queue.push([`the list of sitemaps of ${property} in Search Console`, () => this.#listed()]);
    } else for (const url of sitemaps) this.#addListed(url, 'the configuration', this.problems);
    for (const robots of guesses) this.#queue.push([robots, () => this.#guess(robots)]);
    while (this.#queue.length > 0 && this.#unanswered < MAX_UNANSWERED) {
      const some = this.#queue.splice(0, WIDTH);
      yield* await Promise.all(some.map(([name, job]) => job().catch((error) => this.#failed(name, error))));
    }
    this.#conclude(guesses);
  }

  #conclude(guesses: readonly string[]): void {
    for (const robots of guesses) {
      const { host } = new URL(robots);
      if (this.#hosts.has(host) && this.#guesses.get(host)) this.#failed(robots, this.#guesses.get(host));
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
    else {
      this.#unanswered++;
      this.problems.push(`${name} cannot be read: ${error.message}`);
    }
    return [];
  }

  async #listed(): Promise<Sighting[]> {
    for (const one of await this.deps.listSitemaps()) this.#addListed(one, 'Search Console');
    return [];
  }

  /** A robots.txt where nobody said that there is a site: what it fails with matters only if pages are found there. */
  async #guess(robots: string): Promise<Sighting[]> {
    try {
      return await this.#robots(robots);
    } catch (error) {
      if (error instanceof Stopped) throw error;
      this.#guesses.set(new URL(robots).host, error);
      return [];
    }
  }

  async #robots(robots: string): Promise<Sighting[]> {
    const { status, found } = await this.#get(robots, beginningOf).catch((error) => {
      // A host that is no more may have had impressions.
      if (error instanceof SourceError && codeOf(error.cause) === 'ENOTFOUND') return { status: 404, found: null };
      throw error;
    });
    if (status >= 500 || [401, 403, 429].includes(status)) throw refusal(status);
    // A line at a time: `\s` and `^` of one expression for all meet at line separators, which takes for ever.
    for (const line of found?.split(/[\r\n]+/) ?? []) {
      const named = /^\s*sitemap\s*:([^#]+)/i.exec(line)?.[1];
      if (named) this.#addListed(addressOf(named.trim(), robots) ?? named, robots);
    }
    return [];
  }

  /** What can be read of a file counts, whatever else is wrong with it. */
  async #file(file: string, depth: number): Promise<Sighting[]> {
    let [pages, flaws]: [Sighting[], Flaws] = [[], new Map()];
    const read = (body: Body) => {
      [pages, flaws] = [[], new Map()];
      return readSitemap(body, ({ isSitemap, addresses, lastmod }) => {
        if (isSitemap && depth === MAX_DEPTH)
          throw new SiteError('is an index below two others; list its sitemaps there');
        if (addresses.length === 0) count(flaws, 'missing');
        for (const address of addresses) {
          const found = isSitemap ? [] : this.#sighting(address, { sitemap: file, ...timeOf(lastmod) });
          pages.push(...found);
          if (found.length > 0 || (isSitemap && this.#add(address, depth + 1, body.url))) continue;
          count(flaws, /^[a-z][a-z\d+.-]*:/i.test(address) ? 'foreign' : 'relative', address);
        }
      });
    };
    try {
      const { status } = await this.#get(file, read);
      if (status === 404 || status === 410) {
        throw new SiteError(`answered ${status}, so it counts as empty: list it no longer`, true);
      }
      if (status !== 200) {
        this.#unanswered++;
        throw refusal(status);
      }
    } catch (error) {
      this.#failed(file, error);
    }
    for (const [flaw, { entries, first }] of flaws) {
      (flaw === 'foreign' ? this.notes : this.problems).push(`${file} ${FLAWS[flaw](entries, first)}`);
    }
    return pages;
  }

  #get<T>(url: string, read: (body: Body) => Promise<T>) {
    const { site, notAfter } = this.deps;
    return site.get(url, { notAfter, read });
  }

  #addListed(address: string, where: string, findings = this.notes): void {
    if (!this.#add(address, 0)) findings.push(`${address}, listed in ${where}, is no address of a file; correct it`);
  }

  /**
   * Each file once.
   *
   * @param index where an index was found that names it: it may name only files on its own host and those of the property
   * @returns whether it may be read
   */
  #add(address: string, depth: number, index?: string): boolean {
    const file = addressOf(address);
    if (file === null) return false;
    if (index && !isOnHostOf(this.deps.property, file) && new URL(file).host !== new URL(index).host) return false;
    if (this.#seen.has(file)) return true;
    if (this.#seen.size === MAX_FILES) throw new SiteError(`is one too many: more than ${MAX_FILES} files; list fewer`);
    this.#seen.add(file);
    this.#queue.push([file, () => this.#file(file, depth)]);
    return true;
  }

  #sighting(address: string, found: Omit<Sighting, 'url'>): Sighting[] {
    const url = addressOf(address);
    if (url === null || !isOfProperty(this.deps.property, url)) return [];
    this.#visit(url);
    return [{ url, ...found }];
  }

  /** The robots.txt of each host with pages may list sitemaps. */
  #visit(page: string): void {
    const { host, origin } = new URL(page);
    if (this.deps.sitemaps !== 'auto' || this.#hosts.has(host) || this.#hosts.size === MAX_HOSTS) return;
    this.#hosts.add(host);
    const robots = `${origin}/robots.txt`;
    if (!this.#guesses.has(host)) this.#queue.push([robots, () => this.#robots(robots)]);
  }
}

function count(flaws: Flaws, flaw: keyof typeof FLAWS, address = ''): void {
  const { entries, first } = flaws.get(flaw) ?? { entries: 0, first: address };
  flaws.set(flaw, { entries: entries + 1, first });
}

function refusal(status: number): SiteError {
  return new SiteError(`answered ${status}; let it answer 200 to indexhouse, or 404 if it is gone`);
}

function timeOf(lastmod = ''): Pick<Sighting, 'lastmod'> {
  // Without a zone it would be read in this machine's own.
  const at = /^\d{4}-|^\w{3}, \d/.test(lastmod)
    ? new Date(/[T ][\d:.]+$/.test(lastmod) ? `${lastmod}Z` : lastmod)
    : null;
  return at === null || Number.isNaN(at.getTime()) ? {} : { lastmod: at.toISOString() };
}
