import { count } from '../../observe/format.js';
import { agesChart } from '../../report/charts/bar-charts.js';
import { trendChart } from '../../report/charts/trend-chart.js';
import { dayOfMonth, percent, points, signed } from '../../report/figures.js';
import { shareOf } from '../../report/headline.js';
import { type Html, html, type Part } from '../../report/html.js';
import { legend } from '../../report/parts/table.js';
import type { TrendRow } from '../../report/rows.js';
import type { Counts } from '../../report/trend.js';
import type { Overview } from '../data/overview.js';
import { linkTo, type WebsiteVisit } from '../visit.js';
import { nameOf } from './layout.js';
import { dataTable } from './table.js';
import { changeName } from './values.js';

/** How a website stands: its numbers beside those of the listing before, the trend, and the newest night's changes. */
export function overviewView(visit: WebsiteVisit, overview: Overview): Html {
  const { newest, listings } = overview;
  return html`<h1>${nameOf(visit.website)}</h1>
${newest?.listing_status === 'partial' ? partialNote(listings.at(-1)) : null}
${headline(visit, listings)}
<section aria-labelledby="h-trend"><h2 id="h-trend">Trend</h2>
${trend(overview)}</section>
<section aria-labelledby="h-night"><h2 id="h-night">Newest night</h2>
${newestNight(visit, overview)}</section>
<section aria-labelledby="h-age"><h2 id="h-age">Age of the reports</h2>
${reportAges(overview)}</section>`;
}

function partialNote(listing: TrendRow | undefined): Html {
  const of = listing
    ? `The numbers are those of ${listing.snapshot_date}.`
    : 'No listing of the last 90 days is complete.';
  return html`<p class="warning">The newest listing is only partial. ${of}</p>`;
}

function headline(visit: WebsiteVisit, listings: readonly TrendRow[]): Html {
  const [before, now] = [listings.at(-2), listings.at(-1)];
  if (!now) return html`<p class="empty">No listing of the last 90 days is complete.</p>`;
  const change = (key: keyof Counts) =>
    before ? `${signed(now[key] - before[key])} since ${dayOfMonth(before.snapshot_date)}` : 'no earlier listing';
  const [share, shareBefore] = [shareOf(now.indexed, now.pages), before && shareOf(before.indexed, before.pages)];
  const moved = share !== null && typeof shareBefore === 'number' ? html`<br>${points(shareBefore, share)}` : null;
  const pages = (indexed: string) => linkTo(visit, 'pages', { indexed });
  return html`<p class="about">Listing of ${now.snapshot_date}</p>
<dl class="tiles">
${tile('Pages', linkTo(visit, 'pages'), count(now.pages), change('pages'))}
${tile('Indexed', pages('yes'), html`${count(now.indexed)} <small>${percent(share)}</small>`, html`${change('indexed')}${moved}`)}
${tile('Not indexed', pages('no'), count(now.not_indexed), change('not_indexed'))}
${tile('Without data', pages('-'), count(now.without_data), change('without_data'))}
</dl>`;
}

function tile(name: string, link: string, value: Part, below: Part): Html {
  return html`<div><dt><a href="${link}">${name}</a></dt><dd><b>${value}</b><span>${below}</span></dd></div>\n`;
}

function trend({ days, span, listings }: Overview): Part {
  if (listings.length === 0) return html`<p class="empty">There is nothing to draw yet.</p>`;
  const entries: (readonly [string, string])[] = [
    ['indexed', 'indexed'],
    ['not-indexed', 'not indexed'],
    ['no-data', 'without data: never inspected'],
  ];
  const hasPartial = days.some(({ partial }) => partial);
  const table = dataTable({
    id: 'trend-numbers',
    caption: 'The same in numbers, the newest first',
    columns: ['Date', 'Pages', 'Indexed', 'Not indexed', 'Without data', 'Share indexed'].map((head, at) => ({
      head,
      isNumber: at > 0,
    })),
    rows: listings
      .toReversed()
      .map((row) => [
        html`<span class="date">${row.snapshot_date}</span>`,
        ...[row.pages, row.indexed, row.not_indexed, row.without_data].map((number) => count(number)),
        percent(shareOf(row.indexed, row.pages)),
      ]),
    empty: '',
  });
  return html`${legend(...entries, ...(hasPartial ? [['partial', 'no complete listing that night'] as const] : []))}
${trendChart('trend', days, { ...span, since: days[0]?.date ?? span.since })}
<details><summary>Numbers of the chart</summary>
${table}</details>`;
}

function newestNight(visit: WebsiteVisit, { changes, span }: Overview): Html {
  return dataTable({
    id: 'night',
    caption: `Changes of ${span.until}`,
    columns: [{ head: 'Change' }, { head: 'Times', isNumber: true }],
    rows: changes.map(({ change, changes: times }) => [
      html`<a href="${linkTo(visit, 'changes', { nights: 1, kind: change })}">${changeName(change)}</a>`,
      count(times),
    ]),
    empty: `Nothing changed on ${span.until}.`,
  });
}

function reportAges({ reportAges: ages }: Overview): Html {
  return html`<p>Monitored pages by days since their report was fetched, counted from the newest snapshot.</p>
${ages.length > 0 ? agesChart({ id: 'ages', title: 'Pages by days since their report was fetched' }, ages) : null}`;
}
