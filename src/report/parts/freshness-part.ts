import { agesChart } from '../../html/charts/bar-charts.js';
import { counted, percent } from '../../html/figures.js';
import { type Html, html, pageLink, shortened } from '../../html/html.js';
import { count } from '../../observe/format.js';
import { shareOf } from '../headline.js';
import { type Section, STALE_DAYS } from '../section.js';
import { command, note, part, table } from './table.js';
import { nameOfWebsite } from './website-name.js';

const STATE_CHARACTERS = 80;

/** How long ago pages were crawled, and those that were not for long. */
export function freshnessPart(id: string, section: Section): Html {
  const { crawl_ages, stale, websites } = section;
  const pages = crawl_ages.reduce((added, age) => added + age.pages, 0);
  if (pages === 0) return part('Crawl freshness', note('There are no monitored pages.'));
  const [first, second] = websites;
  const website = first && !second ? { website: first.website.website_id } : {};
  return part(
    'Crawl freshness',
    html`<p>Pages by days since the search engine last crawled them. ${counted(stale.total, 'page')} (${percent(shareOf(stale.total, pages))}) had no crawl for more than ${STALE_DAYS - 1} days, or never one.</p>`,
    agesChart({ id: `${id}-crawls`, title: 'Pages by days since their last crawl' }, crawl_ages),
    stale.total > 0 ? staleTable(section) : null,
    stale.total > stale.rows.length
      ? note(
          `The first ${count(stale.rows.length)} of ${count(stale.total)}. All of them: `,
          command('pages_not_crawled', { ...website, days: String(STALE_DAYS) }),
        )
      : null,
  );
}

function staleTable(section: Section): Html {
  const several = section.websites.length > 1;
  return table(
    [
      ...(several ? [{ head: 'website' }] : []),
      { head: 'page' },
      { head: 'last crawl' },
      { head: 'days', align: 'right' },
      { head: 'state' },
    ],
    section.stale.rows.map((row) => [
      ...(several ? [nameOfWebsite(section, row.website_id)] : []),
      pageLink(row.url),
      html`<span class="date">${row.last_crawl_time?.slice(0, 10) ?? 'never'}</span>`,
      row.days_since_crawl === null ? '' : count(row.days_since_crawl),
      shortened(row.index_coverage_state ?? 'no data', STATE_CHARACTERS),
    ]),
  );
}
