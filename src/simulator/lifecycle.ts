import { COVERAGE_STATES, type CoverageState } from '../contract/known-values.js';

/** State codes beyond the coverage states: monitored without inspection data, and no longer monitored. */
export const NO_DATA = COVERAGE_STATES.length;
export const REMOVED = NO_DATA + 1;

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
const NOT_INDEXED = 'Crawled - currently not indexed';
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

const BY_CODE: readonly StateTraits[] = COVERAGE_STATES.map((state) => TRAITS[state]);
const NEXT_BY_CODE = BY_CODE.map(({ next }) => cumulative(next));
const INITIAL = cumulative(Object.fromEntries(COVERAGE_STATES.map((state) => [state, TRAITS[state].share])));

const INDEXED_SUBMITTED = codeOf(INDEXED);
const INDEXED_UNSUBMITTED = codeOf('Indexed, not submitted in sitemap');
export const CRAWLED_NOT_INDEXED = codeOf(NOT_INDEXED);
export const UNKNOWN = codeOf('URL is unknown');
export const DISCOVERED = codeOf('Discovered - currently not indexed');
export const BLOCKED = codeOf('Blocked by robots.txt');
export const NOINDEX = codeOf("Excluded by 'noindex' tag");

/** The traits of a state code, or null for the codes beyond the coverage states. */
export function traitsOf(code: number): StateTraits | null {
  return BY_CODE[code] ?? null;
}

export function isIndexed(code: number): boolean {
  return code === INDEXED_SUBMITTED || code === INDEXED_UNSUBMITTED;
}

/** The code of an indexed page: its text says whether a sitemap lists it. */
export function indexedCode(inSitemap: boolean): number {
  return inSitemap ? INDEXED_SUBMITTED : INDEXED_UNSUBMITTED;
}

/** The state that a new world gives to the page which drew `u` (0 to 1), or `NO_DATA` beyond all shares. */
export function initialCode(u: number): number {
  return draw(INITIAL, u) ?? NO_DATA;
}

/** The state after this one for the page which drew `u` (0 to 1): mostly the same. */
export function nextCode(code: number, u: number): number {
  return draw(NEXT_BY_CODE[code] ?? [], u) ?? code;
}

/** The canonicals of a page in a state. */
export function canonicalsOf(code: number, declares: boolean): Canonicals {
  const traits = traitsOf(code);
  if (!traits) return NO_CANONICALS;
  const { engine, user } = traits;
  return { engine, user: user === 'declared' ? (declares ? 'self' : 'none') : user };
}

const CANONICAL_CODES: readonly Canonical[] = ['none', 'self', 'other'];

/** Both canonicals in one byte, and back. */
export function packCanonicals({ engine, user }: Canonicals): number {
  return CANONICAL_CODES.indexOf(engine) * 4 + CANONICAL_CODES.indexOf(user);
}

export function unpackCanonicals(packed: number): Canonicals {
  return { engine: CANONICAL_CODES[packed >> 2] ?? 'none', user: CANONICAL_CODES[packed & 3] ?? 'none' };
}

function codeOf(state: CoverageState): number {
  return COVERAGE_STATES.indexOf(state);
}

type Thresholds = readonly { below: number; code: number }[];

function cumulative(chances: Readonly<Record<string, number>>): Thresholds {
  let below = 0;
  return COVERAGE_STATES.flatMap((state, code) => {
    const chance = chances[state] ?? 0;
    below += chance;
    return chance > 0 ? [{ below, code }] : [];
  });
}

function draw(thresholds: Thresholds, u: number): number | undefined {
  for (const { below, code } of thresholds) if (u < below) return code;
  return undefined;
}
