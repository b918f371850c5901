import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askAnalysis } from '../../src/analysis/ask-rows.js';
import { analyses } from '../../src/analysis/catalog.js';
import type { Reader } from '../../src/analysis/reader.js';
import type { GivenPage } from '../given/service.js';
import { type BuiltWarehouse, buildWarehouse } from '../given/warehouse.js';
import { analysisRows, openReader } from './given.js';

const A = 'https://shop.example/a';
const B = 'https://shop.example/b';
const C = 'https://shop.example/c';
const D = 'https://shop.example/d';
const NIGHT_1 = '2025-03-01T02:00:00.000Z';
const NIGHT_2 = '2025-03-02T02:00:00.000Z';
const NIGHT_2_AGAIN = '2025-03-02T14:00:00.000Z';
const NIGHT_3 = '2025-03-03T02:00:00.000Z';
const NIGHT_4 = '2025-03-12T02:00:00.000Z';

function indexed(url: string, user = url, engine = url): GivenPage {
  return {
    url,
    entry: {
      index_summary: 'Indexed',
      index_coverage_state: 'Submitted and indexed',
      searchengine_selected_canonical: engine,
      user_selected_canonical: user,
    },
  };
}

function out(url: string, state = 'Crawled - currently not indexed'): GivenPage {
  return { url, entry: { index_summary: 'Not Indexed', index_coverage_state: state } };
}

const unknown = (url: string): GivenPage => ({ url });
const BLOG = 'https://blog.example/';
const WIKI = 'https://wiki.example/';
const notMatching = (url: string, engine: string) => indexed(url, url, engine);

const broken = (url: string): GivenPage => ({ url, entry: JSON.parse('{"index_summary": 5}') });
const STRICT = { quality: { max_reject_ratio: 0 } };

let warehouse: BuiltWarehouse;
let reader: Reader;
/** Where pages come back, and the last listing is partial. */
let second: BuiltWarehouse;
let other: Reader;

/**
 * a: Indexed, out on the 2nd, in again on the 3rd, out on the 12th.
 * b: Indexed throughout; the engine prefers /c from the 2nd's second snapshot on, /d from the 12th on.
 * c: never inspected; gone after the 2nd, so absent on the 3rd and the 12th: disappeared.
 * d: appears on the 3rd, with a mismatch that is over on the 12th.
 */
beforeAll(async () => {
  const blog = [indexed(BLOG)];
  warehouse = await buildWarehouse([
    { at: NIGHT_1, lists: { shop: [indexed(A), indexed(B), unknown(C)], blog } },
    { at: NIGHT_2, lists: { shop: [indexed(A), indexed(B), unknown(C)] } },
    { at: NIGHT_2_AGAIN, lists: { shop: [out(A), notMatching(B, C), unknown(C)], blog: [out(BLOG)] } },
    { at: NIGHT_3, lists: { shop: [indexed(A), notMatching(B, C), notMatching(D, A)] } },
    { at: NIGHT_4, lists: { shop: [out(A, 'Soft 404'), notMatching(B, D), indexed(D)], blog: [] } },
  ]);
  reader = await openReader(warehouse.path);
});

/**
 * wiki: out on the 2nd and in again on the 3rd. shop: a is out on the 12th, in a listing that is partial, because b is
 * quarantined. forum: a's mismatch has a break, b declares a canonical from the 2nd on, d is gone.
 */
beforeAll(async () => {
  const undeclared = { index_summary: 'Not Indexed', searchengine_selected_canonical: C };
  second = await buildWarehouse([
    {
      at: NIGHT_1,
      lists: {
        shop: [indexed(A)],
        wiki: [indexed(WIKI)],
        forum: [notMatching(A, C), { url: B, entry: undeclared }, notMatching(D, C)],
      },
    },
    { at: NIGHT_2, lists: { wiki: [out(WIKI)], forum: [indexed(A), notMatching(B, C)] } },
    { at: NIGHT_3, lists: { wiki: [indexed(WIKI)], forum: [notMatching(A, C), notMatching(B, C)] } },
    { at: NIGHT_4, lists: { shop: [out(A), broken(B)] }, sections: STRICT },
  ]);
  other = await openReader(second.path);
});

afterAll(() => {
  reader.close();
  other.close();
  warehouse.remove();
  second.remove();
});

it('every analysis can be read and asked', async () => {
  const found = analyses();
  expect(found.map(({ name }) => name)).toEqual(expect.arrayContaining(['indexing_trend', 'page_timeline']));
  for (const { name, parameters, shown } of found) {
    const given = Object.fromEntries(parameters.flatMap((one) => (one.default === null ? [[one.name, A]] : [])));
    const { columns } = await askAnalysis(reader, name, given);
    expect(columns, `${name} has the columns that its header shows`).toEqual(
      expect.arrayContaining(shown.map(({ column }) => column)),
    );
  }
});

describe('indexing_trend', () => {
  const counts = (date: string, numbers: (number | null)[]) => {
    const [pages, indexed, not_indexed, without_data, share_indexed, pages_change, indexed_change] = numbers;
    return {
      snapshot_date: date,
      pages,
      indexed,
      not_indexed,
      without_data,
      share_indexed,
      pages_change,
      indexed_change,
    };
  };
  const SHOP = [
    counts('2025-03-01', [3, 2, 0, 1, 0.6667, null, null]),
    counts('2025-03-02', [3, 1, 1, 1, 0.3333, 0, -1]),
    counts('2025-03-03', [3, 3, 0, 0, 1, 0, 2]),
    counts('2025-03-12', [3, 2, 1, 0, 0.6667, 0, -1]),
  ].map((row) => ({ website_id: 'shop', website_name: 'https://shop.example', ...row }));
  const BLOG_ROWS = [
    counts('2025-03-01', [1, 1, 0, 0, 1, null, null]),
    counts('2025-03-02', [1, 0, 1, 0, 0, 0, -1]),
    // A complete listing without a page is a date too, whose share is not known.
    counts('2025-03-12', [0, 0, 0, 0, null, -1, 0]),
  ].map((row) => ({ website_id: 'blog', website_name: 'https://blog.example', ...row }));

  it('counts the last listing of each date, and each website for itself', async () => {
    expect(await analysisRows(reader, 'indexing_trend')).toEqual([...BLOG_ROWS, ...SHOP]);
  });

  it('takes one website by id or name, and tells the first change against the date before', async () => {
    expect(await analysisRows(reader, 'indexing_trend', { website: 'shop' })).toEqual(SHOP);
    const given = { website: 'https://shop.example', since: '9 days ago' };
    expect(await analysisRows(reader, 'indexing_trend', given)).toEqual(SHOP.slice(2));
  });

  it('leaves out dates that have no complete listing', async () => {
    const rows = await analysisRows(other, 'indexing_trend', { website: 'shop' });
    expect(rows.map(({ snapshot_date, indexed }) => [snapshot_date, indexed])).toEqual([['2025-03-01', 1]]);
  });
});

describe('deindexed_pages', () => {
  const drop = (website_id: string, url: string, observed_at: string, now: (string | boolean)[]) => ({
    website_id,
    url,
    from_value: 'Indexed',
    to_value: 'Not Indexed',
    observed_at,
    snapshot_date: observed_at.slice(0, 10),
    index_summary_now: now[0],
    index_coverage_state_now: now[1],
    is_monitored_now: now[2],
    why: expect.stringMatching(/^Submitted and indexed → .+; fetch: /),
  });
  const A_NOW = ['Not Indexed', 'Soft 404', true];
  const LATE = drop('shop', A, NIGHT_4, A_NOW);
  const EARLY = drop('shop', A, NIGHT_2_AGAIN, A_NOW);
  // Absent from one complete listing, and its report answers 404: it is no longer monitored.
  const BLOG_DROP = drop('blog', BLOG, NIGHT_2_AGAIN, ['Not Indexed', 'Crawled - currently not indexed', false]);

  it('counts seven days from the newest snapshot', async () => {
    expect(await analysisRows(reader, 'deindexed_pages')).toEqual([LATE]);
  });

  it('takes a span of dates, both included, newest first, a website and a limit', async () => {
    const since = '2025-03-01';
    expect(await analysisRows(reader, 'deindexed_pages', { since })).toEqual([LATE, BLOG_DROP, EARLY]);
    expect(await analysisRows(reader, 'deindexed_pages', { since, until: '2025-03-02', website: 'shop' })).toEqual([
      EARLY,
    ]);
    expect(await analysisRows(reader, 'deindexed_pages', { since, until: '2025-03-01' })).toEqual([]);
    expect(await analysisRows(reader, 'deindexed_pages', { since, limit: '1' })).toEqual([LATE]);
  });

  it('leaves out what is indexed again, unless asked for it', async () => {
    const given = { since: '2025-03-01', website: 'wiki' };
    expect(await analysisRows(other, 'deindexed_pages', given)).toEqual([]);
    expect(await analysisRows(other, 'deindexed_pages', { ...given, reindexed: 'true' })).toEqual([
      drop('wiki', WIKI, NIGHT_2, ['Indexed', 'Submitted and indexed', true]),
    ]);
  });

  it('counts what a partial listing saw', async () => {
    const rows = await analysisRows(other, 'deindexed_pages', { website: 'shop' });
    expect(rows.map(({ url, observed_at }) => [url, observed_at])).toEqual([[A, NIGHT_4]]);
  });
});

describe('canonical_mismatches', () => {
  it('gives the pages that differ now, and since when they did without a break', async () => {
    expect(await analysisRows(reader, 'canonical_mismatches')).toEqual([
      {
        website_id: 'shop',
        url: B,
        searchengine_selected_canonical: D,
        user_selected_canonical: B,
        differs_since: NIGHT_2_AGAIN,
        last_listed_at: NIGHT_4,
        index_summary: 'Indexed',
        index_coverage_state: 'Submitted and indexed',
      },
    ]);
    expect(await analysisRows(reader, 'canonical_mismatches', { website: 'blog' })).toEqual([]);
  });

  it('leaves out pages that are gone and pages without a declared canonical', async () => {
    const rows = await analysisRows(other, 'canonical_mismatches', { website: 'forum' });
    expect(rows.map(({ url, differs_since }) => [url, differs_since])).toEqual([
      [B, NIGHT_2],
      [A, NIGHT_3],
    ]);
  });
});

describe('page_timeline', () => {
  const told = async (given: Record<string, string>) => {
    const rows = await analysisRows(reader, 'page_timeline', given);
    return rows.map((row) => [row['happened_at'], row['event'], row['change'] ?? row['index_summary']]);
  };

  it('tells listings, reports and changes in time order', async () => {
    expect(await told({ url: A })).toEqual([
      [NIGHT_1, 'listed', 'Indexed'],
      [NIGHT_1, 'report', 'Indexed'],
      [NIGHT_2, 'listed', 'Indexed'],
      [NIGHT_2, 'report', 'Indexed'],
      [NIGHT_2_AGAIN, 'listed', 'Not Indexed'],
      [NIGHT_2_AGAIN, 'report', 'Not Indexed'],
      [NIGHT_2_AGAIN, 'change', 'canonicals_match'],
      [NIGHT_2_AGAIN, 'change', 'coverage_state'],
      [NIGHT_2_AGAIN, 'change', 'deindexed'],
      [NIGHT_2_AGAIN, 'change', 'searchengine_canonical'],
      [NIGHT_2_AGAIN, 'change', 'user_canonical'],
      [NIGHT_3, 'listed', 'Indexed'],
      [NIGHT_3, 'report', 'Indexed'],
      [NIGHT_3, 'change', 'canonicals_match'],
      [NIGHT_3, 'change', 'coverage_state'],
      [NIGHT_3, 'change', 'indexed'],
      [NIGHT_3, 'change', 'searchengine_canonical'],
      [NIGHT_3, 'change', 'user_canonical'],
      [NIGHT_4, 'listed', 'Not Indexed'],
      [NIGHT_4, 'report', 'Not Indexed'],
      [NIGHT_4, 'change', 'canonicals_match'],
      [NIGHT_4, 'change', 'coverage_state'],
      [NIGHT_4, 'change', 'deindexed'],
      [NIGHT_4, 'change', 'searchengine_canonical'],
      [NIGHT_4, 'change', 'user_canonical'],
    ]);
  });

  it('tells absences until they settle that a page is gone', async () => {
    const rows = await told({ url: C, website: 'shop' });
    expect(rows.slice(-3)).toEqual([
      [NIGHT_3, 'absent', null],
      [NIGHT_3, 'report_missing', null],
      [NIGHT_3, 'change', 'disappeared'],
    ]);
    expect(rows.map(([, event]) => event).filter((event) => event === 'listed')).toHaveLength(3);
  });

  it('gives no rows for a page or website that does not know it', async () => {
    expect(await told({ url: 'https://shop.example/none' })).toEqual([]);
    expect(await told({ url: A, website: 'blog' })).toEqual([]);
  });

  it('tells that a page is in quarantine, which is no absence', async () => {
    const rows = await analysisRows(other, 'page_timeline', { url: B, website: 'shop' });
    expect(rows.map(({ event, detail }) => [event, detail])).toEqual([
      ['quarantined', 'coverage'],
      ['quarantined', 'url_report'],
    ]);
  });
});
