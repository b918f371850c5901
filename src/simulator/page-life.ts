import {
  BLOCKED,
  CRAWLED_NOT_INDEXED,
  canonicalsOf,
  DISCOVERED,
  indexedCode,
  initialCode,
  isIndexed,
  NO_DATA,
  nextCode,
  packCanonicals,
  REMOVED,
  traitsOf,
  UNKNOWN,
  unpackCanonicals,
} from './lifecycle.js';
import { DECLARES_CANONICAL, IN_SITEMAP, JOINED_SITEMAP, NEVER, type PageTable } from './page-table.js';
import type { PageUrls } from './page-urls.js';
import { hash, unit } from './random.js';

const YOUNGEST_NIGHTS = 30;
const OLDEST_NIGHTS = 900;
const MEAN_CRAWL_AGE_NIGHTS = 9;
/** Every page with data is inspected at least this often. */
const INSPECTION_CYCLE_NIGHTS = 7;
const DECLARING = 0.9;
const LISTED_ELSEWHERE = 0.6;

/** What each number that is drawn for a page of a new world decides. */
const FOUNDING_SALT = {
  state: 1,
  sitemap: 2,
  declares: 3,
  age: 4,
  crawl: 5,
  indexed: 6,
  canonical: 7,
  blocked: 8,
  when: 9,
};

/** Chances per night of what may happen to a page besides its next state; at most one of them happens. */
const EVENTS = { removed: 0.0008, sitemap: 0.0006, canonical: 0.0008, dataLost: 0.0002 } as const;
const FIRST_DATA_A_NIGHT = 0.12;
/** Chance per night that a page that joined its sitemap is indexed, if it was waiting for that. */
const HELPED_A_NIGHT = 0.15;

/** What each number that is drawn for a page and a night decides. */
const SALT = { event: 1, next: 2, recrawl: 3, deindexing: 4, helped: 5 } as const;

/** On one night a directory loses most of its pages from the index: the story of the demo. */
export interface Deindexing {
  night: number;
  directory: string;
  /** Share of the directory's indexed pages that drop out, 0 to 1. */
  share: number;
}

/** On one night the owner submits a directory's pages that no sitemap listed: the other story of the demo. */
export interface Submission {
  night: number;
  directory: string;
}

/** What a website's owner and the crawler do to it. */
export interface Story {
  deindexing: Deindexing | null;
  submission: Submission | null;
  /** Share of the visited pages that are visited again in a night, 0 to 1. */
  recrawled: number;
}

/** What one night does to one page: to its state, its flags and its history. */
export class PageLife {
  readonly #seed: number;

  constructor(
    private readonly table: PageTable,
    private readonly urls: PageUrls,
    private readonly story: Story,
    seed: number,
  ) {
    this.#seed = seed;
  }

  /** Starts monitoring a page, or starts again, without data and without a past. */
  begin(page: number, night: number): void {
    const { table } = this;
    table.clearHistory(page);
    table.state[page] = NO_DATA;
    table.detected[page] = night;
    table.flags[page] = hash(this.#seed, page, night) & (IN_SITEMAP | DECLARES_CANONICAL);
  }

  /** Takes one page through one night. */
  live(page: number, night: number): void {
    const { table } = this;
    const before = table.state[page] ?? NO_DATA;
    const flagsBefore = table.flags[page] ?? 0;
    const joins = this.#joins(page, night, before);
    const after = joins
      ? this.#toggle(page, IN_SITEMAP | JOINED_SITEMAP, before)
      : (this.#event(page, night) ?? this.#next(page, night));
    if (after === REMOVED) {
      table.state[page] = REMOVED;
      return;
    }
    this.#enter(page, night, before, flagsBefore, after);
    if (after < NO_DATA && (page + night) % INSPECTION_CYCLE_NIGHTS === 0) table.inspected[page] = night;
    const drawn = this.#unit(page, night, SALT.recrawl) < this.story.recrawled;
    const recrawled = traitsOf(after)?.visited && (joins || drawn);
    if (recrawled) this.#visit(page, night);
  }

  /** The page's state after an event from outside, such as its removal; null if there is none. */
  #event(page: number, night: number): number | null {
    const { table } = this;
    const code = table.state[page] ?? NO_DATA;
    let u = this.#unit(page, night, SALT.event);
    if (u < EVENTS.removed) return REMOVED;
    if (code === NO_DATA) return null;
    u -= EVENTS.removed;
    if (u < EVENTS.sitemap) return this.#toggle(page, IN_SITEMAP, code);
    u -= EVENTS.sitemap;
    if (u < EVENTS.canonical && traitsOf(code)?.visited) return this.#toggle(page, DECLARES_CANONICAL, code);
    u -= EVENTS.canonical;
    return u >= 0 && u < EVENTS.dataLost ? NO_DATA : null;
  }

  #toggle(page: number, flag: number, code: number): number {
    const flags = (this.table.flags[page] ?? 0) ^ flag;
    this.table.flags[page] = flags;
    return isIndexed(code) ? indexedCode((flags & IN_SITEMAP) !== 0) : code;
  }

  #next(page: number, night: number): number {
    const code = this.table.state[page] ?? NO_DATA;
    const u = this.#unit(page, night, SALT.next);
    if (code === NO_DATA) return u < FIRST_DATA_A_NIGHT ? this.#firstData(page, u / FIRST_DATA_A_NIGHT) : code;
    if (isIndexed(code) && this.#isDeindexed(page, night)) return CRAWLED_NOT_INDEXED;
    if (this.#isHelped(page, night, code)) return indexedCode(true);
    const next = nextCode(code, u);
    return next !== code && isIndexed(next) ? this.#toIndex(page, code) : next;
  }

  #toIndex(page: number, code: number): number {
    return isIndexed(code) ? code : indexedCode(((this.table.flags[page] ?? 0) & IN_SITEMAP) !== 0);
  }

  /** A page that was visited before its data was lost does not become unknown again. */
  #firstData(page: number, u: number): number {
    if (this.table.crawled[page] !== NEVER) return u < 0.5 ? CRAWLED_NOT_INDEXED : this.#toIndex(page, NO_DATA);
    return u < 0.4 ? UNKNOWN : DISCOVERED;
  }

  #isDeindexed(page: number, night: number): boolean {
    const { deindexing } = this.story;
    if (deindexing?.night !== night || this.urls.directory(page) !== deindexing.directory) return false;
    return this.#unit(page, night, SALT.deindexing) < deindexing.share;
  }

  #joins(page: number, night: number, code: number): boolean {
    const { submission } = this.story;
    if (submission?.night !== night || this.urls.directory(page) !== submission.directory) return false;
    return code !== NO_DATA && ((this.table.flags[page] ?? 0) & IN_SITEMAP) === 0;
  }

  #isHelped(page: number, night: number, code: number): boolean {
    const waits = code === DISCOVERED || code === CRAWLED_NOT_INDEXED;
    if (!waits || ((this.table.flags[page] ?? 0) & JOINED_SITEMAP) === 0) return false;
    return this.#unit(page, night, SALT.helped) < HELPED_A_NIGHT;
  }

  /** Sets a page's state, and records in its history what a change of state or flags means. */
  #enter(page: number, night: number, before: number, flagsBefore: number, after: number): void {
    const { table } = this;
    const flags = table.flags[page] ?? 0;
    if (before === after && flagsBefore === flags) return;
    table.state[page] = after;
    if (isIndexed(before) && !isIndexed(after)) table.lastIndexed[page] = table.inspected[page] ?? NEVER;
    if (after === NO_DATA) return;
    const declaredAnew = ((flagsBefore ^ flags) & DECLARES_CANONICAL) !== 0;
    const moved = before !== after && !(isIndexed(before) && isIndexed(after));
    if (declaredAnew || (moved && traitsOf(after)?.visited)) this.#visit(page, night);
    table.inspected[page] = night;
    if (after === BLOCKED && before !== BLOCKED) table.blocked[page] = night;
    this.#compareCanonicals(page, night, packedCanonicals(before, flagsBefore), packedCanonicals(after, flags));
  }

  /** Canonicals count as changed only between two choices of the engine, not where one appears or disappears. */
  #compareCanonicals(page: number, night: number, before: number, after: number): void {
    const known = unpackCanonicals(before).engine !== 'none' && unpackCanonicals(after).engine !== 'none';
    if (!known || before === after) return;
    this.table.canonicalChanged[page] = night;
    this.table.canonicalsAtChange[page] = after;
  }

  #visit(page: number, night: number): void {
    this.table.crawled[page] = night;
    this.table.inspected[page] = night;
  }

  #unit(page: number, night: number, salt: number): number {
    return unit(this.#seed, page, night, salt);
  }
}

function packedCanonicals(code: number, flags: number): number {
  return packCanonicals(canonicalsOf(code, (flags & DECLARES_CANONICAL) !== 0));
}

/** Gives a page of night 0 a past that fits its state: detected, then visited, then inspected. */
export function foundPage(table: PageTable, page: number, seed: number): void {
  const u = (salt: number): number => unit(seed, page, 0, -salt);
  const code = initialCode(u(FOUNDING_SALT.state));
  const inSitemap = isIndexed(code) ? code === indexedCode(true) : u(FOUNDING_SALT.sitemap) < LISTED_ELSEWHERE;
  table.flags[page] = (inSitemap ? IN_SITEMAP : 0) | (u(FOUNDING_SALT.declares) < DECLARING ? DECLARES_CANONICAL : 0);
  table.state[page] = code;
  table.clearHistory(page);
  table.detected[page] = -YOUNGEST_NIGHTS - Math.floor(u(FOUNDING_SALT.age) * OLDEST_NIGHTS);
  if (code === NO_DATA) return;
  table.inspected[page] = -(page % INSPECTION_CYCLE_NIGHTS);
  if (code !== UNKNOWN && code !== DISCOVERED) rememberPast(table, page, code, u);
}

/** Gives a crawled page its last visit and, now and then, an event before the latest inspection. */
function rememberPast(table: PageTable, page: number, code: number, u: (salt: number) => number): void {
  const detected = table.detected[page] ?? NEVER;
  const inspected = table.inspected[page] ?? 0;
  const earlier = (salt: number): number =>
    detected + Math.floor(u(salt + FOUNDING_SALT.when) * (inspected - detected));
  const age = Math.floor(-Math.log(1 - u(FOUNDING_SALT.crawl)) * MEAN_CRAWL_AGE_NIGHTS);
  table.crawled[page] = Math.max(detected, inspected - age);
  if (u(FOUNDING_SALT.indexed) < (isIndexed(code) ? 0.1 : 0.55))
    table.lastIndexed[page] = earlier(FOUNDING_SALT.indexed);
  if (code === BLOCKED) table.blocked[page] = inspected;
  else if (u(FOUNDING_SALT.blocked) < 0.03) table.blocked[page] = earlier(FOUNDING_SALT.blocked);
  const canonicals = canonicalsOf(code, ((table.flags[page] ?? 0) & DECLARES_CANONICAL) !== 0);
  if (canonicals.engine === 'none' || u(FOUNDING_SALT.canonical) >= 0.12) return;
  table.canonicalChanged[page] = earlier(FOUNDING_SALT.canonical);
  table.canonicalsAtChange[page] = packCanonicals(canonicals);
}
