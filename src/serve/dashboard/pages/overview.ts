import { z } from 'zod';
import { arrow, dated, number } from '../../../answers/html/cells.js';
import { type Column, type Html, html, type Part, table } from '../../../answers/html/html.js';
import { countPages, wrongOwn } from '../../../answers/query/ask-rows.js';
import { FELL_OUT } from '../../../answers/query/period-note.js';
import type { Reader } from '../../../answers/query/reader.js';
import { shareIndexed } from '../../../answers/report/estimate.js';
import { OTHER_DIRECTORIES } from '../../../answers/report/over-time.js';
import { caveatsPart, nightsPart, sharePart } from '../../../answers/report/parts/first-page.js';
import { placesPart, reasonsPart, searchPart } from '../../../answers/report/parts/moves.js';
import type { PagesLinks } from '../../../answers/report/parts/part.js';
import { readStory } from '../../../answers/report/report.js';
import type { EventRow, TrendRow } from '../../../answers/report/rows.js';
import { eventSentence, eventsIn, partialCaveat } from '../../../answers/report/story.js';
import { type View, viewsOf } from '../../../base/config/views.js';
import { count, counted, datesText, dayOfMonth, percent, points, signed } from '../../../base/observe/format.js';
import { addDays } from '../../../base/time.js';
import { markersOf } from '../../../warehouse/log/markers.js';
import { type Content, linkTo, shownName, type WebsiteContext } from '../layout.js';
import { readQuery, remembered } from '../query.js';
import { periodLinks } from '../values.js';

const DAYS = ['1', '7', '30', '90'] as const;
const EVENTS_LISTED = 6;

const overviewQuery = z.object({ days: z.enum(DAYS).default('7').transform(Number) });

type Overview = Awaited<ReturnType<typeof readOverview>>;

const askOverview = remembered(readOverview);

/** What happened to a website: the story of its report, with what changed in 1, 7, 30 and 90 days. */
export async function overviewPage(context: WebsiteContext): Promise<Content> {
  const { days } = readQuery(overviewQuery, context.query);
  const overview = await askOverview(context, days);
  const { sentences, listings } = overview;
  const content = html`${periodLinks(DAYS, { one: 'day', chosen: days, linkOf: (span) => linkTo(context, 'overview', { days: span }) })}
${sentences.map((sentence) => html`<p class="lead">${sentence}${overview.events.filter((event) => eventSentence(event) === sentence).map((event) => html` ${changesOf(context, event)}`)}</p>\n`)}
${caveatsPart(overview.caveats)}
${actions(context, overview)}
${await viewsPart(context, overview.headline.compared_with)}
${listings.length === 0 ? null : parts(context, overview)}`;
  return { title: shownName(context.website), content };
}

/** Reads what happened in the `days` up to the website's newest complete listing, or else its newest snapshot. */
async function readOverview(reader: Reader, website: string, days: number) {
  const markers = markersOf(reader.markers, website);
  const newest = markers.at(-1)?.date ?? reader.today;
  const until = markers.findLast(({ listingComplete }) => listingComplete)?.date ?? newest;
  const story = await readStory(reader, website, { since: addDays(until, 1 - days), until });
  const { shown } = story.period;
  const caveats = [...story.caveats, ...(newest > until ? [partialCaveat(newest, until)] : [])];
  // Dates with a complete listing, oldest first.
  const all = story.websites.flatMap(({ trend }) => trend);
  return { ...story, caveats, all, listings: all.filter(({ snapshot_date }) => snapshot_date >= shown.since) };
}

/** What to look at next: the pages that fell out, or else all changes of the period. */
function actions(context: WebsiteContext, { headline, period }: Overview): Html {
  const { since: from, until: to } = period;
  const fell = headline.fell_out.now;
  const changes = linkTo(context, 'changes', { from, to });
  const fallen = linkTo(context, 'pages', { changed: 'fell_out', from, to });
  const [first, second] = fell
    ? [html`<a class="action" href="${fallen}">See what fell out</a>`, html`<a href="${changes}">All changes</a>`]
    : [html`<a class="action" href="${changes}">See what changed</a>`, null];
  return html`<p class="actions">${first} ${second} <a href="${linkTo(context, 'pages', { indexed: 'no' })}">Pages that are not indexed</a></p>`;
}

function parts(context: WebsiteContext, overview: Overview): Html {
  const { period } = overview;
  const links: PagesLinks = {
    state: (state) => linkTo(context, 'pages', { state }),
    directory: (directory) => (directory === OTHER_DIRECTORIES ? null : linkTo(context, 'pages', { directory })),
    sitemap: (sitemap) => linkTo(context, 'pages', { sitemap }),
    changes: (directory, dates) => linkTo(context, 'changes', { ...dates, directory }),
  };
  return html`<section aria-labelledby="h-deltas" class="deltas"><h2 id="h-deltas">Change in 1, 7, 30 and 90 days</h2>
${deltas(context, overview)}</section>
<section aria-labelledby="h-share"><h2 id="h-share">Share of the pages that is indexed</h2>
${share(context, overview)}
${nightsPart('nights', overview)}
${searchPart('shown', overview)}</section>
<section aria-labelledby="h-period"><h2 id="h-period">${period.days === 1 ? 'The newest night' : `The last ${period.days} days`}</h2>
<p class="note">${datesText(period.since, period.until)}${overview.headline.compared_with ? `, compared with the listing of ${dayOfMonth(overview.headline.compared_with)}` : ''}. ${FELL_OUT}</p>
${placesPart('over', overview, { links })}
${reasonsPart('over', overview, links)}</section>`;
}

/** A figure of the newest listing, and the `indexed` of the list of the pages that it counts. */
interface Delta {
  name(overview: Overview): string;
  indexed?: string;
  figure(counts: TrendRow): number | null;
  isShare?: boolean;
}

const DELTAS: readonly Delta[] = [
  { name: () => 'Indexed', indexed: 'yes', figure: ({ indexed }) => indexed },
  { name: () => 'Share indexed', indexed: 'yes', figure: shareIndexed, isShare: true },
  { name: () => 'Not indexed', indexed: 'no', figure: ({ not_indexed }) => not_indexed },
  { name: noDataName, indexed: '-', figure: ({ without_data }) => without_data },
  { name: () => 'Pages', figure: ({ pages }) => pages },
];

function deltas(context: WebsiteContext, overview: Overview): Part {
  const { all } = overview;
  const now = all.at(-1);
  if (!now) return null;
  const since = DAYS.map(Number).map((days): Column<Delta> => {
    const before = all.findLast(({ snapshot_date }) => snapshot_date <= addDays(now.snapshot_date, -days));
    return { head: counted(days, 'day'), isNumber: true, cell: (row) => changeSince(row, now, before) };
  });
  const value = ({ figure, isShare }: Delta) => (isShare ? percent(figure(now)) : count(figure(now) ?? 0));
  const columns: Column<Delta>[] = [
    {
      head: 'Figure',
      cell: ({ name, indexed }) => html`<a href="${linkTo(context, 'pages', { indexed })}">${name(overview)}</a>`,
    },
    { head: now.snapshot_date, isNumber: true, cell: value },
    ...since,
  ];
  return table(columns, DELTAS, {
    id: 'deltas',
    caption: `Listing of ${now.snapshot_date}, and its change since the last complete listing that many days before`,
    empty: '',
  });
}

/** What pages without a state are called. */
function noDataName({ websites }: Overview): string {
  return websites[0]?.website.by_inspection ? 'No verdict yet' : 'Without data';
}

function changeSince({ figure, isShare }: Delta, now: TrendRow, before: TrendRow | undefined): string {
  const [one, other] = [before ? figure(before) : null, figure(now)];
  if (one === null || other === null) return '–';
  return isShare ? points(one, other) : signed(other - one);
}

/** The chart of the indexed share, the nights that broke a trend, and a table of the numbers. */
function share(context: WebsiteContext, overview: Overview): Part {
  const { events, period, listings, sentences } = overview;
  const caption = 'Numbers of the chart, newest first';
  const columns = [
    { head: 'Date', cell: ({ snapshot_date }: TrendRow) => dated(snapshot_date) },
    ...DELTAS.map(({ name, figure, isShare }) => number(name(overview), figure, isShare ? percent : count)),
  ];
  return html`${sharePart('share', overview, period)}
${eventList(
  context,
  eventsIn(events, period.shown).filter((event) => !sentences.includes(eventSentence(event))),
)}
<details><summary>Numbers of the chart</summary>
${table(columns, listings.toReversed(), { id: 'trend-numbers', caption, empty: '' })}</details>`;
}

/** The nights that broke a trend and are not told above, newest first, each with the changes of that night. */
function eventList(context: WebsiteContext, events: readonly EventRow[]): Part {
  const listed = events
    .slice(0, EVENTS_LISTED)
    .toSorted((one, other) => other.snapshot_date.localeCompare(one.snapshot_date));
  if (listed.length === 0) return null;
  const items = listed.map((event) => {
    return html`<li>${arrow(event.change < 0)} ${eventSentence(event)} ${changesOf(context, event)}</li>\n`;
  });
  return html`<ul class="events">
${items}</ul>`;
}

/** A link to the changes of the night of an event. */
function changesOf(context: WebsiteContext, { snapshot_date: date, what, name }: EventRow): Html {
  const directory = what === 'directory' && name !== null && name !== OTHER_DIRECTORIES ? name : undefined;
  return html`<a class="date" href="${linkTo(context, 'changes', { from: date, to: date, directory })}">Changes of ${date}</a>`;
}

interface Counted extends View {
  now: number;
  before: number | null;
  wrong: string | null;
}

const askCounted = remembered(readCounted);

async function readCounted(
  reader: Reader,
  website: string,
  { views, listed }: { views: readonly View[]; listed: string | null },
) {
  const counted: Counted[] = [];
  for (const view of views) {
    const pages = await countPages(reader, website, view.pages, listed);
    counted.push({ ...view, ...pages, wrong: wrongOwn(reader.own, view.pages.own) });
  }
  return counted;
}

/** The configured views of a website, with their pages and their change. @param listed the date that it counts from */
async function viewsPart(context: WebsiteContext, listed: string | null): Promise<Part> {
  const { website } = context;
  const views = viewsOf(context.views, { id: website.id, name: website.name });
  if (views.length === 0) return null;
  const rows = await askCounted(context, { views, listed });
  const since = listed === null ? 'Change' : `Since ${dayOfMonth(listed)}`;
  const columns = [
    {
      head: 'View',
      cell: ({ name, pages }: Counted) => html`<a href="${linkTo(context, 'pages', pages)}">${name}</a>`,
    },
    number<Counted>('Pages', ({ now }) => now),
    number<Counted>(since, ({ now, before }) => (before === null ? null : now - before), signed),
  ];
  const notes = rows.map(({ name, wrong }) => wrong && html`<p class="note">${name}: ${wrong}.</p>`);
  return html`<section aria-labelledby="h-views" class="deltas"><h2 id="h-views">Views</h2>
${notes}${table(columns, rows, { id: 'views', caption: 'Lists of pages that the configuration names', empty: '' })}</section>`;
}
