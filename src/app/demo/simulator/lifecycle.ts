import { COVERAGE_STATES, type CoverageState } from '../../../source/contract/known-values.js';

/** States beyond the coverage states: monitored without inspection data, and no longer monitored. */
export const NO_DATA = 'no data';
export const REMOVED = 'removed';
export type PageState = CoverageState | typeof NO_DATA | typeof REMOVED;

/** A canonical is absent, the page itself, or another page. */
export type Canonical = 'none' | 'self' | 'other';
export interface Canonicals {
  engine: Canonical;
  user: Canonical;
}

export interface StateTraits {
  /** Share of the pages that a new world begins with. */
  share: number;
  /** Whether a page is in this state only after a visit by the crawler, and the outcome of fetching it. */
  visited: boolean;
  fetchStatus: string | null;
  engine: Canonical;
  /** `declared`: the page itself, where its owner declares one. */
  user: Canonical | 'declared';
  /** Chance per night of each state that may follow. */
  next: Readonly<Partial<Record<CoverageState, number>>>;
}

type Next = StateTraits['next'];

const INDEXED = 'Submitted and indexed';
const INDEXED_UNSUBMITTED = 'Indexed, not submitted in sitemap';
export const NOT_INDEXED = 'Crawled - currently not indexed';
export const UNKNOWN = 'URL is unknown';
export const DISCOVERED = 'Discovered - currently not indexed';
export const BLOCKED = 'Blocked by robots.txt';
export const NOINDEX = "Excluded by 'noindex' tag";
const DUPLICATE = 'Duplicate, search engine chose different canonical than user';

const LEAVING_THE_INDEX: Next = {
  [NOT_INDEXED]: 0.002,
  [DUPLICATE]: 0.0008,
  'Blocked by robots.txt': 0.0006,
  'Not found (404)': 0.0006,
  'Page with redirect': 0.0005,
  'Server error (5xx)': 0.0005,
  'Soft 404': 0.0003,
  "Excluded by 'noindex' tag": 0.0003,
  'Alternate page with proper canonical tag': 0.0003,
  'Duplicate without user-selected canonical': 0.0003,
};
const NO_CANONICALS = { engine: 'none', user: 'none' } as const;

/** A state whose page the crawler fetched. */
function fetched(share: number, engine: Canonical, user: StateTraits['user'], next: Next): StateTraits {
  return { share, visited: true, fetchStatus: 'Successful', engine, user, next };
}

/** A state whose page the crawler could not fetch. */
function failed(share: number, fetchStatus: string, next: Next): StateTraits {
  return { share, visited: true, fetchStatus, ...NO_CANONICALS, next };
}

/** A state whose page the crawler has not requested. */
function unvisited(share: number, fetchStatus: string | null, next: Next): StateTraits {
  return { share, visited: false, fetchStatus, ...NO_CANONICALS, next };
}

/**
 * How pages fare: a stylised picture of real indexing, tuned so that about four fifths are indexed and 1% to 2% change
 * their state in a night.
 */
const TRAITS: Readonly<Record<CoverageState, StateTraits>> = {
  [INDEXED]: fetched(0.66, 'self', 'declared', LEAVING_THE_INDEX),
  'Indexed, not submitted in sitemap': fetched(0.17, 'self', 'declared', LEAVING_THE_INDEX),
  [NOT_INDEXED]: fetched(0.035, 'none', 'declared', { [INDEXED]: 0.035 }),
  'Discovered - currently not indexed': unvisited(0.035, null, { [INDEXED]: 0.07, [NOT_INDEXED]: 0.02 }),
  'URL is unknown': unvisited(0.015, null, { 'Discovered - currently not indexed': 0.12 }),
  'Page with redirect': fetched(0.012, 'other', 'none', { [INDEXED]: 0.03 }),
  'Not found (404)': failed(0.012, 'Not found (404)', { [INDEXED]: 0.04 }),
  'Soft 404': failed(0.005, 'Soft 404', { [INDEXED]: 0.06 }),
  'Server error (5xx)': failed(0.003, 'Server error (5xx)', { [INDEXED]: 0.2, 'Not found (404)': 0.02 }),
  "Excluded by 'noindex' tag": fetched(0.006, 'none', 'declared', { [INDEXED]: 0.05 }),
  'Blocked by robots.txt': unvisited(0.008, 'Blocked by robots.txt', { [INDEXED]: 0.07 }),
  'Alternate page with proper canonical tag': fetched(0.009, 'other', 'other', { [INDEXED]: 0.03 }),
  'Duplicate without user-selected canonical': fetched(0.006, 'other', 'none', { [INDEXED]: 0.04 }),
  [DUPLICATE]: fetched(0.009, 'other', 'self', { [INDEXED]: 0.05 }),
};

const NEXT = new Map(COVERAGE_STATES.map((state) => [state, cumulative(TRAITS[state].next)]));
const INITIAL = cumulative(Object.fromEntries(COVERAGE_STATES.map((state) => [state, TRAITS[state].share])));

/** The traits of a state, or null for the two beyond the coverage states. */
export function traitsOf(state: PageState): StateTraits | null {
  return state === NO_DATA || state === REMOVED ? null : TRAITS[state];
}

export function isIndexed(state: PageState): boolean {
  return state === INDEXED || state === INDEXED_UNSUBMITTED;
}

/** The state of an indexed page: its text says whether a sitemap lists it. */
export function indexedState(inSitemap: boolean): CoverageState {
  return inSitemap ? INDEXED : INDEXED_UNSUBMITTED;
}

/** The state that a new world gives to the page which drew `u` (0 to 1), or `NO_DATA` beyond all shares. */
export function initialState(u: number): PageState {
  return draw(INITIAL, u) ?? NO_DATA;
}

/** The state after this one for the page which drew `u` (0 to 1): mostly the same. */
export function nextState(state: CoverageState, u: number): CoverageState {
  return draw(NEXT.get(state) ?? [], u) ?? state;
}

/** The canonicals of a page in a state. */
export function canonicalsOf(state: PageState, declares: boolean): Canonicals {
  const traits = traitsOf(state);
  if (!traits) return NO_CANONICALS;
  const { engine, user } = traits;
  return { engine, user: user === 'declared' ? (declares ? 'self' : 'none') : user };
}

type Thresholds = readonly { below: number; state: CoverageState }[];

function cumulative(chances: Readonly<Record<string, number>>): Thresholds {
  let below = 0;
  return COVERAGE_STATES.flatMap((state) => {
    const chance = chances[state] ?? 0;
    below += chance;
    return chance > 0 ? [{ below, state }] : [];
  });
}

function draw(thresholds: Thresholds, u: number): CoverageState | undefined {
  return thresholds.find(({ below }) => u < below)?.state;
}
