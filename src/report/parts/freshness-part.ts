import { agesChart } from '../../html/charts/bar-charts.js';
import { counted, percent, shareOf } from '../../html/figures.js';
import { type Html, html, type Part, pageLink, shortened } from '../../html/html.js';
import { type Column, table } from '../../html/table.js';
import { count } from '../../observe/format.js';
import type { StaleRow } from '../rows.js';
import { type Section, STALE_DAYS } from '../section.js';
import { command, note, part, websiteColumn, websiteParameter } from './part.js';

const STATE_CHARACTERS = 80;

/** How long ago pages were crawled, and those that were not for long. */
export function freshnessPart(id: string, section: Section): Html {
  const { crawl_ages, stale } = section;
  const pages = crawl_ages.reduce((added, age) => added + age.pages, 0);
  if (pages === 0) return part('Crawl freshness', note('There are no monitored pages.'));
  return part(
    'Crawl freshness',
    html`<p>Pages by days since the search engine last crawled them. ${counted(stale.total, 'page')} (${percent(shareOf(stale.total, pages))}) had no crawl for more than ${STALE_DAYS - 1} days, or never one.</p>`,
    agesChart({ id: `${id}-crawls`, title: 'Pages by days since their last crawl' }, crawl_ages),
    stale.total > 0 ? staleTable(section) : null,
    stale.total > stale.rows.length
      ? note(
          `The first ${count(stale.rows.length)} of ${count(stale.total)}. All of them: `,
          command('pages_not_crawled', { ...websiteParameter(section), days: String(STALE_DAYS) }),
        )
      : null,
  );
}

function staleTable(section: Section): Part {
  const columns: Column<StaleRow>[] = [
    ...websiteColumn(section),
    { head: 'page', cell: ({ url }) => pageLink(url) },
    {
      head: 'last crawl',
      cell: ({ last_crawl_time }) => html`<span class="date">${last_crawl_time?.slice(0, 10) ?? 'never'}</span>`,
    },
    { head: 'days', isNumber: true, cell: ({ days_since_crawl: days }) => (days === null ? '' : count(days)) },
    { head: 'state', cell: (row) => shortened(row.index_coverage_state ?? 'no data', STATE_CHARACTERS) },
  ];
  return table(columns, section.stale.rows);
}
