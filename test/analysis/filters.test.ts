import { afterAll, beforeAll, expect, test } from 'vitest';
import { analyses } from '../../src/analysis/catalog.js';
import type { Reader } from '../../src/analysis/reader.js';
import { atLength } from '../given/at-length.js';
import { run } from '../given/cli.js';
import type { BuiltWarehouse } from '../given/warehouse.js';
import { AT, CRAWLED_STATE, INDEXED_STATE, storiesWarehouse, urlOf } from './answers-given.js';
import { analysisRows, openReader, type Row, rowsOf } from './given.js';

let warehouse: BuiltWarehouse;
let reader: Reader;
let stateNow: Map<string, string>;

beforeAll(async () => {
  warehouse = await storiesWarehouse();
  reader = await openReader(warehouse.path);
  const pages = await rowsOf(reader, 'select url, index_coverage_state from page_state');
  stateNow = new Map(pages.map((row) => [String(row['url']), String(row['index_coverage_state'] ?? '(none)')]));
});

afterAll(() => {
  reader.close();
  warehouse.remove();
});

/** Lists of pages that are cut to some of them. */
const LISTS = analyses().filter(({ parameters }) => parameters.some(({ name }) => name === 'url_contains'));
const WHOLE = { since: '2025-03-01', times: '1', days: '1', reindexed: 'true' };
type Kept = (url: string) => boolean;
const FILTERS: [Record<string, string>, Kept][] = [
  [{ directory: '/blog/' }, (url) => url.startsWith(urlOf('blog/'))],
  [{ directory: 'docs' }, (url) => url.startsWith(urlOf('docs/'))],
  [{ directory: '/' }, (url) => new URL(url).pathname.lastIndexOf('/') === 0],
  [{ url_contains: 'LO' }, (url) => url.includes('lo')],
  [{ state: CRAWLED_STATE.toUpperCase() }, (url) => stateNow.get(url) === CRAWLED_STATE],
  [{ url_contains: 'unknown', state: '(none)' }, (url) => url === urlOf('unknown')],
  [
    { directory: '/docs/', url_contains: 'flip', state: INDEXED_STATE },
    (url) => url === urlOf('docs/flip') && stateNow.get(url) === INDEXED_STATE,
  ],
];

/** A directory, a text, a state, and all of them. */
const A_FEW = [0, 3, 4, 6].flatMap((at) => FILTERS.slice(at, at + 1));

test.each(LISTS)('$name keeps the rows that are asked for', async ({ name, parameters }) => {
  const taken = Object.fromEntries(Object.entries(WHOLE).filter(([key]) => parameters.some((one) => one.name === key)));
  const whole = await analysisRows(reader, name, taken);
  expect(whole.length).toBeGreaterThan(0);
  for (const [given, isKept] of atLength(A_FEW, FILTERS)) {
    const kept = whole.filter(({ url }) => isKept(String(url)));
    expect(await analysisRows(reader, name, { ...taken, ...given }), JSON.stringify(given)).toEqual(kept);
  }
});

test('every list of pages can be cut', () => {
  const lists = analyses().filter(
    ({ grain, parameters }) => parameters.some(({ name }) => name === 'limit') && grain.startsWith('one row per page'),
  );
  expect(LISTS.map(({ name }) => name)).toEqual(lists.map(({ name }) => name));
});

test('a directory holds all that is below it', async () => {
  const isBelow = (path: string, directory: string) =>
    rowsOf(reader, 'select is_selected($url, null, $directory, null, null) as is_below', {
      url: `https://shop.example${path}`,
      directory,
    }).then(([row]) => row?.['is_below']);
  expect(await isBelow('/blog/2025/a', '/blog/')).toBe(true);
  expect(await isBelow('/blog/2025/a', 'blog/2025')).toBe(true);
  expect(await isBelow('/blog/2025', '/blog/2025/')).toBe(false);
  expect(await isBelow('/blog-2/a', '/blog')).toBe(false);
  expect(await isBelow('/?to=/blog/', '/blog/')).toBe(false);
  expect(await isBelow('//blog/', '//')).toBe(true);
  expect(await isBelow('', '/')).toBe(true);
});

test('deindexed_pages says why, as far as is known and unusual', async () => {
  const given = { website: 'shop', since: '2025-03-04' };
  const why = (row: Row) => [String(row['url']).slice(urlOf('').length), row['snapshot_date'], row['why']];
  const moved = `${INDEXED_STATE} → `;
  const crawled = `${moved}${CRAWLED_STATE}`;
  const night = (number: number) => AT[number]?.slice(0, 10);
  expect((await analysisRows(reader, 'deindexed_pages', given)).map(why)).toEqual([
    ['docs/4', night(5), `${moved}Soft 404; fetch: Soft 404`],
    ['blocked', night(4), `${moved}Blocked by robots.txt; fetch: Blocked by robots.txt; blocked by robots.txt`],
    ...['blog/1', 'blog/2', 'blog/3'].map((name) => [name, night(4), crawled]),
  ]);
});

test('what is not known, or odd, is said as it is', async () => {
  const explained = (values: string) =>
    rowsOf(reader, `select fall_explained(${values}) as why`).then(([row]) => row?.['why']);
  const nothing = "null, null, null, null, 'u', null, null";
  expect(await explained(`'A', null, now(), ${nothing}`)).toBe('A → (none); no report yet');
  expect(await explained(`'A', 'B', now(), now() - interval 1 day, null, null, false, 'u', 'v', 'u'`)).toBe(
    'A → B; fetch: (none); indexing not allowed; report older than the fall; canonical: v',
  );
  expect(await explained(`'A; x', '<b>', now(), now(), '→', false, true, 'u', 'u', 'v'`)).toBe('A; x → <b>; fetch: →');
  expect(await explained(`'A', 'B', now(), now(), 'S', null, true, 'u', null, 'v'`)).toBe(
    'A → B; fetch: S; declared canonical: v',
  );
});

test('an empty answer says which filter no page meets, and what there is', async () => {
  const ask = async (...given: string[]) => {
    const args = ['query', 'fetch_problems', 'status=none', ...given, '--warehouse', warehouse.path];
    const { code, stdout } = await run(args);
    expect(code).toBe(0);
    return stdout.slice(stdout.indexOf('No rows'));
  };
  expect(await ask('directory=/blgo/')).toMatch(/No page is below \/blgo\/\. Did you mean \/blog\/\?\n/);
  expect(await ask('directory=/products/', 'website=shop')).toMatch(
    /No page is below \/products\/\. There are: \/, \/docs\/, \/blog\/, \/new\/\n/,
  );
  expect(await ask('state=Soft 403', 'directory=/docs/')).toMatch(
    /^No rows\.\s+No page is in the state Soft 403\. Did you mean Soft 404\?\n$/,
  );
  expect(await ask('state=elsewhere')).toMatch(
    /No page is in the state elsewhere\. There are: .+, Blocked by robots.txt, …\n/,
  );
  expect(await ask('directory=/docs/', 'url_contains=x')).toMatch(/^No rows\.\n$/);
});
