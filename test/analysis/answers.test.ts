import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Reader } from '../../src/analysis/reader.js';
import type { Value } from '../../src/storage/values.js';
import type { BuiltWarehouse } from '../given/warehouse.js';
import {
  AT,
  BLOG_MAP,
  CRAWLED_STATE,
  ELSEWHERE,
  INDEXED_STATE,
  MAIN_MAP,
  storiesWarehouse,
  urlOf,
} from './answers-given.js';
import { analysisRows, openReader } from './given.js';

let warehouse: BuiltWarehouse;
let reader: Reader;

beforeAll(async () => {
  warehouse = await storiesWarehouse();
  reader = await openReader(warehouse.path);
});

afterAll(() => {
  reader.close();
  warehouse.remove();
});

/** Some columns of an answer about the website `shop`, in its order; pages by their names. */
async function told(analysis: string, columns: string[], given: Record<string, string> = {}): Promise<Value[][]> {
  const rows = await analysisRows(reader, analysis, { website: 'shop', ...given });
  expect(new Set(rows.map(({ website_id }) => website_id))).toEqual(new Set(rows.length > 0 ? ['shop'] : []));
  return rows.map((row) => columns.map((column) => nameOf(row[column] ?? null)));
}

function nameOf(value: Value): Value {
  return typeof value === 'string' && value.startsWith(urlOf('')) ? value.slice(urlOf('').length) : value;
}

const ALL_TIME = { since: '2025-03-01' };
const [, , NIGHT_2 = '', NIGHT_3 = '', NIGHT_4 = '', NIGHT_5 = ''] = AT;
const [BLOG_NAME, MAIN_NAME] = [nameOf(BLOG_MAP), nameOf(MAIN_MAP)];

describe('what fell out of the index', () => {
  const columns = ['dimension', 'value', 'pages', 'deindexed', 'share', 'overall_share', 'lift'];
  const all = { max_p: '1' };

  // Five fell and are out: three of the blog, docs/4 and blocked. 15 pages are indexed or fell.
  it('deindexed_in_common: what they were before, against all pages that are indexed or were', async () => {
    expect(await told('deindexed_in_common', columns, all)).toEqual([
      ['directory', '/blog/', 4, 3, 0.6, 0.2667, 2.25],
      ['sitemap', BLOG_NAME, 5, 3, 0.6, 0.3333, 1.8],
      ['crawl_age', '8-14 days', 12, 5, 1, 0.8, 1.25],
      ['depth', '2', 11, 4, 0.8, 0.7333, 1.09],
      ['canonical', 'self', 14, 5, 1, 0.9333, 1.07],
      ['blocked_by_robots', 'No', 15, 5, 1, 1, 1],
      ['coverage_state', INDEXED_STATE, 15, 5, 1, 1, 1],
      ['fetch_status', 'Successful', 15, 5, 1, 1, 1],
    ]);
    expect(await told('deindexed_in_common', columns, { ...all, limit: '2' })).toHaveLength(2);
    // Of eight values, three pages out of five are no evidence: 8 × 0.077.
    expect(await told('deindexed_in_common', columns)).toEqual([]);
    const [[p] = []] = await told('deindexed_in_common', ['p_value'], all);
    expect(p).toBeCloseTo((8 * 231) / 3003, 2);
  });

  it('deindexed_in_common: leaves out what few pages share, unless asked for it', async () => {
    const rows = await told('deindexed_in_common', columns, { ...all, min_pages: '1' });
    expect(rows).toContainEqual(['directory', '/', 4, 1, 0.2, 0.2667, 0.75]);
    expect(await told('deindexed_in_common', columns, { ...all, min_pages: '6' })).toEqual([]);
  });

  it('deindexed_in_common: takes pages that are back only where asked', async () => {
    const given = { ...all, since: '2025-03-04', reindexed: 'true', min_pages: '6' };
    expect(await told('deindexed_in_common', columns, given)).toContainEqual([
      ...['canonical', 'self', 14, 6, 1, 0.9333, 1.07],
    ]);
  });

  it('deindexed_in_common: counts each website against itself', async () => {
    const given = { ...all, min_pages: '1' };
    const rows = await analysisRows(reader, 'deindexed_in_common', { ...given, website: 'wiki' });
    expect(rows).toContainEqual(expect.objectContaining({ dimension: 'directory', value: '/', share: 1, lift: 1 }));
    const everywhere = await analysisRows(reader, 'deindexed_in_common', { ...given, limit: 'none' });
    expect(everywhere.filter(({ website_id }) => website_id === 'wiki')).toEqual(rows);
  });

  it('deindexed_became: the states that they went to and are in, and what their reports say since', async () => {
    const rows = await told('deindexed_became', ['dimension', 'value', 'pages', 'share']);
    expect(rows.filter(([dimension]) => dimension === 'went_to')).toEqual([
      ['went_to', CRAWLED_STATE, 3, 0.6],
      ['went_to', 'Blocked by robots.txt', 1, 0.2],
      ['went_to', 'Soft 404', 1, 0.2],
    ]);
    expect(rows).toContainEqual(['blocked_by_robots', 'Yes', 1, 0.2]);
    expect(rows).toContainEqual(['canonical', 'none', 5, 1]);
    const back = await told('deindexed_became', ['dimension', 'value', 'pages'], {
      since: '2025-03-04',
      reindexed: 'true',
    });
    expect(back).toContainEqual(['went_to', CRAWLED_STATE, 4]);
    expect(back).toContainEqual(['state_now', INDEXED_STATE, 1]);
  });

  it('flapping_pages: came back and fell again, on a partial night too', async () => {
    const counts = ['url', 'left_index', 'entered_index', 'first_change_at', 'last_change_at'];
    expect(await told('flapping_pages', counts)).toEqual([['flap', 2, 2, NIGHT_2, NIGHT_5]]);
    expect(await told('flapping_pages', ['url'], { times: '3' })).toEqual([]);
    expect(await told('flapping_pages', ['url'], { times: '1', since: '7 days ago' })).toHaveLength(7);
  });
});

describe('what came into the index', () => {
  it('newly_indexed_pages: for the first time or again, newest first', async () => {
    const columns = ['url', 'how', 'observed_at', 'returned', 'index_summary_now'];
    const rows = [
      ['flap', 'indexed', NIGHT_5, true, 'Indexed'],
      ['new/quick', 'appeared', NIGHT_4, false, 'Indexed'],
      ['new/slow', 'indexed', NIGHT_4, false, 'Indexed'],
    ];
    expect(await told('newly_indexed_pages', columns)).toEqual(rows);
    expect(await told('newly_indexed_pages', columns, { until: '2025-03-10', limit: '1' })).toEqual([rows[1]]);
  });

  it('time_to_index: by week, those counted that wait still or are gone', async () => {
    const columns = ['week', 'pages', 'indexed', 'not_yet', 'gone', 'half_indexed_after_days', 'slowest_days'];
    expect(await told('time_to_index', columns)).toEqual([
      ['2025-02-24', 2, 1, 0, 1, 8, 8],
      ['2025-03-10', 2, 1, 1, 0, 0, 0],
    ]);
  });
});

describe('how states change', () => {
  it('state_transitions: from which to which, how often', async () => {
    const columns = ['from_state', 'to_state', 'pages', 'changes', 'share_of_from'];
    const discovered = 'Discovered - currently not indexed';
    expect(await told('state_transitions', columns)).toEqual([
      [INDEXED_STATE, CRAWLED_STATE, 4, 4, 0.6667],
      [CRAWLED_STATE, INDEXED_STATE, 1, 1, 1],
      [discovered, INDEXED_STATE, 1, 1, 1],
      [INDEXED_STATE, 'Blocked by robots.txt', 1, 1, 0.1667],
      [INDEXED_STATE, 'Soft 404', 1, 1, 0.1667],
    ]);
    expect((await told('state_transitions', columns, ALL_TIME))[0]).toEqual([
      INDEXED_STATE,
      CRAWLED_STATE,
      4,
      5,
      0.7143,
    ]);
  });

  it('crawl_to_change: how long after the last crawl', async () => {
    const columns = ['change', 'changes', 'after_new_crawl', 'never_crawled', 'median_days', 'most_days'];
    expect(await told('crawl_to_change', columns)).toEqual([
      // 0 (new/slow), 2 (flap, and the blog crawled again), 3 and 10 (flap), 10 (blocked), 11 (flap, docs/4) days.
      ['coverage_state', 10, 4, 0, 2.5, 11],
      ['deindexed', 7, 3, 0, 2, 11],
      ['indexed', 3, 1, 0, 3, 11],
    ]);
  });

  it('listing_diff: between two complete listings; what is quarantined is neither new nor gone', async () => {
    const columns = ['url', 'difference', 'index_summary_then', 'index_summary_now'];
    const [was, is] = ['Indexed', 'Not Indexed'];
    expect(await told('listing_diff', columns)).toEqual([
      ['blocked', 'changed', was, is],
      ['blog/1', 'changed', was, is],
      ['blog/2', 'changed', was, is],
      ['blog/3', 'changed', was, is],
      ['docs/4', 'changed', was, is],
      ['docs/flip', 'changed', was, was],
      ['flap', 'changed', is, was],
      ['new/slow', 'changed', is, was],
      ['new/gone', 'gone', is, null],
      ['new/quick', 'new', null, was],
      ['new/waiting', 'new', null, is],
    ]);
    const last = { since: '2025-03-10', until: '2025-03-11' };
    expect(await told('listing_diff', ['url'], last)).toEqual([['docs/4'], ['docs/flip'], ['flap']]);
    expect(await told('listing_diff', ['url'], { since: '2025-02-01' })).toEqual([]);
  });
});

describe('canonicals', () => {
  it('canonical_flips: from which to which, seen by a partial listing too', async () => {
    const columns = ['url', 'chosen_by', 'from_canonical', 'to_canonical', 'observed_at'];
    const newest = ['docs/flip', 'search engine', 'docs/1', ELSEWHERE, NIGHT_5];
    expect(await told('canonical_flips', columns)).toEqual([newest]);
    expect(await told('canonical_flips', columns, ALL_TIME)).toEqual([
      newest,
      ['docs/flip', 'search engine', 'docs/flip', 'docs/1', NIGHT_3],
    ]);
  });

  it('canonical_by_directory: same, differing or unknown', async () => {
    const columns = ['directory', 'pages', 'same', 'differing', 'neither', 'share_differing'];
    expect(await told('canonical_by_directory', columns)).toEqual([
      ['/docs/', 5, 3, 1, 1, 0.25],
      ['/', 5, 3, 0, 2, 0],
      ['/blog/', 4, 1, 0, 3, 0],
      ['/new/', 3, 2, 0, 1, 0],
    ]);
  });
});

describe('how much is indexed', () => {
  it('coverage_by_directory: by the last complete listing, and since an earlier one', async () => {
    const columns = ['directory', 'pages', 'indexed', 'not_indexed', 'without_data', 'share_indexed'];
    const changes = ['pages_change', 'indexed_change', 'days_since_crawl'];
    expect(await told('coverage_by_directory', [...columns, ...changes])).toEqual([
      ['/docs/', 5, 4, 1, 0, 0.8, 0, -1, 22.6],
      // One page of it is quarantined, and one is never inspected.
      ['/', 4, 2, 1, 1, 0.5, -1, -1, 11],
      ['/blog/', 4, 1, 3, 0, 0.25, 0, -3, 5],
      ['/new/', 3, 2, 1, 0, 0.6667, 1, 2, 1.5],
    ]);
    const first = { until: '2025-03-01', since: '2025-02-01' };
    expect(await told('coverage_by_directory', ['directory', ...changes.slice(0, 2)], first)).toEqual([
      ['/', null, null],
      ['/docs/', null, null],
      ['/blog/', null, null],
    ]);
  });

  it('coverage_by_sitemap: a page counts in each of its sitemaps', async () => {
    const columns = ['sitemap', 'pages', 'indexed', 'not_indexed', 'without_data'];
    expect(await told('coverage_by_sitemap', columns)).toEqual([
      [MAIN_NAME, 10, 7, 3, 0],
      [BLOG_NAME, 5, 2, 3, 0],
      ['(none)', 2, 2, 0, 0],
      ['(no report)', 1, 0, 0, 1],
    ]);
  });

  it('in_sitemap_not_indexed: what is submitted in vain, one sitemap or all', async () => {
    const urls = ['blocked', 'blog/1', 'blog/2', 'blog/3', 'docs/4', 'new/waiting'].map((name) => [name]);
    expect(await told('in_sitemap_not_indexed', ['url'])).toEqual(urls);
    expect(await told('in_sitemap_not_indexed', ['url'], { sitemap: BLOG_MAP })).toEqual(urls.slice(1, 4));
  });
});

describe('how pages are crawled', () => {
  it('crawl_freshness: by spans of days', async () => {
    expect(await told('crawl_freshness', ['last_crawl', 'pages', 'indexed', 'share'])).toEqual([
      ['0-1 days', 1, 1, 0.0588],
      ['2-7 days', 4, 1, 0.2353],
      ['8-14 days', 9, 7, 0.5294],
      ['31-90 days', 1, 1, 0.0588],
      ['never', 2, 0, 0.1176],
    ]);
  });

  it('pages_not_crawled: never or not for so long', async () => {
    const columns = ['url', 'days_since_crawl'];
    const never = [
      ['new/waiting', null],
      ['unknown', null],
    ];
    expect(await told('pages_not_crawled', columns)).toEqual([...never, ['docs/3', 69]]);
    expect(await told('pages_not_crawled', columns, { days: '70' })).toEqual(never);
    expect(await told('pages_not_crawled', columns, { days: '11' })).toHaveLength(12);
  });

  it('robots_blocked: now, and earlier', async () => {
    const columns = ['url', 'blocked', 'blocked_since', 'ever_blocked_at'];
    const ever = '2025-03-08T00:00:00.000Z';
    const now = ['blocked', 'now', NIGHT_4, ever];
    expect(await told('robots_blocked', columns)).toEqual([now, ['unblocked', 'earlier', null, ever]]);
    expect(await told('robots_blocked', columns, { earlier: 'false' })).toEqual([now]);
  });

  it('fetch_problems: which, and since when', async () => {
    const columns = ['url', 'page_fetch_status', 'since'];
    const soft = ['docs/4', 'Soft 404', NIGHT_5];
    expect(await told('fetch_problems', columns)).toEqual([soft, ['blocked', 'Blocked by robots.txt', NIGHT_4]]);
    expect(await told('fetch_problems', columns, { status: 'Soft 404' })).toEqual([soft]);
  });
});

describe('how the warehouse is kept', () => {
  it('report_ages: by spans of days; a report that was refused keeps the one before', async () => {
    expect(await told('report_ages', ['report_age', 'pages', 'share', 'oldest_report_at'])).toEqual([
      ['0-1 days', 16, 0.9412, NIGHT_4],
      ['never', 1, 0.0588, null],
    ]);
  });

  it('api_usage: what each run asked for, newest first', async () => {
    const columns = ['started_at', 'requests_sent', 'requests_retried', 'reports_planned', 'reports_fetched'];
    const rows = [
      [NIGHT_5, 18, 0, 17, 15],
      // The page that is missing from the listing is asked for too.
      [NIGHT_4, 19, 0, 18, 16],
    ];
    expect(await told('api_usage', columns, { since: '7 days ago' })).toEqual(rows);
    expect(await told('api_usage', columns)).toHaveLength(5);
  });

  it('drift_diary: what the contract does not foresee, since when', async () => {
    const rows = await told('drift_diary', ['field', 'kind', 'first_seen', 'last_seen', 'snapshots', 'occurrences']);
    expect(rows[0]).toEqual(['sitemaps', 'absent_field', NIGHT_2, NIGHT_5, 4, 4]);
    expect(await told('drift_diary', ['field'], { since: '2025-03-02' })).toEqual([['sitemaps']]);
  });
});
