import type { CoverageEntry } from '../../../src/source/contract/coverage.js';
import type { UrlReport } from '../../../src/source/contract/report.js';
import type { GivenPage } from '../../given/service.js';
import { type BuiltWarehouse, buildWarehouse } from '../../given/warehouse.js';

/** The times of the nights, the first at index 1. The third has a listing that is partial. */
export const AT = ['', '01', '02', '03', '10', '11'].map((day) => day && `2025-03-${day}T02:00:00.000Z`);
const BLOG_MAP = 'https://shop.example/blog.xml';
const MAIN_MAP = 'https://shop.example/main.xml';
export const CRAWLED_STATE = 'Crawled - currently not indexed';
export const INDEXED_STATE = 'Submitted and indexed';
export const ELSEWHERE = 'https://else.example/x';

export const urlOf = (name: string) => `https://shop.example/${name}`;

type Entry = Partial<CoverageEntry>;
/** A page's entry in each of the five nights, null where it is not listed, and its report in all or each of them. */
interface Story {
  listed: (Entry | null)[];
  report?: Partial<UrlReport> | null | (Partial<UrlReport> | null)[];
}

const crawled = (date: string): Entry => ({ last_crawl_time: `${date}T02:00:00.000Z` });
/** 11 days before the last night. */
const LONG_AGO = crawled('2025-02-28');

function indexed(name: string, more: Entry = LONG_AGO): Entry {
  const own = { searchengine_selected_canonical: urlOf(name), user_selected_canonical: urlOf(name) };
  return { index_summary: 'Indexed', index_coverage_state: INDEXED_STATE, ...own, ...more };
}

function out(state: string, more: Entry = LONG_AGO): Entry {
  return { index_summary: 'Not Indexed', index_coverage_state: state, ...more };
}

/** An entry that breaks the contract and still says which page it is. */
const BROKEN: Entry = JSON.parse('{"index_summary": 5}');
const DISCOVERED = out('Discovered - currently not indexed', {});
const times = <T>(number: number, one: T): T[] => Array.from({ length: number }, () => one);

const GOOD = { page_fetch_status: 'Successful', blocked_by_robots_txt: 'No', ever_blocked_by_robots_txt: 'No' };
const inMap = (map: string) => ({ ...GOOD, sitemaps: [map] });
const BLOCKED = {
  ...inMap(MAIN_MAP),
  page_fetch_status: 'Blocked by robots.txt',
  blocked_by_robots_txt: 'Yes',
  ever_blocked_by_robots_txt: 'Yes',
  ever_blocked_by_robots_txt_timestamp: '2025-03-08T00:00:00.000Z',
};
const FELL = out(CRAWLED_STATE, crawled('2025-03-08'));
const fallsOnTheFourth = (name: string): Story => ({
  listed: [...times(3, indexed(name)), FELL, FELL],
  report: inMap(BLOG_MAP),
});
const stays = (name: string, map: string, more?: Entry): Story => ({
  listed: times(5, indexed(name, more)),
  report: inMap(map),
});
const flips = (canonical: string) => indexed('docs/flip', { ...LONG_AGO, searchengine_selected_canonical: canonical });

/** What each page of the website `shop` is, night by night. */
const STORIES: Record<string, Story> = {
  'blog/1': fallsOnTheFourth('blog/1'),
  'blog/2': fallsOnTheFourth('blog/2'),
  'blog/3': fallsOnTheFourth('blog/3'),
  'blog/4': stays('blog/4', BLOG_MAP),
  'docs/1': stays('docs/1', MAIN_MAP),
  'docs/2': stays('docs/2', MAIN_MAP),
  'docs/3': stays('docs/3', MAIN_MAP, crawled('2025-01-01')),
  'docs/4': {
    listed: [...times(4, indexed('docs/4')), out('Soft 404')],
    report: [...times(4, inMap(MAIN_MAP)), { ...inMap(MAIN_MAP), page_fetch_status: 'Soft 404' }],
  },
  // The partial listing is the first that sees it.
  'docs/flip': {
    listed: [...times(2, indexed('docs/flip')), ...times(2, flips(urlOf('docs/1'))), flips(ELSEWHERE)],
    report: inMap(MAIN_MAP),
  },
  flap: {
    listed: [indexed('flap'), out(CRAWLED_STATE), indexed('flap'), out(CRAWLED_STATE), indexed('flap')],
    report: { ...GOOD, sitemaps: [] },
  },
  'new/slow': {
    listed: [null, DISCOVERED, DISCOVERED, ...times(2, indexed('new/slow', crawled('2025-03-10')))],
    report: { ...GOOD, sitemaps: [MAIN_MAP, BLOG_MAP] },
  },
  'new/quick': { listed: [...times(3, null), ...times(2, indexed('new/quick', crawled('2025-03-09')))], report: GOOD },
  'new/waiting': { listed: [...times(3, null), ...times(2, DISCOVERED)], report: inMap(MAIN_MAP) },
  'new/gone': { listed: [null, DISCOVERED, DISCOVERED, null, null], report: GOOD },
  blocked: {
    listed: [...times(3, indexed('blocked')), ...times(2, out('Blocked by robots.txt'))],
    report: [...times(3, inMap(MAIN_MAP)), BLOCKED, BLOCKED],
  },
  unblocked: {
    listed: times(5, indexed('unblocked')),
    report: [...times(3, BLOCKED), ...times(2, { ...BLOCKED, ...inMap(MAIN_MAP), ever_blocked_by_robots_txt: 'Yes' })],
  },
  // Quarantined twice.
  odd: { listed: [...times(2, indexed('odd')), BROKEN, indexed('odd'), BROKEN], report: inMap(MAIN_MAP) },
  // Never inspected, and it has no report.
  unknown: { listed: times(5, {}), report: null },
};

function pagesOn(night: number): GivenPage[] {
  return Object.entries(STORIES).flatMap(([name, { listed, report = {} }]) => {
    const entry = listed[night - 1];
    if (!entry) return [];
    return [{ url: urlOf(name), entry, report: (Array.isArray(report) ? report[night - 1] : report) ?? null }];
  });
}

/** Of the website `kinds`, of two directories and two sitemaps: on the last night one of four combinations falls. */
function kindsOn(night: number): GivenPage[] {
  const kinds = [
    { directory: 'a', map: BLOG_MAP, pages: 12, falls: true },
    { directory: 'a', map: MAIN_MAP, pages: 12, falls: false },
    { directory: 'b', map: BLOG_MAP, pages: 12, falls: false },
    { directory: 'b', map: MAIN_MAP, pages: 24, falls: false },
  ];
  return kinds.flatMap(({ directory, map, pages, falls }, kind) =>
    Array.from({ length: pages }, (_, number) => {
      const url = `https://kinds.example/${directory}/page-${kind}-${number}`;
      // Those that fell have another canonical, sitemap and page fetch since: consequences, not causes.
      return falls && night === 5
        ? { url, entry: out('Soft 404', {}), report: { sitemaps: [], page_fetch_status: 'Soft 404' } }
        : { url, entry: { ...indexed('', {}), searchengine_selected_canonical: url }, report: inMap(map) };
    }),
  );
}

/**
 * Websites with known answers: `shop` with these stories, `kinds`, and `wiki`, whose only page falls out of the
 * index on the last night.
 */
export function storiesWarehouse(): Promise<BuiltWarehouse> {
  const wiki = (entry: Entry): GivenPage[] => [{ url: 'https://wiki.example/', entry }];
  return buildWarehouse(
    [1, 2, 3, 4, 5].map((night) => ({
      at: AT[night] ?? '',
      lists: {
        shop: pagesOn(night),
        ...(night === 1 ? { wiki: wiki({ index_summary: 'Indexed' }), kinds: kindsOn(night) } : {}),
        ...(night === 5 ? { wiki: wiki({ index_summary: 'Not Indexed' }), kinds: kindsOn(night) } : {}),
      },
      // One reject makes the third night's listing partial, but not the fifth's.
      ...(night === 5 ? { maxRejectRatio: 1 } : {}),
    })),
  );
}
