import { z } from 'zod';
import { CRAWL_SPANS, SPANS } from '../../base/config/page-filters.js';
import { clause, count, counted, grouped, plus } from '../../base/observe/format.js';
import type { Age, Span } from '../html/charts/trend-chart.js';
import { askOf, askRows } from '../query/ask-rows.js';
import type { Reader } from '../query/reader.js';
import { unreadDays, unreadText } from '../status/website-status.js';
import { totalOf, type WebsiteFacts } from './headline.js';
import { newsOf, readNights, readOverTime, trendOf } from './over-time.js';
import type { Period } from './period.js';
import {
  backRow,
  type CommonRow,
  crawlAgeRow,
  deindexedCommonRow,
  directoryRow,
  driftRow,
  eventRow,
  fallenRow,
  flipCommonRow,
  flipRow,
  movedRow,
  noteRow,
  ownMovesRow,
  placeRow,
  rejectedRow,
  reportAgeRow,
  type StateRow,
  sitemapRow,
  staleRow,
  stateRow,
  transitionRow,
} from './rows.js';
import { caveatsOf, storyOf } from './story.js';

/** A shorter history is no trend. */
const LEAST_WEEKS = 5;

/** The pages are null where no day is known. */
const weekRow = z.object({ starts_on: z.string(), pages: z.int().nullable(), is_cut: z.boolean() });
const lostRow = z.object({
  directory: z.string(),
  pages: z.int(),
  first_shown_last: z.string(),
  last_shown: z.string(),
  clicks: z.int(),
});
const evidenceRow = z.object({
  indexed: z.int(),
  not_indexed: z.int(),
  seen: z.int(),
  unknown: z.int(),
});

/** A directory that search shows fewer pages of. */
export type LostRow = z.infer<typeof lostRow>;

/** What search shows of a property; null without any day of search analytics. */
async function readSearch(reader: Reader, website: string, until: string) {
  const weeks = await askRows(reader, 'answers/report/search_weeks', weekRow, { website, until }, website);
  if (weeks.length === 0) return null;
  return {
    weeks,
    lost: await askRows(reader, 'answers/report/search_lost_places', lostRow, { website, until }, website),
    evidence: (await askRows(reader, 'answers/report/evidence', evidenceRow, { website }, website))[0] ?? null,
    unread: unreadText(
      (await askRows(reader, 'answers/report/search_unread', unreadDays, { website, until }, website))[0],
    ),
  };
}

type Search = NonNullable<Awaited<ReturnType<typeof readSearch>>>;

/** How many pages search shows, since when that is known, and where it lost most; none of a history shorter than a few weeks. */
export function searchSentences(search: Search | null): string[] {
  const { lost = [] } = search ?? {};
  const weeks = (search?.weeks ?? []).flatMap(({ pages, ...week }) => (pages === null ? [] : { ...week, pages }));
  const [first, last] = [weeks[0], weeks.at(-1)];
  if (!first || !last || weeks.length < LEAST_WEEKS) return [];
  const most = weeks.reduce((top, week) => (week.pages > top.pages ? week : top));
  const [place] = lost;
  const gone =
    place &&
    `${counted(place.pages, 'page')} of ${place.directory} ${place.pages === 1 ? 'is' : 'are'} no longer shown, last ${place.first_shown_last === place.last_shown ? `on ${place.last_shown}` : `between ${place.first_shown_last} and ${place.last_shown}`}`;
  const clicks =
    place && place.clicks > 0
      ? `; ${place.pages === 1 ? 'it' : 'they'} had ${counted(place.clicks, 'click')} in 28 days`
      : '';
  return [
    `Search showed ${counted(last.pages, 'page')} a day in the week of ${last.starts_on}, ${count(first.pages)} in that of ${first.starts_on}${most === last || most === first ? '' : `, and at most ${count(most.pages)}, in that of ${most.starts_on}`}${clause(gone ? `${gone}${clicks}` : null)}.`,
  ];
}

const FLIPS_LISTED = 15;
const STALE_PAGES_LISTED = 10;
const EXAMPLES = 3;
const COMMON_LISTED = 12;
const COMMON_READ = 60;
const ODDITIES_LISTED = 10;
/** Pages not crawled for this many days are listed. A span of `SPANS` begins here. */
export const STALE_DAYS = 31;
const STALE_SPANS: ReadonlySet<string> = new Set(SPANS.slice(4));
const NO_PAGES = { fell_out: 0, back: 0 };
/** A value stands out if its share among changed pages exceeds that among all pages by this much. */
const LEAST_EXCESS = 0.02;

/** What a report shows of one website, or of many together. */
export type Section = Awaited<ReturnType<typeof readSection>>;

/** What happened, when and where: the first part of a report, which the dashboard also shows. */
export type Moves = Awaited<ReturnType<typeof readMoves>>;

/** Reads the section of these websites: one, or all that the warehouse has. */
export async function readSection(reader: Reader, websites: WebsiteFacts[], period: Period) {
  const scope = scopeOf(websites, period);
  const { website, since, until } = scope;
  const moves = await readMoves(reader, websites, period);
  const fallen = await readFallen(reader, scope);
  const drift = await askOf(reader, 'drift_diary', driftRow, website, { since });
  return {
    ...moves,
    own: await readOwnMoves(reader, scope),
    story: storyOf({ ...moves, ...fallen }, period),
    /** What search shows, as far back as that is known. */
    history: searchSentences(moves.search),
    caveats: caveatsOf(moves, period),
    news: await readNews(reader, scope, moves, period),
    transitions: await readTransitions(reader, scope),
    fallen,
    flips: await readFlips(reader, scope, websites),
    ...(await readAges(reader, website)),
    drift: drift.filter(({ first_seen_date }) => first_seen_date <= until),
    rejected: await askRows(reader, 'answers/report/rejected', rejectedRow, { ...scope, limit: ODDITIES_LISTED }),
  };
}

/** Reads what happened to these websites: one, or all that the warehouse has. */
export async function readMoves(reader: Reader, websites: WebsiteFacts[], period: Period) {
  const scope = scopeOf(websites, period);
  const { website, until } = scope;
  const { since } = period.shown;
  const [first, second] = websites;
  const trends = websites.flatMap(({ trend }) => trend);
  const places = await readPlaces(reader, website, period);
  return {
    websites,
    headline: totalOf(websites.map(({ headline }) => headline)),
    trend: trendOf(trends, period.shown),
    events: await askOf(reader, 'events', eventRow, website, { since, until }),
    notes: await askRows(reader, 'answers/report/notes', noteRow, { website, since, until }),
    balance: websites.flatMap(({ balance }) => balance ?? []),
    sitemaps: await askRows(reader, 'answers/report/sitemaps', sitemapRow, scope),
    ...places,
    nights: first && !second ? await readNights(reader, first, period) : null,
    over_time: await readOverTime(reader, website, period, places),
    search: website === null ? null : await readSearch(reader, website, until),
  };
}

/** @param website its id; null for all */
type Scope = Record<'since' | 'until', string> & { website: string | null };

function scopeOf([first, second]: readonly WebsiteFacts[], { since, until }: Period): Scope {
  return { website: first && !second ? first.website.website_id : null, since, until };
}

/** The states and directories at the end of a period, with their change in it. */
async function readPlaces(reader: Reader, website: string | null, { since, until }: Span) {
  const dates = { since, until };
  const states = together(await askOf(reader, 'coverage_by_state', stateRow, website, dates), (row) =>
    JSON.stringify([row.index_summary, row.index_coverage_state]),
  );
  return {
    /** Out of the index, without data, in the index; most pages first. */
    states: states.sort((one, other) => groupOf(one) - groupOf(other) || other.pages - one.pages),
    directories: await askOf(reader, 'coverage_by_directory', directoryRow, website, { ...dates, limit: 'none' }),
  };
}

/** What fell out by the first column of the user's own, if there is one, and what is wrong with it. */
async function readOwnMoves(reader: Reader, scope: Scope) {
  const [column = null] = reader.own.columns;
  const asked = { ...scope, column };
  const rows = column === null ? [] : await askRows(reader, 'answers/report/moves_by_own', ownMovesRow, asked);
  return { column, rows, notes: reader.own.notes };
}

async function readNews(reader: Reader, scope: Scope, now: Moves, { previous, days }: Period) {
  const { now: fell, before } = now.headline.fell_out;
  if (fell === null || before === null) return [];
  const asked = { ...scope, earlier_since: previous.since, earlier_until: previous.until };
  const [fallen = NO_PAGES] = await askRows(reader, 'answers/report/back_again', backRow, asked);
  const earlier = scope.website === null ? null : await readPlaces(reader, scope.website, previous);
  return newsOf(days, { now, earlier, ...fallen });
}

async function readFallen(reader: Reader, scope: Scope) {
  const samples = await askRows(reader, 'answers/report/fallen_by_state', fallenRow, scope);
  return {
    samples,
    /** One of each of the states that most pages fell to. */
    examples: samples.filter((one, at) => one.state !== samples[at - 1]?.state).slice(0, EXAMPLES),
    ...(await readCauses(reader, scope)),
  };
}

/** What pages that fell out of the index have in common, where most of them were, and whether they only moved. */
export async function readCauses(reader: Reader, scope: Scope) {
  const { website, since, until } = scope;
  const values = { since, until, limit: String(COMMON_READ) };
  return {
    common: standingOut(await askOf(reader, 'deindexed_in_common', deindexedCommonRow, website, values)),
    places: await askRows(reader, 'answers/report/fallen_places', placeRow, scope),
    moved: await askRows(reader, 'answers/report/moved_pages', movedRow, scope),
  };
}

async function readFlips(reader: Reader, scope: Scope, websites: readonly WebsiteFacts[]) {
  const { website, since, until } = scope;
  const given = { since, until, limit: String(FLIPS_LISTED) };
  const asked = { ...scope, limit: COMMON_READ };
  return {
    rows: await askOf(reader, 'canonical_flips', flipRow, website, given),
    total: websites.reduce((sum, { canonical_flip_times }) => sum + canonical_flip_times, 0),
    common: standingOut(await askRows(reader, 'answers/report/flips_in_common', flipCommonRow, asked)),
  };
}

function standingOut(rows: readonly CommonRow[]): CommonRow[] {
  return rows.filter(({ share, overall_share }) => share - overall_share >= LEAST_EXCESS).slice(0, COMMON_LISTED);
}

async function readAges(reader: Reader, website: string | null) {
  const crawls = await askOf(reader, 'crawl_freshness', crawlAgeRow, website);
  const reports = await askOf(reader, 'report_ages', reportAgeRow, website);
  const given = { days: String(STALE_DAYS), limit: String(STALE_PAGES_LISTED) };
  const ages = agesOf(CRAWL_SPANS, crawls);
  return {
    crawl_ages: ages,
    stale: {
      rows: await askOf(reader, 'pages_not_crawled', staleRow, website, given),
      total: ages.reduce((sum, { span, pages }) => sum + (STALE_SPANS.has(span) ? pages : 0), 0),
    },
    report_ages: agesOf(SPANS, reports),
  };
}

/** Every span, even without pages, summed over the websites. */
function agesOf(spans: readonly string[], ages: readonly Age[]): Age[] {
  return spans.map((span) => ({
    span,
    pages: ages.reduce((sum, age) => sum + (age.span === span ? age.pages : 0), 0),
  }));
}

/** The moves of all these websites, most pages first. */
async function readTransitions(reader: Reader, { website, since, until }: Scope) {
  const rows = await askOf(reader, 'state_transitions', transitionRow, website, { since, until });
  const moves = together(rows, ({ from_state, to_state }) => JSON.stringify([from_state, to_state]));
  return moves.sort((one, other) => other.pages - one.pages);
}

/** The rows of several websites with the same key as one row. */
function together<Row extends { pages: number; pages_change?: number | null }>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
): Row[] {
  return [...grouped(rows, keyOf).values()].map((all) => ({
    ...all[0],
    pages: all.reduce((sum, { pages }) => sum + pages, 0),
    ...('pages_change' in all[0] ? { pages_change: all.map((row) => row.pages_change ?? null).reduce(plus) } : {}),
  }));
}

function groupOf({ index_summary }: StateRow): number {
  return index_summary === null ? 1 : index_summary === 'Indexed' ? 2 : 0;
}
