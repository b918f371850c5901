import {
  BLOCKED,
  canonicalsOf,
  DISCOVERED,
  indexedCode,
  initialCode,
  isIndexed,
  NO_DATA,
  packCanonicals,
  UNKNOWN,
} from './lifecycle.js';
import { DECLARES_CANONICAL, IN_SITEMAP, NEVER, type PageTable } from './page-table.js';
import { unit } from './random.js';

const YOUNGEST_NIGHTS = 30;
const OLDEST_NIGHTS = 900;
const MEAN_CRAWL_AGE_NIGHTS = 9;
/** Every page with data is inspected at least this often. */
export const INSPECTION_CYCLE_NIGHTS = 7;
const DECLARING = 0.9;
const LISTED_ELSEWHERE = 0.6;

/** What each number drawn for a page at the founding of its world decides. */
const SALT = { state: 1, sitemap: 2, declares: 3, age: 4, crawl: 5, indexed: 6, canonical: 7, blocked: 8, when: 9 };

/** Gives a page of night 0 a past that fits its state: detected, then visited, then inspected. */
export function foundPage(table: PageTable, page: number, seed: number): void {
  const u = (salt: number): number => unit(seed, page, 0, -salt);
  const code = initialCode(u(SALT.state));
  const inSitemap = isIndexed(code) ? code === indexedCode(true) : u(SALT.sitemap) < LISTED_ELSEWHERE;
  table.flags[page] = (inSitemap ? IN_SITEMAP : 0) | (u(SALT.declares) < DECLARING ? DECLARES_CANONICAL : 0);
  table.state[page] = code;
  table.clearHistory(page);
  table.detected[page] = -YOUNGEST_NIGHTS - Math.floor(u(SALT.age) * OLDEST_NIGHTS);
  if (code === NO_DATA) return;
  table.inspected[page] = -(page % INSPECTION_CYCLE_NIGHTS);
  if (code !== UNKNOWN && code !== DISCOVERED) rememberPast(table, page, code, u);
}

/** A page that the crawler has met: its last visit, and now and then an event before the latest inspection. */
function rememberPast(table: PageTable, page: number, code: number, u: (salt: number) => number): void {
  const detected = table.detected[page] ?? NEVER;
  const inspected = table.inspected[page] ?? 0;
  const earlier = (salt: number): number => detected + Math.floor(u(salt + SALT.when) * (inspected - detected));
  const age = Math.floor(-Math.log(1 - u(SALT.crawl)) * MEAN_CRAWL_AGE_NIGHTS);
  table.crawled[page] = Math.max(detected, inspected - age);
  if (u(SALT.indexed) < (isIndexed(code) ? 0.1 : 0.55)) table.lastIndexed[page] = earlier(SALT.indexed);
  if (code === BLOCKED) table.blocked[page] = inspected;
  else if (u(SALT.blocked) < 0.03) table.blocked[page] = earlier(SALT.blocked);
  const canonicals = canonicalsOf(code, ((table.flags[page] ?? 0) & DECLARES_CANONICAL) !== 0);
  if (canonicals.engine === 'none' || u(SALT.canonical) >= 0.12) return;
  table.canonicalChanged[page] = earlier(SALT.canonical);
  table.canonicalsAtChange[page] = packCanonicals(canonicals);
}
