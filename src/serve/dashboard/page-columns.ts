import { z } from 'zod';
import { orUnknown, text, time, UNKNOWN } from '../../answers/html/cells.js';
import { type Column, type Html, html, type Part, shortened } from '../../answers/html/html.js';
import type { WebsiteContext } from './layout.js';
import { age, pageTimelineLink } from './values.js';

/** What the values of the filter `problem` are called. */
export const PROBLEMS: Readonly<Record<string, string>> = {
  rich_results: 'rich results with errors',
  unconfirmed: 'not confirmed',
};

/** The columns that a list can be sorted by. */
export const SORTABLE = ['url', 'indexed', 'state', 'canonical', 'crawl', 'report'] as const;

const MOST_CHARACTERS = 500;
const CANONICAL_CHARACTERS = 60;
const WORD_CHARACTERS = 160;

const maybeText = z.string().nullable().default(null);

/** A column that was not read is null, like an unknown value. */
export const pageRow = z.object({
  url: z.string(),
  is_gone: z.boolean(),
  problems: z.array(z.string()).nullable().default(null),
  index_summary: maybeText,
  index_coverage_state: maybeText,
  canonicals: maybeText,
  searchengine_selected_canonical: maybeText,
  user_selected_canonical: maybeText,
  last_crawl_time: maybeText,
  report_fetched_at: maybeText,
  inspection_date: maybeText,
  page_fetch_status: maybeText,
  blocked_by_robots_txt: maybeText,
  indexing_allowed: maybeText,
  primary_crawler: maybeText,
  /** At most three. */
  sitemaps: z.array(z.string()).nullable().default(null),
  sitemap_count: z.int().nullable().default(null),
  page_detection: maybeText,
  first_seen_at: maybeText,
  own: z.record(z.string(), z.string()).nullable().default(null),
});
export type PageRow = z.infer<typeof pageRow>;

/** What the cells of a list need besides its rows. */
interface ListContext extends WebsiteContext {
  /** The origin that all its pages share, if they do. */
  origin: string | null;
}

/** A column of the list: its head, the columns of `selected_pages` that it shows, and a cell of it. */
type PageColumnContent = readonly [
  head: string,
  reads: readonly (keyof PageRow)[],
  cell: (row: PageRow, context: ListContext) => Part,
];

/** The columns that a list of pages can have, in their order. The first is always there. */
const COLUMNS = {
  url: ['Page', ['url', 'is_gone', 'problems'], page],
  indexed: ['Indexed', ['index_summary', 'is_gone'], indexed],
  state: ['State', ['index_coverage_state'], (row) => orUnknown(row.index_coverage_state)],
  canonical: ['Canonical', ['searchengine_selected_canonical', 'canonicals'], canonical],
  declared: [
    'Declared canonical',
    ['user_selected_canonical'],
    (row) => canonicalAddress(row.user_selected_canonical, row.url),
  ],
  crawl: ['Last crawl', ['last_crawl_time'], (row) => time(row.last_crawl_time)],
  crawl_age: ['Crawl age', ['last_crawl_time'], (row, { website }) => age(row.last_crawl_time, website)],
  report: ['Report age', ['report_fetched_at'], (row, { website }) => age(row.report_fetched_at, website)],
  inspected: ['Inspected', ['inspection_date'], (row) => time(row.inspection_date)],
  fetch: ['Page fetch', ['page_fetch_status'], (row) => word(row.page_fetch_status)],
  robots: ['Blocked by robots.txt', ['blocked_by_robots_txt'], (row) => word(row.blocked_by_robots_txt)],
  allowed: ['Indexing allowed', ['indexing_allowed'], (row) => word(row.indexing_allowed)],
  crawler: ['Crawler', ['primary_crawler'], (row) => word(row.primary_crawler)],
  sitemaps: ['Sitemaps', ['sitemaps', 'sitemap_count'], fewSitemaps],
  detected: ['Detected', ['page_detection'], (row) => time(row.page_detection)],
  first_seen: ['First seen', ['first_seen_at'], (row) => time(row.first_seen_at)],
} satisfies Record<string, PageColumnContent>;
export type PageColumn = keyof typeof COLUMNS;
const CONTENTS: Readonly<Record<PageColumn, PageColumnContent>> = COLUMNS;

const pageColumn = z.custom<PageColumn>((name) => typeof name === 'string' && Object.hasOwn(COLUMNS, name));
export const PAGE_COLUMNS: readonly PageColumn[] = z.array(pageColumn).parse(Object.keys(COLUMNS));

const DEFAULTS: ReadonlySet<PageColumn> = new Set(['url', 'indexed', 'state', 'canonical', 'crawl', 'report']);

const names = z.string().max(MOST_CHARACTERS);

/**
 * The columns that an address names, in the order of the list and each once: `state,crawler`, or one parameter for
 * each, as a form sends them. The defaults if it names none.
 */
export const columnsQuery = z
  .union([names, z.array(names)])
  .default('')
  .transform((given) => [given].flat().flatMap((text) => text.split(',').filter((name) => name !== '')))
  .pipe(z.array(pageColumn))
  .transform((named) => {
    const chosen = named.length > 0 ? new Set<PageColumn>(['url', ...named]) : DEFAULTS;
    return PAGE_COLUMNS.filter((name) => chosen.has(name));
  });

/** The parameter for these columns; undefined for the defaults. */
export function askFor(columns: readonly PageColumn[]): string | undefined {
  const areDefaults = columns.length === DEFAULTS.size && columns.every((name) => DEFAULTS.has(name));
  return areDefaults ? undefined : columns.join(',');
}

/** The columns of `selected_pages` that a list with these columns is made of. */
export function readsOf(columns: readonly PageColumn[]): string[] {
  return [...new Set(columns.flatMap((name) => CONTENTS[name][1]))];
}

export function headOf(name: PageColumn): string {
  return CONTENTS[name][0];
}

/** @param own columns of the user's own, which follow */
export function pageColumns(
  shown: readonly PageColumn[],
  context: ListContext,
  own: readonly string[],
): Column<PageRow>[] {
  const ofOwn = own.map((name) => ({ head: name, cell: (row: PageRow) => word(row.own?.[name] ?? null) }));
  const ofPages = shown.map((name) => {
    const [head, , cell] = CONTENTS[name];
    const isSortable = SORTABLE.some((one) => one === name);
    return { head, ...(isSortable ? { sortedAs: name } : {}), cell: (row: PageRow) => cell(row, context) };
  });
  return [...ofPages, ...ofOwn];
}

function indexed({ index_summary: summary, is_gone }: PageRow): Part {
  return is_gone ? 'gone' : orUnknown(summary === null ? null : summary === 'Indexed' ? 'yes' : 'no');
}

function page({ url, is_gone, problems }: PageRow, context: ListContext): Html {
  const marks = [...(is_gone ? ['gone'] : []), ...(problems ?? []).map((problem) => PROBLEMS[problem] ?? problem)];
  return html`${pageTimelineLink(context, url, context.origin)}${marks.map((mark) => html` <b class="bad">${mark}</b>`)}`;
}

function canonical({ url, searchengine_selected_canonical: chosen, canonicals }: PageRow): Part {
  const shown = canonicalAddress(chosen, url);
  return canonicals === 'differ' ? html`${shown} <b class="bad">differs</b>` : shown;
}

/** One of a few short texts, which must not break inside a word. */
function word(value: string | null): Part {
  return orUnknown(value && shortened(value, WORD_CHARACTERS));
}

/** A canonical address of a page. */
function canonicalAddress(value: string | null, page: string): Part {
  if (value === null) return UNKNOWN;
  return value === page ? 'itself' : html`<span class="url">${shortened(value, CANONICAL_CHARACTERS)}</span>`;
}

function fewSitemaps({ sitemaps: shown, sitemap_count: count }: PageRow): Part {
  if (shown === null || shown.length === 0) return UNKNOWN;
  const more = (count ?? 0) - shown.length;
  const items = shown.map((url) => html`<li>${text(url)}</li>`);
  return html`<ul class="few">${items}${more > 0 ? html`<li>and ${more} more</li>` : null}</ul>`;
}
