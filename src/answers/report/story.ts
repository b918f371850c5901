import {
  changeOf,
  clause,
  count,
  counted,
  datesText,
  dayOfMonth,
  known,
  percent,
  shareOf,
} from '../../base/observe/format.js';
import { addDays } from '../../base/time.js';
import { shortened } from '../html/html.js';
import { unconfirmedText } from '../status/website-status.js';
import { contradictionSentence, estimateSentence } from './estimate.js';
import type { Headline, WebsiteFacts } from './headline.js';
import { datesOf, type Period } from './period.js';
import type { BalanceRow, CommonRow, EventRow, MovedRow, PlaceRow } from './rows.js';

const MOST_EVENTS = 2;
const MOST_CAUSES = 2;
const NAME_CHARACTERS = 80;
const NOTES_CHARACTERS = 240;
/** More nights in a row than these are counted, not named. */
const MOST_SPANS = 3;

const CAUSES: Record<string, string> = {
  directory: 'in the directory',
  template: 'of the form',
  sitemap: 'in the sitemap',
  canonical: 'with the canonical:',
};

/** The input of a story; events and causes with the largest first. */
export interface Facts {
  websites: readonly WebsiteFacts[];
  headline: Headline;
  balance: readonly BalanceRow[];
  events: readonly EventRow[];
  common: readonly CommonRow[];
  /** Where most pages fell out, if that is in one directory. */
  places: readonly PlaceRow[];
  moved: readonly MovedRow[];
}

/**
 * What happened, in a few sentences: how much is indexed, when, where and through which state that broke its trend, and
 * where the pages that fell out were, whether they only moved, and what they had in common. Plain text that contains names from the service.
 */
export function storyOf(
  { websites, headline, balance, events, common, places, moved }: Facts,
  period: Period,
): string[] {
  const sentence = headlineSentence(headline, balance);
  if (sentence === null) return [];
  const shown = eventsIn(events, period).slice(0, MOST_EVENTS);
  const causes = headline.fell_out.now ? causeSentence(withoutPlaces(common, places)) : null;
  const estimate = estimateSentence(headline.estimate, headline.not_inspected);
  const where = [...places.map(placeSentence), ...moved.map(movedSentence)];
  const nights = nightsSentence(websites, period);
  const contradiction = contradictionSentence(headline.estimate);
  const unconfirmed = headline.unconfirmed ? `${unconfirmedText(headline.unconfirmed)}.` : null;
  const { rich_results_failed: failed } = headline;
  const rich = failed ? `${counted(failed, 'page')} ${failed === 1 ? 'has' : 'have'} errors in rich results.` : null;
  const now = [sentence, unconfirmed, estimate, contradiction, rich];
  return [...now, ...shown.map(eventSentence), ...where, causes, nights].filter((one) => one !== null);
}

/** What is wrong with the listings that the figures of one website come from. */
export function caveatsOf({ websites, headline }: Pick<Facts, 'websites' | 'headline'>, { since }: Period): string[] {
  const [first, second] = websites;
  if (!first || second) return [];
  const { listed_on, compared_with } = headline;
  if (listed_on === null) return ['No listing was complete yet, so the number of indexed pages is unknown.'];
  const last = first.snapshots.at(-1);
  const isCut = last?.listing_status === 'partial' && last.snapshot_date > listed_on;
  return [
    ...(listed_on < since ? [`The newest complete listing is of ${listed_on}, before this period.`] : []),
    ...(isCut ? [partialCaveat(last.snapshot_date, listed_on)] : []),
    ...(compared_with === null && listed_on >= since
      ? ['This is the first complete listing, so there is nothing to compare it with yet.']
      : []),
  ];
}

export function partialCaveat(date: string, listedOn: string): string {
  return `The listing of ${date} is partial: the numbers of pages are those of ${listedOn}.`;
}

/** The events of a period: those of whole websites before those of directories and states, the largest first. */
export function eventsIn(events: readonly EventRow[], { since, until }: Pick<Period, 'since' | 'until'>): EventRow[] {
  const rank = ({ what }: EventRow) => ['website', 'directory', 'state'].indexOf(what);
  return events
    .filter(({ snapshot_date }) => snapshot_date >= since && snapshot_date <= until)
    .sort((one, other) => rank(one) - rank(other) || Math.abs(other.change) - Math.abs(one.change));
}

/** How much is indexed, how much more or less than before, and what moved; null without a complete listing. */
function headlineSentence(headline: Headline, balance: readonly BalanceRow[]): string | null {
  const { pages, indexed, clicks_lost, crawls, not_inspected, first_inspected, compared_with, listed_on } = headline;
  if (listed_on === null) return null;
  const change = changeOf(indexed);
  const isWhole = not_inspected === 0;
  const isSame = isWhole && first_inspected === 0;
  const than =
    change === null || compared_with === null ? '' : `, ${comparison(change, isSame)} ${dayOfMonth(compared_with)}`;
  const had = clicks_lost ? `; in 28 days they had ${counted(clicks_lost, 'click')}` : '';
  const fell = headline.fell_out.now ? counted(headline.fell_out.now, 'page') : 'No page';
  const out = compared_with === null ? '' : ` ${fell} fell out of the index${had}${clause(crawls)}.`;
  // Of pages of which many were never looked at, or long ago, a share says nothing.
  const { share_low, share_high, no_estimate } = headline.estimate;
  const isNow = isWhole && share_low === share_high && no_estimate === null;
  const share = isNow && indexed.now ? percent(shareOf(indexed.now, pages.now)) : '';
  const are = `${(indexed.now ?? 2) < 2 ? 'is' : 'are'}${isNow ? '' : ' known to be'}`;
  const all = counted(pages.now ?? 0, 'page');
  if (pages.now === 0) return `No page is listed${than}.${out}${came(headline, balance)}`;
  const number = indexed.now === 0 ? 'None' : known(indexed.now);
  return `${number} of ${all} ${are} indexed${share ? ` (${share})` : ''}${than}.${out}${came(headline, balance)}`;
}

/** How many pages came into the index, or back: ` 58 more fell out and are back. 120 entered, 31 of them new …`. */
function came({ entered, returned, first_inspected: first }: Headline, balance: readonly BalanceRow[]): string {
  const are = (number: number) => (number === 1 ? 'is' : 'are');
  const fresh = balance.reduce((sum, { appeared }) => sum + appeared, 0);
  const part = fresh > 0 ? `, ${count(fresh)} of them new or back in the listing` : '';
  return [
    returned.now ? ` ${count(returned.now)} more fell out and ${are(returned.now)} back.` : '',
    entered.now ? ` ${counted(entered.now, 'page')} entered it${part}.` : '',
    first ? ` ${counted(first, 'page')} inspected for the first time ${are(first)} indexed.` : '',
  ].join('');
}

/** Which nights before the last listing have no complete one, if there is one each night, and which have two snapshots. */
function nightsSentence([first, second]: Facts['websites'], { since }: Period): string | null {
  if (!first || second) return null;
  const { trend, snapshots, website } = first;
  const { listed_on: until } = first.headline;
  const listed = new Set(trend.map(({ snapshot_date }) => snapshot_date));
  const isNightly =
    2 * trend.filter(({ snapshot_date }) => listed.has(addDays(snapshot_date, 1))).length >= listed.size;
  const start = since < website.first_date ? website.first_date : since;
  const dates = until === null || start > until ? [] : datesOf({ since: start, until });
  const missed = isNightly ? dates.filter((date) => !listed.has(date)) : [];
  const doubled = dates.filter((date) => snapshots.filter(({ snapshot_date }) => snapshot_date === date).length > 1);
  const parts = [
    spansText(missed, 'no complete listing'),
    spansText(doubled, 'several snapshots, of which the last complete one counts'),
  ].filter((part) => part !== null);
  return parts.length > 0 ? `${parts.join('; ')}.` : null;
}

/** Dates as `Nov 22 and Nov 24 to 26 have …`, or how many there are; null if there are none. */
function spansText(dates: readonly string[], what: string): string | null {
  if (dates.length === 0) return null;
  const starts = dates.filter((date, at) => dates[at - 1] !== addDays(date, -1));
  const ends = dates.filter((date, at) => dates[at + 1] !== addDays(date, 1));
  const spans = starts.map((date, at) => datesText(date, ends[at] ?? date));
  const named = spans.join(', ').replace(/, ([^,]*)$/, ' and $1');
  return `${spans.length > MOST_SPANS ? counted(dates.length, 'night') : named} ${dates.length === 1 ? 'has' : 'have'} ${what}`;
}

/** @param isSame whether the pages of both dates were all inspected, so that their counts are comparable as they are */
function comparison(change: number, isSame: boolean): string {
  if (change === 0) return isSame ? 'as many as on' : 'no net change among the pages known on';
  return `${count(Math.abs(change))} ${change > 0 ? 'more' : 'fewer'} ${isSame ? 'than on' : 'of the pages known on'}`;
}

/** One night that broke its trend: `On Nov 18, 188 fewer pages were indexed than the night before: 208 left, …`. */
export function eventSentence(event: EventRow): string {
  const { snapshot_date, nights, what, name, change, direction, moved, crawls, notes } = event;
  const where = what === 'directory' ? ` in ${cut(name)}` : '';
  const were = what === 'state' ? `in the state “${cut(name)}”` : 'indexed';
  const sense = change < 0 ? 'fewer' : 'more';
  const number = change === 0 ? 'as many pages' : counted(Math.abs(change), `${sense} page`);
  const fewer = `${number}${where} ${Math.abs(change) === 1 ? 'was' : 'were'} ${were}`;
  const than = `${change === 0 ? 'as' : 'than'} ${nights === 1 ? 'the night' : `${nights} nights`} before`;
  const parts = moved === 0 ? 'hardly any moved' : [`${count(moved)} ${direction}`, ...mostOf(event)].join(', ');
  const noted = notes === null ? '' : ` · note of ${shortened(notes, NOTES_CHARACTERS)}`;
  return `On ${dayOfMonth(snapshot_date)}, ${fewer} ${than}: ${parts}${clause(crawls)}${noted}.`;
}

function mostOf({ what, direction, directory, directory_pages, state, state_pages }: EventRow): string[] {
  return [
    ...(what === 'directory' || directory === null
      ? []
      : [`${count(directory_pages ?? 0)} of them in ${cut(directory)}`]),
    ...(state === null ? [] : [`${count(state_pages ?? 0)} ${direction === 'left' ? 'to' : 'from'} “${cut(state)}”`]),
  ];
}

/** What the sentences of places do not say already. */
function withoutPlaces(common: readonly CommonRow[], places: readonly PlaceRow[]): CommonRow[] {
  const isSaid = (value: string) => places.some(({ directory }) => directory.startsWith(value));
  return common.filter(({ dimension, value }) => dimension !== 'directory' || !isSaid(value));
}

function placeSentence(place: PlaceRow): string {
  const { directory, fell_out, indexed_before, beside, beside_fell_out, beside_indexed } = place;
  const fewest = beside_fell_out ? count(beside_fell_out) : 'none';
  const other = beside === null ? '' : `, ${fewest} of the ${count(beside_indexed ?? 0)} in ${cut(beside)}`;
  return `${count(fell_out)} of the ${counted(indexed_before, 'indexed page')} in ${cut(directory)} fell out${other}.`;
}

function movedSentence({ from_place, to_place, pages, twins }: MovedRow): string {
  const came = `${counted(twins, 'page')} of ${cut(to_place)} entered in their place`;
  return `${counted(pages, 'page')} of ${cut(from_place)} fell out, and ${came}: a move.`;
}

function causeSentence(common: readonly CommonRow[]): string | null {
  const causes = common.flatMap(({ dimension, value, share, overall_share }) => {
    const what = CAUSES[dimension];
    // An unknown value, such as `(no report)`, is not a cause.
    return what === undefined || value.startsWith('(')
      ? []
      : [`${percent(share)} were ${what} ${cut(value)} (${percent(overall_share)} of all that were indexed)`];
  });
  if (causes.length === 0) return null;
  return `Of the pages that fell out, ${causes.slice(0, MOST_CAUSES).join(', and ')}.`;
}

/** A name from the service, which may be of any length. */
function cut(name: string | null): string {
  return shortened(name ?? '', NAME_CHARACTERS);
}
