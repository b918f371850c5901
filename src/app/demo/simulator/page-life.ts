import {
  BLOCKED,
  type Canonicals,
  canonicalsOf,
  DISCOVERED,
  indexedState,
  initialState,
  isIndexed,
  NO_DATA,
  NOINDEX,
  NOT_INDEXED,
  nextState,
  type PageState,
  REMOVED,
  traitsOf,
  UNKNOWN,
} from './lifecycle.js';
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
export type Submission = Omit<Deindexing, 'share'>;

/** What a page is, and the nights on which something last happened to it; those before the first one are negative. */
export interface Page {
  /** Never changes, and is never reused. */
  readonly number: number;
  state: PageState;
  inSitemap: boolean;
  /** Joined its sitemap when that was submitted, and is crawled and indexed sooner for it. */
  joinedSitemap: boolean;
  declaresCanonical: boolean;
  detected: number;
  crawled: number | null;
  inspected: number | null;
  /** Night of the last inspection that found the page indexed, before it left the index. */
  lastIndexed: number | null;
  canonicalChanged: (Canonicals & { night: number }) | null;
  blocked: number | null;
  /** Night on which its owner last did something to it. */
  changed: number | null;
  /** Nights since the first on which it entered the index or left it, in turn. */
  indexMoves: readonly number[];
}

const NO_PAST = {
  crawled: null,
  inspected: null,
  lastIndexed: null,
  canonicalChanged: null,
  blocked: null,
  changed: null,
  indexMoves: [],
};
/** States that a page enters and leaves by what its owner does. */
const BY_ITS_OWNER: ReadonlySet<PageState> = new Set([BLOCKED, NOINDEX, 'Page with redirect', 'Not found (404)']);

/** What a website's owner and the crawler do to it. */
export interface Story {
  deindexing: Deindexing | null;
  submission: Submission | null;
  /** Share of the visited pages that are visited again in a night, 0 to 1. */
  recrawled: number;
}

/** What one night does to one page: to its state and its history. */
export class PageLife {
  readonly #seed: number;

  constructor(
    private readonly urls: PageUrls,
    private readonly story: Story,
    seed: number,
  ) {
    this.#seed = seed;
  }

  /** A page that is monitored from this night on, perhaps again, without data and without a past. */
  begin(number: number, night: number): Page {
    const drawn = hash(this.#seed, number, night);
    const inSitemap = (drawn & 1) !== 0;
    const declaresCanonical = (drawn & 2) !== 0;
    const page = { number, state: NO_DATA, inSitemap, joinedSitemap: false, declaresCanonical } as const;
    return { ...page, detected: night, ...NO_PAST };
  }

  /** Takes one page through one night. */
  live(page: Page, night: number): void {
    const before = { ...page };
    const joins = this.#joins(page, night);
    if (joins) page.joinedSitemap = true;
    const after = joins ? toggleSitemap(page) : (this.#event(page, night) ?? this.#next(page, night));
    if (after === REMOVED) {
      remove(page, night);
      return;
    }
    enter(page, night, before, after);
    if (after !== NO_DATA && (page.number + night) % INSPECTION_CYCLE_NIGHTS === 0) page.inspected = night;
    const drawn = this.#unit(page, night, SALT.recrawl) < this.story.recrawled;
    if (traitsOf(after)?.visited && (joins || drawn)) visit(page, night);
  }

  /** The page's state after an event from outside, such as its removal; null if there is none. */
  #event(page: Page, night: number): PageState | null {
    const { state } = page;
    let u = this.#unit(page, night, SALT.event);
    if (u < EVENTS.removed) return REMOVED;
    if (state === NO_DATA) return null;
    u -= EVENTS.removed;
    if (u < EVENTS.sitemap) return toggleSitemap(page);
    u -= EVENTS.sitemap;
    if (u < EVENTS.canonical && traitsOf(state)?.visited) {
      page.declaresCanonical = !page.declaresCanonical;
      return isIndexed(state) ? indexedState(page.inSitemap) : state;
    }
    u -= EVENTS.canonical;
    return u >= 0 && u < EVENTS.dataLost ? NO_DATA : null;
  }

  #next(page: Page, night: number): PageState {
    const { state, inSitemap } = page;
    const u = this.#unit(page, night, SALT.next);
    if (state === NO_DATA) return u < FIRST_DATA_A_NIGHT ? firstData(page, u / FIRST_DATA_A_NIGHT) : state;
    if (state === REMOVED) return state;
    if (isIndexed(state) && this.#isDeindexed(page, night)) return NOT_INDEXED;
    if (this.#isHelped(page, night)) return indexedState(true);
    const next = nextState(state, u);
    return next !== state && isIndexed(next) && !isIndexed(state) ? indexedState(inSitemap) : next;
  }

  #isDeindexed(page: Page, night: number): boolean {
    const { deindexing } = this.story;
    if (deindexing?.night !== night || this.urls.directory(page.number) !== deindexing.directory) return false;
    return this.#unit(page, night, SALT.deindexing) < deindexing.share;
  }

  #joins({ number, state, inSitemap }: Page, night: number): boolean {
    const { submission } = this.story;
    if (submission?.night !== night || this.urls.directory(number) !== submission.directory) return false;
    return state !== NO_DATA && !inSitemap;
  }

  #isHelped(page: Page, night: number): boolean {
    const waits = page.state === DISCOVERED || page.state === NOT_INDEXED;
    return waits && page.joinedSitemap && this.#unit(page, night, SALT.helped) < HELPED_A_NIGHT;
  }

  #unit({ number }: Page, night: number, salt: number): number {
    return unit(this.#seed, number, night, salt);
  }
}

/** Takes a page out of the site. */
export function remove(page: Page, night: number): void {
  if (isIndexed(page.state)) page.indexMoves = [...page.indexMoves, night];
  page.state = REMOVED;
}

function toggleSitemap(page: Page): PageState {
  page.inSitemap = !page.inSitemap;
  return isIndexed(page.state) ? indexedState(page.inSitemap) : page.state;
}

/** A page that was visited before its data was lost does not become unknown again. */
function firstData({ crawled, inSitemap }: Page, u: number): PageState {
  if (crawled !== null) return u < 0.5 ? NOT_INDEXED : indexedState(inSitemap);
  return u < 0.4 ? UNKNOWN : DISCOVERED;
}

/** Sets a page's state, and records in its history what a change means. */
function enter(page: Page, night: number, before: Page, after: PageState): void {
  const declaredAnew = before.declaresCanonical !== page.declaresCanonical;
  if (before.state === after && before.inSitemap === page.inSitemap && !declaredAnew) return;
  page.state = after;
  if (isIndexed(before.state) !== isIndexed(after)) page.indexMoves = [...page.indexMoves, night];
  if (isIndexed(before.state) && !isIndexed(after)) page.lastIndexed = page.inspected;
  const byItsOwner = before.state !== after && (BY_ITS_OWNER.has(before.state) || BY_ITS_OWNER.has(after));
  if (declaredAnew || byItsOwner) page.changed = night;
  if (after === NO_DATA) return;
  const moved = before.state !== after && !(isIndexed(before.state) && isIndexed(after));
  if (declaredAnew || (moved && traitsOf(after)?.visited)) visit(page, night);
  page.inspected = night;
  if (after === BLOCKED && before.state !== BLOCKED) page.blocked = night;
  // Canonicals count as changed only between two choices of the engine, not where one appears or disappears.
  const [was, is] = [before, page].map(({ state, declaresCanonical }) => canonicalsOf(state, declaresCanonical));
  if (!was || !is || was.engine === 'none' || is.engine === 'none') return;
  if (was.engine !== is.engine || was.user !== is.user) page.canonicalChanged = { ...is, night };
}

function visit(page: Page, night: number): void {
  page.crawled = night;
  page.inspected = night;
}

/** A page of night 0 with a past that fits its state: detected, then visited, then inspected. */
export function foundPage(number: number, seed: number): Page {
  const u = (salt: number): number => unit(seed, number, 0, -salt);
  const state = initialState(u(FOUNDING_SALT.state));
  const page: Page = {
    number,
    state,
    inSitemap: isIndexed(state) ? state === indexedState(true) : u(FOUNDING_SALT.sitemap) < LISTED_ELSEWHERE,
    joinedSitemap: false,
    declaresCanonical: u(FOUNDING_SALT.declares) < DECLARING,
    detected: -YOUNGEST_NIGHTS - Math.floor(u(FOUNDING_SALT.age) * OLDEST_NIGHTS),
    ...NO_PAST,
  };
  if (state === NO_DATA) return page;
  const inspected = -(number % INSPECTION_CYCLE_NIGHTS);
  return { ...page, inspected, ...(state === UNKNOWN || state === DISCOVERED ? {} : pastOf(page, inspected, u)) };
}

/** The last visit of a crawled page and, now and then, an event before the latest inspection. */
function pastOf(page: Page, inspected: number, u: (salt: number) => number): Partial<Page> {
  const { state, detected, declaresCanonical } = page;
  const earlier = (salt: number): number =>
    detected + Math.floor(u(salt + FOUNDING_SALT.when) * (inspected - detected));
  const age = Math.floor(-Math.log(1 - u(FOUNDING_SALT.crawl)) * MEAN_CRAWL_AGE_NIGHTS);
  const wasIndexed = u(FOUNDING_SALT.indexed) < (isIndexed(state) ? 0.1 : 0.55);
  const wasBlocked = u(FOUNDING_SALT.blocked) < 0.03;
  const canonicals = canonicalsOf(state, declaresCanonical);
  const hasChanged = canonicals.engine !== 'none' && u(FOUNDING_SALT.canonical) < 0.12;
  return {
    crawled: Math.max(detected, inspected - age),
    lastIndexed: wasIndexed ? earlier(FOUNDING_SALT.indexed) : null,
    blocked: state === BLOCKED ? inspected : wasBlocked ? earlier(FOUNDING_SALT.blocked) : null,
    canonicalChanged: hasChanged ? { ...canonicals, night: earlier(FOUNDING_SALT.canonical) } : null,
  };
}
