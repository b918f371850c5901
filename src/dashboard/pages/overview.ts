import { askOf, askRows } from '../../analysis/ask-rows.js';
import type { Reader } from '../../analysis/reader.js';
import { dated, number, tiles } from '../../html/cells.js';
import type { Drawing } from '../../html/charts/draw.js';
import { type Counts, trendDrawings, trendLegend, UNLISTED } from '../../html/charts/trend-chart.js';
import { type Html, html, type Part } from '../../html/html.js';
import { type Column, table } from '../../html/table.js';
import { count, dayOfMonth, percent, points, shareOf, signed } from '../../observe/format.js';
import { reportAges } from '../../report/parts/quality.js';
import { addDays } from '../../report/period.js';
import { reportAgeRow, snapshotRow, type TrendRow, trendRow } from '../../report/rows.js';
import { trendOf } from '../../report/trend.js';
import { type Content, linkTo, type WebsiteContext } from '../context.js';
import { nameOf } from '../layout.js';
import { changeName } from '../values.js';
import { type KindCount, newestDates, readKinds } from './changes.js';

const DAYS_SHOWN = 90;
const REPORT_ROWS = 10;

const NUMBERS_ID = 'trend-numbers';

const TREND_COLUMNS: readonly Column<TrendRow>[] = [
  { head: 'Date', cell: ({ snapshot_date }) => dated(snapshot_date) },
  number('Pages', ({ pages }) => pages),
  number('Indexed', ({ indexed }) => indexed),
  number('Not indexed', ({ not_indexed }) => not_indexed),
  number('Without data', ({ without_data }) => without_data),
  number('Share indexed', ({ indexed, pages }) => shareOf(indexed, pages), percent),
];

type Overview = Awaited<ReturnType<typeof readOverview>>;

/** The state of a website: its numbers compared with the previous listing, the trend, and the newest night's changes. */
export async function overviewPage(context: WebsiteContext): Promise<Content> {
  const overview = await context.ask((reader) => readOverview(reader, context.website.id));
  const { newest, listings } = overview;
  const title = nameOf(context.website);
  const content = html`<h1>${title}</h1>
${newest?.listing_status === 'partial' ? partialNote(listings.at(-1)) : null}
${headline(context, listings)}
<section aria-labelledby="h-trend"><h2 id="h-trend">Trend</h2>
${trendPart(overview)}</section>
<section aria-labelledby="h-night"><h2 id="h-night">Newest night</h2>
${newestNight(context, overview)}</section>
<section aria-labelledby="h-age"><h2 id="h-age">Age of the reports</h2>
${reportAges('ages', overview.reportAges)}</section>`;
  return { title, content };
}

/** Reads the last 90 days up to the newest snapshot. */
async function readOverview(reader: Reader, website: string) {
  const until = newestDates(reader.markers, website, 1)[0] ?? reader.today;
  const span = { since: addDays(until, 1 - DAYS_SHOWN), until };
  const listings = await askOf(reader, 'indexing_trend', trendRow, website, { since: span.since });
  const dates = { website, from: span.since, until };
  const snapshots = await askRows(reader, 'report/snapshots', snapshotRow, dates);
  const ages = await askOf(reader, 'report_ages', reportAgeRow, website);
  return {
    /** Dates with a complete listing within the days shown, oldest first. */
    listings,
    days: trendOf(listings, snapshots, span),
    span,
    /** Null where there is none within the days shown. */
    newest: snapshots.at(-1) ?? null,
    /** What changed in the newest night. */
    changes: await readKinds(reader, website, until),
    reportAges: ages.slice(0, REPORT_ROWS).map(({ report_age, pages }) => ({ span: report_age, pages })),
  };
}

function partialNote(listing: TrendRow | undefined): Html {
  const of = listing
    ? `The numbers are those of ${listing.snapshot_date}.`
    : 'No listing of the last 90 days is complete.';
  return html`<p class="warning">The newest listing is partial. ${of}</p>`;
}

function headline(context: WebsiteContext, listings: readonly TrendRow[]): Html {
  const [before, now] = [listings.at(-2), listings.at(-1)];
  if (!now) return html`<p class="empty">No listing of the last 90 days is complete.</p>`;
  const change = (key: keyof Counts) =>
    before ? `${signed(now[key] - before[key])} since ${dayOfMonth(before.snapshot_date)}` : 'no earlier listing';
  const [share, shareBefore] = [shareOf(now.indexed, now.pages), before && shareOf(before.indexed, before.pages)];
  const moved = share !== null && typeof shareBefore === 'number' ? points(shareBefore, share) : null;
  const link = (name: string, indexed?: string) => html`<a href="${linkTo(context, 'pages', { indexed })}">${name}</a>`;
  return html`<p class="about">Listing of ${now.snapshot_date}</p>
${tiles(
  [link('Pages'), count(now.pages), change('pages')],
  [link('Indexed', 'yes'), html`${count(now.indexed)} <small>${percent(share)}</small>`, change('indexed'), moved],
  [link('Not indexed', 'no'), count(now.not_indexed), change('not_indexed')],
  [link('Without data', '-'), count(now.without_data), change('without_data')],
)}`;
}

function newestNight(context: WebsiteContext, { changes, span }: Overview): Part {
  const linkOf = (kind: string) => linkTo(context, 'changes', { nights: 1, kind });
  const columns: Column<KindCount>[] = [
    { head: 'Change', cell: ({ change }) => html`<a href="${linkOf(change)}">${changeName(change)}</a>` },
    number('Times', ({ changes: times }) => times),
  ];
  const empty = `Nothing changed on ${span.until}.`;
  return table(columns, changes, { id: 'night', caption: `Changes of ${span.until}`, empty });
}

/** The trend as a chart that its numbers can be read from, and as a table of them. */
function trendPart(overview: Overview): Part {
  const { days, listings } = overview;
  if (listings.length === 0) return html`<p class="empty">No complete listing yet.</p>`;
  const caption = 'Numbers of the chart, newest first';
  const numbers = table(TREND_COLUMNS, listings.toReversed(), { id: NUMBERS_ID, caption, empty: '' });
  return html`${trendLegend(days)}
${chart(overview)}
<details><summary>Numbers of the chart</summary>
${numbers}</details>`;
}

/** The chart with what the script needs to read it: the dates, their positions, and the table with the numbers. */
function chart({ days, span }: Overview): Html {
  const { wide, narrow } = trendDrawings('trend', days, { ...span, since: days[0]?.date ?? span.since });
  const dates = days.map(({ date }) => date).join(' ');
  return html`<div class="readable" data-readable="${NUMBERS_ID}" data-dates="${dates}" data-unlisted="${UNLISTED}">
<div class="chart wide"${placesOf(wide)}>${wide.svg}</div><div class="chart narrow"${placesOf(narrow)}>${narrow.svg}</div>
</div>`;
}

function placesOf({ across, top, zero }: Drawing): Html {
  return html` data-across="${across.join(' ')}" data-top="${top}" data-zero="${zero}"`;
}
