import { REMOVED } from './lifecycle.js';
import { type Deindexing, foundPage, PageLife, type Submission } from './page-life.js';
import { PageTable } from './page-table.js';
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
  /** Adds pages whose URLs hold `&`, `#`, `+`, `%2F`, quotes, markup, non-ASCII, and one of 2,000 characters. */
  nasty?: boolean;
  /** Default: night 3, `/blog/`, half of its indexed pages; null for none. */
  deindexing?: Deindexing | null;
  /** Default: none. */
  submission?: Submission | null;
  /** Share of the visited pages that are visited again in a night, 0 to 1 (default 0.1). */
  recrawled?: number;
}

export type WebsiteSettings = Readonly<Required<WebsiteOptions>>;

/** One website whose pages evolve night by night. Knows states and nights, but neither times nor the API. */
export class SimulatedWebsite {
  readonly table = new PageTable();
  readonly urls: PageUrls;
  readonly #seed: number;
  readonly #life: PageLife;
  /** Page numbers in the listing's stable order. */
  #order = new Uint32Array(0);

  constructor(
    readonly settings: WebsiteSettings,
    seed: number,
  ) {
    this.#seed = hashText(seed, settings.id);
    this.urls = new PageUrls(seed, settings.domain, settings.nasty);
    this.#life = new PageLife(this.table, this.urls, settings, this.#seed);
    this.table.add(settings.pages + this.urls.nastyCount);
    this.#order = Uint32Array.from({ length: this.table.size }, (_, page) => page);
    for (let page = 0; page < this.table.size; page++) foundPage(this.table, page, this.#seed);
  }

  /** Number of monitored pages. */
  get count(): number {
    return this.#order.length;
  }

  /** Page numbers of a window of the listing. */
  window(skip: number, limit: number): Uint32Array {
    return this.#order.subarray(skip, skip + limit);
  }

  /** The number of a monitored page, or null. */
  find(url: string): number | null {
    const page = this.urls.number(url);
    return page === null || page >= this.table.size || this.table.state[page] === REMOVED ? null : page;
  }

  /** Takes all pages through one night. */
  advance(night: number): void {
    const returning: number[] = [];
    for (let page = 0; page < this.table.size; page++) {
      if (this.table.state[page] !== REMOVED) this.#life.live(page, night);
      else if (this.#unit(page, night, SALT.returning) < RETURNING_A_NIGHT) returning.push(page);
    }
    this.#order = this.#order.filter((page) => this.table.state[page] !== REMOVED);
    const arrivals = Math.floor(this.settings.pages * APPEARING_A_NIGHT + this.#unit(-1, night, SALT.arrivals));
    const inside = this.#appear(arrivals, night);
    for (const page of returning) this.#life.begin(page, night);
    this.#insert(this.#order.length, returning);
    for (const page of inside) this.#insert(hash(this.#seed, page, night, SALT.position) % (this.count + 1), [page]);
  }

  /** Starts monitoring `count` more pages, without data, from this position of the listing on (default: its end). */
  add(count: number, night: number, at = this.count): void {
    this.#insert(at, this.#begin(count, night));
  }

  /** Stops monitoring the pages at these positions of the listing. */
  remove(at: number, count: number): void {
    for (const page of this.window(at, count)) this.table.state[page] = REMOVED;
    this.#order = this.#order.filter((page) => this.table.state[page] !== REMOVED);
  }

  /** Adds new pages at the end and returns the few that belong elsewhere. */
  #appear(count: number, night: number): number[] {
    const pages = this.#begin(count, night);
    const inside = pages.filter((page) => this.#unit(page, night, SALT.arrivals) < INSERTED_INSIDE);
    this.#insert(
      this.count,
      pages.filter((page) => !inside.includes(page)),
    );
    return inside;
  }

  /** Adds new pages, without data, and returns their numbers. */
  #begin(count: number, night: number): number[] {
    const first = this.table.add(count);
    const pages = Array.from({ length: count }, (_, i) => first + i);
    for (const page of pages) this.#life.begin(page, night);
    return pages;
  }

  #insert(at: number, pages: readonly number[]): void {
    const order = new Uint32Array(this.#order.length + pages.length);
    order.set(this.#order.subarray(0, at));
    order.set(pages, at);
    order.set(this.#order.subarray(at), at + pages.length);
    this.#order = order;
  }

  #unit(page: number, night: number, salt: number): number {
    return unit(this.#seed, page, night, salt);
  }
}
