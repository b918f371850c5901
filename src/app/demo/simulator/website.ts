import { REMOVED } from './lifecycle.js';
import { type Deindexing, foundPage, type Page, PageLife, remove, type Submission } from './page-life.js';
import { PageUrls } from './page-urls.js';
import { hash, hashText, unit } from './random.js';

const APPEARING_A_NIGHT = 0.0012;
const RETURNING_A_NIGHT = 0.01;
const INSERTED_INSIDE = 0.1;

/** What each number that is drawn for a page and a night decides. */
const SALT = { arrivals: 5, position: 6, returning: 7 } as const;

export interface WebsiteOptions {
  id: string;
  /** Bare domain; websites of one domain monitor the same pages. Default: `example.com`, `site-2.example`, … */
  domain?: string;
  /** Monitored pages at the start, 0 to a few millions (default 3,000). */
  pages?: number;
  /** Paths of extra pages, such as those that are hard to encode. */
  paths?: readonly string[];
  /** Default: night 3, `/blog/`, half of its indexed pages; null for none. */
  deindexing?: Deindexing | null;
  /** Default: none. */
  submission?: Submission | null;
  /** Share of the visited pages that are visited again in a night, 0 to 1 (default 0.1). */
  recrawled?: number;
  /** Whether it is a news site, with impressions in Google News (default false). */
  news?: boolean;
}

export type WebsiteSettings = Readonly<Required<WebsiteOptions>>;

/** One website whose pages evolve night by night. Knows states and nights, but neither times nor the API. */
export class SimulatedWebsite {
  readonly urls: PageUrls;
  readonly seed: number;
  readonly #life: PageLife;
  /** By number, those that are no longer monitored included. */
  readonly #pages: Page[];
  /** Monitored pages in the listing's stable order. */
  #order: Page[];

  constructor(
    readonly settings: WebsiteSettings,
    seed: number,
  ) {
    this.seed = hashText(seed, settings.id);
    this.urls = new PageUrls(seed, settings.domain, settings.paths);
    this.#life = new PageLife(this.urls, settings, this.seed);
    const length = settings.pages + settings.paths.length;
    this.#pages = Array.from({ length }, (_, number) => foundPage(number, this.seed));
    this.#order = [...this.#pages];
  }

  /** Number of monitored pages. */
  get count(): number {
    return this.#order.length;
  }

  /** Every page that there ever was. */
  get allPages(): readonly Page[] {
    return this.#pages;
  }

  /** A window of the listing. */
  window(skip: number, limit: number): Page[] {
    return this.#order.slice(skip, skip + limit);
  }

  /** A monitored page, or null. */
  find(url: string): Page | null {
    const page = this.#pages[this.urls.number(url) ?? -1];
    return page && page.state !== REMOVED ? page : null;
  }

  /** Takes all pages through one night. */
  advance(night: number): void {
    const returning: number[] = [];
    for (const page of this.#pages) {
      if (page.state !== REMOVED) this.#life.live(page, night);
      else if (this.#unit(page.number, night, SALT.returning) < RETURNING_A_NIGHT) returning.push(page.number);
    }
    this.#dropRemoved();
    const arrivals = Math.floor(this.settings.pages * APPEARING_A_NIGHT + this.#unit(-1, night, SALT.arrivals));
    const fresh = this.#begin(arrivals, night);
    const isInside = ({ number }: Page) => this.#unit(number, night, SALT.arrivals) < INSERTED_INSIDE;
    this.#order.push(...fresh.filter((page) => !isInside(page)));
    for (const number of returning) this.#order.push(this.#beginOne(number, night));
    for (const page of fresh.filter(isInside)) {
      this.#order.splice(hash(this.seed, page.number, night, SALT.position) % (this.count + 1), 0, page);
    }
  }

  /** Starts monitoring `count` more pages, without data, from this position of the listing on (default: its end). */
  add(count: number, night: number, at = this.count): void {
    this.#order.splice(at, 0, ...this.#begin(count, night));
  }

  /** Stops monitoring the pages at these positions of the listing. */
  remove(at: number, count: number, night: number): void {
    for (const page of this.window(at, count)) remove(page, night);
    this.#dropRemoved();
  }

  #dropRemoved(): void {
    this.#order = this.#order.filter(({ state }) => state !== REMOVED);
  }

  #begin(count: number, night: number): Page[] {
    return Array.from({ length: count }, () => this.#beginOne(this.#pages.length, night));
  }

  #beginOne(number: number, night: number): Page {
    const page = this.#life.begin(number, night);
    page.indexMoves = this.#pages[number]?.indexMoves ?? page.indexMoves;
    this.#pages[number] = page;
    return page;
  }

  #unit(number: number, night: number, salt: number): number {
    return unit(this.seed, number, night, salt);
  }
}
