import { type Html, html, type Part, shortened } from '../../html/html.js';
import type { WebsiteContext } from '../context.js';
import { PAGE_COLUMNS, type PageColumn } from '../data/page-columns.js';
import type { PageRow } from '../data/pages.js';
import type { Column } from './table.js';
import { age, orUnknown, pageTimelineLink, text, time, UNKNOWN } from './values.js';

const CANONICAL_CHARACTERS = 60;
const WORD_CHARACTERS = 160;

/** What the columns of a list of pages are called and show. */
const COLUMNS: Readonly<Record<PageColumn, PageColumnContent>> = {
  url: { head: 'Page', isSortable: true, cell: page },
  indexed: { head: 'Indexed', isSortable: true, cell: ({ index_summary }) => indexed(index_summary) },
  state: { head: 'State', isSortable: true, cell: ({ index_coverage_state }) => orUnknown(index_coverage_state) },
  canonical: { head: 'Canonical', isSortable: true, cell: canonical },
  declared: {
    head: 'Declared canonical',
    cell: ({ url, user_selected_canonical }) => address(user_selected_canonical, url),
  },
  crawl: { head: 'Last crawl', isSortable: true, cell: ({ last_crawl_time }) => time(last_crawl_time) },
  crawl_age: { head: 'Crawl age', cell: ({ last_crawl_time }, { now }) => age(last_crawl_time, now) },
  report: {
    head: 'Report age',
    isSortable: true,
    cell: ({ report_fetched_at }, { now }) => age(report_fetched_at, now),
  },
  inspected: { head: 'Inspected', cell: ({ inspection_date }) => time(inspection_date) },
  fetch: { head: 'Page fetch', cell: ({ page_fetch_status }) => word(page_fetch_status) },
  robots: {
    head: 'Blocked by robots.txt',
    cell: ({ blocked_by_robots_txt }) => word(blocked_by_robots_txt),
  },
  allowed: { head: 'Indexing allowed', cell: ({ indexing_allowed }) => word(indexing_allowed) },
  crawler: { head: 'Crawler', cell: ({ primary_crawler }) => word(primary_crawler) },
  sitemaps: { head: 'Sitemaps', cell: sitemaps },
  detected: { head: 'Detected', cell: ({ page_detection }) => time(page_detection) },
  first_seen: { head: 'First seen', cell: ({ first_seen_at }) => time(first_seen_at) },
};

interface PageColumnContent extends Pick<Column<PageRow>, 'head' | 'isNumber' | 'isSortable'> {
  cell(row: PageRow, context: WebsiteContext): Part;
}

/** Every column that a list of pages can have. */
export function pageColumns(context: WebsiteContext): Column<PageRow>[] {
  return PAGE_COLUMNS.map((id) => ({ ...COLUMNS[id], id, cell: (row) => COLUMNS[id].cell(row, context) }));
}

function page({ url, is_gone }: PageRow, context: WebsiteContext): Html {
  const gone = is_gone ? html` <b class="bad">gone</b>` : null;
  return html`${pageTimelineLink(context, url)}${gone}`;
}

function indexed(summary: string | null): Part {
  return orUnknown(summary === 'Indexed' ? 'yes' : summary === null ? null : 'no');
}

function canonical({ url, searchengine_selected_canonical: chosen, canonicals_match }: PageRow): Part {
  const differs = canonicals_match === false ? html` <b class="bad">differs</b>` : null;
  return differs ? html`${address(chosen, url)}${differs}` : address(chosen, url);
}

/** One of few short texts of the service, which is not to break inside of a word. */
function word(value: string | null): Part {
  return orUnknown(value === null ? null : shortened(value, WORD_CHARACTERS));
}

/** A canonical address of a page. */
function address(value: string | null, page: string): Part {
  if (value === null) return UNKNOWN;
  return value === page ? 'itself' : html`<span class="url">${shortened(value, CANONICAL_CHARACTERS)}</span>`;
}

function sitemaps({ sitemaps: shown, sitemap_count: count }: PageRow): Part {
  if (shown === null || shown.length === 0) return UNKNOWN;
  const more = (count ?? 0) - shown.length;
  const items = shown.map((url) => html`<li>${text(url)}</li>`);
  return html`<ul class="few">${items}${more > 0 ? html`<li>and ${more} more</li>` : null}</ul>`;
}
