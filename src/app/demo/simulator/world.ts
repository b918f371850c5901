import { DAY_MS } from '../../../base/time.js';
import type { CoverageEntry } from '../../../source/contract/coverage.js';
import type { UrlReport } from '../../../source/contract/report.js';
import { Renderer } from './render.js';
import { SimulatedWebsite, type WebsiteOptions } from './website.js';

export const DEMO_WEBSITE_ID = '645f2e5cd8cd9b7bd8b55ab1';
const DEFAULT_START = '2026-01-01T02:00:00.000Z';
const WEBSITE_DEFAULTS = {
  pages: 3000,
  paths: [],
  deindexing: { night: 3, directory: '/blog/', share: 0.5 },
  submission: null,
  recrawled: 0.1,
  news: false,
};

export interface WorldOptions {
  /** A 32-bit integer (default 1). Same seed, same world. */
  seed?: number;
  /** Time of night 0, ISO 8601 (default 2026-01-01T02:00:00Z). */
  start?: string;
  /** Default: one website of 3,000 pages. */
  websites?: readonly WebsiteOptions[];
}

/**
 * A seeded world of websites with a clock of its own: night n is `start` + n days, and lasts until `advance`. Nothing
 * in it depends on the real time or on earlier calls.
 */
export class World {
  readonly seed: number;
  readonly start: Date;
  readonly #websites: ReadonlyMap<string, SimulatedWebsite>;
  #night = 0;
  #nightBeganAt = Date.now();

  /** Throws a `TypeError` for an unusable start and for an id that occurs twice. */
  constructor({ seed = 1, start = DEFAULT_START, websites = [{ id: DEMO_WEBSITE_ID }] }: WorldOptions = {}) {
    this.seed = seed;
    this.start = new Date(start);
    if (Number.isNaN(this.start.getTime())) throw new TypeError(`"${start}" is not a time in ISO 8601.`);
    this.#websites = new Map(websites.map((options, i) => [options.id, foundWebsite(options, i, seed)]));
    if (this.#websites.size < websites.length) throw new TypeError('Two websites have the same id.');
  }

  get night(): number {
    return this.#night;
  }

  get now(): Date {
    return new Date(this.start.getTime() + this.#night * DAY_MS);
  }

  /** The time of its night and what has really passed of it, in milliseconds since 1970. */
  get clock(): number {
    return this.now.getTime() + Date.now() - this.#nightBeganAt;
  }

  get websites(): { id: string; domain: string; count: number }[] {
    return [...this.#websites.values()].map(({ settings: { id, domain }, count }) => ({ id, domain, count }));
  }

  /** Takes the world through this many nights, one after the other. */
  advance(nights = 1): void {
    this.#nightBeganAt = Date.now();
    for (let i = 0; i < nights; i++) {
      this.#night++;
      for (const website of this.#websites.values()) website.advance(this.#night);
    }
  }

  /** A window of the listing in its stable order, and the number of all monitored pages. */
  listing(websiteId: string, skip: number, limit: number): { entries: CoverageEntry[]; count: number } {
    const website = this.#websites.get(websiteId);
    if (!website) return { entries: [], count: 0 };
    const renderer = this.#renderer(website);
    const entries = website.window(skip, limit).map((page) => renderer.entry(page));
    return { entries, count: website.count };
  }

  /** The report of a page as one website has it, or null when that website does not monitor it. */
  report(websiteId: string, url: string): UrlReport | null {
    const website = this.#websites.get(websiteId);
    const page = website?.find(url);
    return website && page ? this.#renderer(website).report(page) : null;
  }

  /** Throws a `RangeError` for an unknown id. */
  website(id: string): SimulatedWebsite {
    const website = this.#websites.get(id);
    if (!website) throw new RangeError(`There is no website "${id}" in this world.`);
    return website;
  }

  #renderer(website: SimulatedWebsite): Renderer {
    return new Renderer(website, this.start.getTime(), this.#night);
  }
}

function foundWebsite(options: WebsiteOptions, index: number, seed: number): SimulatedWebsite {
  const domain = index === 0 ? 'example.com' : `site-${index + 1}.example`;
  return new SimulatedWebsite({ ...WEBSITE_DEFAULTS, domain, ...options }, seed);
}
