import { count } from '../../observe/format.js';
import { type Html, html, type Part, shortened } from '../../report/html.js';
import { type PageRow, type Pages, type PagesQuery, SORTED_BY, type SortedBy } from '../data/pages.js';
import { linkTo, type WebsiteVisit } from '../visit.js';
import { rowsSelect } from './changes-view.js';
import { type Choice, filterForm, type Select } from './filter-form.js';
import { nameOf } from './layout.js';
import { pagingPart, shownOf } from './paging.js';
import { type Column, dataTable } from './table.js';
import { age, orUnknown, pageTimelineLink, time, UNKNOWN } from './values.js';

const CANONICAL_CHARACTERS = 60;
const HEADS: Record<SortedBy, string> = {
  url: 'Page',
  indexed: 'Indexed',
  state: 'State',
  canonical: 'Canonical',
  crawl: 'Last crawl',
  report: 'Report age',
};

/** The pages of a website: filtered, sorted, a window of them. */
export function pagesView(visit: WebsiteVisit, query: PagesQuery, pages: Pages): Html {
  const { page: _page, sort, ...asked } = query;
  return html`<h1>Pages of ${nameOf(visit.website)}</h1>
${filterForm(linkTo(visit, 'pages'), { q: query.q ?? '', selects: selectsOf(query, pages), kept: { sort } })}
<p id="announcement" class="unseen" role="status"></p>
<div id="results">
${shownOf(query, pages.count, 'page')}
${dataTable({
  id: 'pages',
  caption: 'Pages as they stand now',
  columns: SORTED_BY.map((name) => column(name, query, (by) => linkTo(visit, 'pages', { ...asked, sort: by }))),
  rows: pages.rows.map((row) => cellsOf(visit, row)),
  empty: 'No page is like that.',
})}
${pagingPart(query, pages.count, (page) => linkTo(visit, 'pages', { ...asked, sort, page }))}
</div>`;
}

function column(name: SortedBy, { sort }: PagesQuery, linkOf: (by: string) => string): Column {
  const standing = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : 'none';
  const link = linkOf(standing === 'ascending' ? `-${name}` : name);
  return { head: HEADS[name], sort: { link, standing, key: name } };
}

function cellsOf(visit: WebsiteVisit, row: PageRow): Part[] {
  const gone = row.is_gone ? html` <b class="bad">gone</b>` : null;
  return [
    html`${pageTimelineLink(visit, row.url)}${gone}`,
    orUnknown(row.index_summary === 'Indexed' ? 'yes' : row.index_summary === null ? null : 'no'),
    orUnknown(row.index_coverage_state),
    canonical(row),
    time(row.last_crawl_time),
    age(row.report_fetched_at, visit.now),
  ];
}

function canonical({ url, searchengine_selected_canonical: chosen, canonicals_match }: PageRow): Part {
  const differs = canonicals_match === false ? html` <b class="bad">differs</b>` : null;
  if (chosen === null) return differs ? html`${UNKNOWN}${differs}` : UNKNOWN;
  const shown = chosen === url ? 'itself' : html`<span class="url">${shortened(chosen, CANONICAL_CHARACTERS)}</span>`;
  return html`${shown}${differs}`;
}

function selectsOf({ state, indexed, canonical: match, monitored, per }: PagesQuery, { states }: Pages): Select[] {
  const offered: Choice[] = states.map(({ state: name, pages }) => [
    name,
    `${name === '-' ? 'not known' : shortened(name, CANONICAL_CHARACTERS)} (${count(pages)})`,
  ]);
  const missing = state === undefined || states.some(({ state: name }) => name === state);
  return [
    {
      name: 'indexed',
      label: 'Indexed',
      chosen: indexed ?? '',
      choices: [
        ['', 'any'],
        ['yes', 'yes'],
        ['no', 'no'],
        ['-', 'without data'],
      ],
    },
    {
      name: 'state',
      label: 'State',
      chosen: state ?? '',
      choices: [
        ['', 'any'],
        ...offered,
        ...(missing ? [] : [[state, shortened(state, CANONICAL_CHARACTERS)] as const]),
      ],
    },
    {
      name: 'canonical',
      label: 'Canonicals',
      chosen: match ?? '',
      choices: [
        ['', 'any'],
        ['match', 'match'],
        ['differ', 'differ'],
        ['-', 'not known'],
      ],
    },
    {
      name: 'monitored',
      label: 'Monitored',
      chosen: monitored ?? '',
      choices: [
        ['', 'now'],
        ['gone', 'gone'],
        ['all', 'now or earlier'],
      ],
    },
    rowsSelect(per),
  ];
}
