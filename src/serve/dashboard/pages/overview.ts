import { z } from 'zod';
import { dated, number } from '../../../answers/html/cells.js';
import { noteList } from '../../../answers/html/charts/notes.js';
import { shareChart } from '../../../answers/html/charts/trend-chart.js';
import { type Html, html, type Part } from '../../../answers/html/html.js';
import { type Column, table } from '../../../answers/html/table.js';
import { FELL_OUT } from '../../../answers/query/period-note.js';
import type { Reader } from '../../../answers/query/reader.js';
import { OTHER_DIRECTORIES } from '../../../answers/report/over-time.js';
import { placesPart, reasonsPart } from '../../../answers/report/parts/moves.js';
import type { PagesLinks } from '../../../answers/report/parts/part.js';
import { readStory } from '../../../answers/report/report.js';
import type { EventRow, TrendRow } from '../../../answers/report/rows.js';
import { eventSentence, eventsIn } from '../../../answers/report/story.js';
import {
  count,
  counted,
  datesText,
  dayOfMonth,
  percent,
  points,
  shareOf,
  signed,
} from '../../../base/observe/format.js';
import { addDays } from '../../../base/time.js';
import { type Content, linkTo, type WebsiteContext } from '../context.js';
import { UNKNOWN_VALUE } from '../facets.js';
import { nameOf } from '../layout.js';
import { readQuery } from '../query.js';
import { Remembered } from '../remembered.js';
import { periodLinks } from '../values.js';
import { viewsPart } from '../views.js';
import { newestDates } from './changes.js';

const DAYS = ['1', '7', '30', '90'] as const;
const EVENTS_LISTED = 6;
/** What the analysis `coverage_by_state` calls pages without a state. */
const NO_STATE = '(none)';

const overviewQuery = z.object({ days: z.enum(DAYS).default('7').transform(Number) });

const TREND_COLUMNS: readonly Column<TrendRow>[] = [
  { head: 'Date', cell: ({ snapshot_date }) => dated(snapshot_date) },
  number('Pages', ({ pages }) => pages),
  number('Indexed', ({ indexed }) => indexed),
  number('Not indexed', ({ not_indexed }) => not_indexed),
  number('Without data', ({ without_data }) => without_data),
  number('Share indexed', ({ indexed, pages }) => shareOf(indexed, pages), percent),
];

type Overview = Awaited<ReturnType<typeof readOverview>>;

const OVERVIEWS = new Remembered<Overview>();

/** What happened to a website: the story of its report, with what changed in 1, 7, 30 and 90 days. */
export async function overviewPage(context: WebsiteContext): Promise<Content> {
  const { days } = readQuery(overviewQuery, context.query);
  const overview = await OVERVIEWS.ask(context, days, (reader) => readOverview(reader, context.website.id, days));
  const { sentences, newest, listings } = overview;
  const title = nameOf(context.website);
  const content = html`<h1>${title}</h1>
${periodLinks(DAYS, { one: 'day', chosen: days, linkOf: (span) => linkTo(context, 'overview', { days: span }) })}
${newest?.listing_status === 'partial' ? partialNote(listings.at(-1)) : null}
${listings.length === 0 ? html`<p class="empty">No listing of the last 90 days is complete.</p>` : null}
${sentences.map((sentence) => html`<p class="lead">${sentence}</p>\n`)}
${actions(context, overview)}
${await viewsPart(context, overview.headline.compared_with)}
${listings.length === 0 ? null : parts(context, overview)}`;
  return { title, content };
}

/** Reads what happened in the `days` up to the website's newest snapshot. */
async function readOverview(reader: Reader, website: string, days: number) {
  const until = newestDates(reader.markers, website, 1)[0] ?? reader.today;
  const story = await readStory(reader, website, { since: addDays(until, 1 - days), until });
  const { shown } = story.period;
  // Dates with a complete listing, oldest first.
  const all = story.websites.flatMap(({ trend }) => trend);
  return {
    ...story,
    all,
    listings: all.filter(({ snapshot_date }) => snapshot_date >= shown.since),
    newest: story.websites[0]?.snapshots.at(-1),
  };
}

function partialNote(listing: TrendRow | undefined): Html {
  return html`<p class="warning">The newest listing is partial.${listing ? ` The numbers are those of ${listing.snapshot_date}.` : null}</p>`;
}

/** What to look at next: the pages that fell out, or else all changes of the period. */
function actions(context: WebsiteContext, { headline, period }: Overview): Html {
  const { since: from, until: to } = period;
  const fell = headline.fell_out.now;
  const changes = linkTo(context, 'changes', { from, to });
  const fallen = linkTo(context, 'pages', { changed: 'fell_out', from, to });
  const [first, second] =
    fell > 0
      ? [html`<a class="action" href="${fallen}">See what fell out</a>`, html`<a href="${changes}">All changes</a>`]
      : [html`<a class="action" href="${changes}">See what changed</a>`, null];
  return html`<p class="actions">${first} ${second} <a href="${linkTo(context, 'pages', { indexed: 'no' })}">Pages that are not indexed</a></p>`;
}

function parts(context: WebsiteContext, overview: Overview): Html {
  const { period } = overview;
  const links = pagesLinks(context);
  return html`<section aria-labelledby="h-deltas" class="deltas"><h2 id="h-deltas">Change in 1, 7, 30 and 90 days</h2>
${deltas(context, overview)}</section>
<section aria-labelledby="h-share"><h2 id="h-share">Share of the pages that is indexed</h2>
${share(context, overview)}</section>
<section aria-labelledby="h-period"><h2 id="h-period">${period.days === 1 ? 'The newest night' : `The last ${period.days} days`}</h2>
<p class="note">${datesText(period.since, period.until)}${overview.headline.compared_with ? `, compared with the listing of ${dayOfMonth(overview.headline.compared_with)}` : ''}. ${FELL_OUT}</p>
${placesPart('over', overview, links)}
${reasonsPart('over', overview, links)}</section>`;
}

/** A figure of the newest listing, what it was on earlier dates, and the pages that it counts. */
interface Delta {
  name: string;
  link: string;
  figure(counts: TrendRow): number | null;
  isShare?: boolean;
}

function deltas(context: WebsiteContext, { all }: Overview): Part {
  const now = all.at(-1);
  if (!now) return null;
  const link = (indexed?: string) => linkTo(context, 'pages', { indexed });
  const rows: Delta[] = [
    { name: 'Indexed', link: link('yes'), figure: ({ indexed }) => indexed },
    {
      name: 'Share indexed',
      link: link('yes'),
      figure: ({ indexed, pages }) => shareOf(indexed, pages),
      isShare: true,
    },
    { name: 'Not indexed', link: link('no'), figure: ({ not_indexed }) => not_indexed },
    { name: 'Without data', link: link('-'), figure: ({ without_data }) => without_data },
    { name: 'Pages', link: link(), figure: ({ pages }) => pages },
  ];
  const columns: Column<Delta>[] = [
    { head: 'Figure', cell: (row) => html`<a href="${row.link}">${row.name}</a>` },
    {
      head: now.snapshot_date,
      isNumber: true,
      cell: ({ figure, isShare }) => (isShare ? percent(figure(now)) : count(figure(now) ?? 0)),
    },
    ...DAYS.map(Number).map((days): Column<Delta> => {
      const before = all.findLast(({ snapshot_date }) => snapshot_date <= addDays(now.snapshot_date, -days));
      return {
        head: counted(days, 'day'),
        isNumber: true,
        cell: (row) => (before ? changeSince(row, now, before) : '–'),
      };
    }),
  ];
  return table(columns, rows, {
    id: 'deltas',
    caption: `Listing of ${now.snapshot_date}, and its change since the last complete listing that many days before`,
    empty: '',
  });
}

function changeSince({ figure, isShare }: Delta, now: TrendRow, before: TrendRow): string {
  const [one, other] = [figure(before), figure(now)];
  if (one === null || other === null) return '–';
  return isShare ? points(one, other) : signed(other - one);
}

/** A line chart of the indexed share, with the nights that broke its trend, and a table of the numbers. */
function share(context: WebsiteContext, { trend, events, notes, period, listings }: Overview): Part {
  const inShown = eventsIn(events, period.shown);
  const marks = inShown.filter(({ what }) => what === 'website');
  const caption = 'Numbers of the chart, newest first';
  return html`${shareChart('share', trend, { period, marks, notes })}
${noteList(trend, notes)}
${marks.length > 0 ? html`<p class="note">▼ and ▲ mark nights that broke the trend, with the change in indexed pages.</p>` : null}
${eventList(context, inShown)}
<details><summary>Numbers of the chart</summary>
${table(TREND_COLUMNS, listings.toReversed(), { id: 'trend-numbers', caption, empty: '' })}</details>`;
}

/** The nights that broke a trend, newest first, each with the changes of that night. */
function eventList(context: WebsiteContext, events: readonly EventRow[]): Part {
  const listed = events
    .slice(0, EVENTS_LISTED)
    .toSorted((one, other) => other.snapshot_date.localeCompare(one.snapshot_date));
  if (listed.length === 0) return null;
  const items = listed.map((event) => {
    const { snapshot_date: date, change, what, name } = event;
    const directory = what === 'directory' && name !== null && name !== OTHER_DIRECTORIES ? name : undefined;
    const link = linkTo(context, 'changes', { from: date, to: date, directory });
    return html`<li><span aria-hidden="true">${change < 0 ? '▼' : '▲'}</span> ${eventSentence(event)} <a href="${link}">Changes of ${date}</a></li>\n`;
  });
  return html`<ul class="events">
${items}</ul>`;
}

function pagesLinks(context: WebsiteContext): PagesLinks {
  return {
    state: (state) => linkTo(context, 'pages', { state: state === NO_STATE ? UNKNOWN_VALUE : state }),
    directory: (directory) => (directory === OTHER_DIRECTORIES ? null : linkTo(context, 'pages', { directory })),
    sitemap: (sitemap) => linkTo(context, 'pages', { sitemap }),
    changes: (directory, dates) => linkTo(context, 'changes', { ...dates, directory }),
  };
}
