import { agesChart } from '../../html/charts/bar-charts.js';
import { dayOfMonth, percent, points, signed } from '../../html/figures.js';
import { type Html, html, type Part } from '../../html/html.js';
import { count } from '../../observe/format.js';
import { shareOf } from '../../report/headline.js';
import type { TrendRow } from '../../report/rows.js';
import type { Counts } from '../../report/trend.js';
import { linkTo, type WebsiteContext } from '../context.js';
import type { Overview } from '../data/overview.js';
import { nameOf } from './layout.js';
import { dataTable } from './table.js';
import { trendPart } from './trend-part.js';
import { changeName } from './values.js';

/** How a website stands: its numbers beside those of the listing before, the trend, and the newest night's changes. */
export function overviewView(context: WebsiteContext, overview: Overview): Html {
  const { newest, listings } = overview;
  return html`<h1>${nameOf(context.website)}</h1>
${newest?.listing_status === 'partial' ? partialNote(listings.at(-1)) : null}
${headline(context, listings)}
<section aria-labelledby="h-trend"><h2 id="h-trend">Trend</h2>
${trendPart(overview)}</section>
<section aria-labelledby="h-night"><h2 id="h-night">Newest night</h2>
${newestNight(context, overview)}</section>
<section aria-labelledby="h-age"><h2 id="h-age">Age of the reports</h2>
${reportAges(overview)}</section>`;
}

function partialNote(listing: TrendRow | undefined): Html {
  const of = listing
    ? `The numbers are those of ${listing.snapshot_date}.`
    : 'No listing of the last 90 days is complete.';
  return html`<p class="warning">The newest listing is only partial. ${of}</p>`;
}

function headline(context: WebsiteContext, listings: readonly TrendRow[]): Html {
  const [before, now] = [listings.at(-2), listings.at(-1)];
  if (!now) return html`<p class="empty">No listing of the last 90 days is complete.</p>`;
  const change = (key: keyof Counts) =>
    before ? `${signed(now[key] - before[key])} since ${dayOfMonth(before.snapshot_date)}` : 'no earlier listing';
  const [share, shareBefore] = [shareOf(now.indexed, now.pages), before && shareOf(before.indexed, before.pages)];
  const moved = share !== null && typeof shareBefore === 'number' ? html`<br>${points(shareBefore, share)}` : null;
  const pages = (indexed: string) => linkTo(context, 'pages', { indexed });
  return html`<p class="about">Listing of ${now.snapshot_date}</p>
<dl class="tiles">
${tile('Pages', linkTo(context, 'pages'), count(now.pages), change('pages'))}
${tile('Indexed', pages('yes'), html`${count(now.indexed)} <small>${percent(share)}</small>`, html`${change('indexed')}${moved}`)}
${tile('Not indexed', pages('no'), count(now.not_indexed), change('not_indexed'))}
${tile('Without data', pages('-'), count(now.without_data), change('without_data'))}
</dl>`;
}

function tile(name: string, link: string, value: Part, below: Part): Html {
  return html`<div><dt><a href="${link}">${name}</a></dt><dd><b>${value}</b><span>${below}</span></dd></div>\n`;
}

function newestNight(context: WebsiteContext, { changes, span }: Overview): Html {
  return dataTable({
    id: 'night',
    caption: `Changes of ${span.until}`,
    columns: [
      { id: 'change', head: 'Change', cell: ({ change }) => kindLink(context, change) },
      { id: 'times', head: 'Times', isNumber: true, cell: ({ changes: times }) => count(times) },
    ],
    rows: changes,
    empty: `Nothing changed on ${span.until}.`,
  });
}

function kindLink(context: WebsiteContext, kind: string): Html {
  return html`<a href="${linkTo(context, 'changes', { nights: 1, kind })}">${changeName(kind)}</a>`;
}

function reportAges({ reportAges: ages }: Overview): Html {
  return html`<p>Monitored pages by days since their report was fetched, counted from the newest snapshot.</p>
${ages.length > 0 ? agesChart({ id: 'ages', title: 'Pages by days since their report was fetched' }, ages) : null}`;
}
