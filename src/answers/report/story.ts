import { changeOf, clause, count, counted, dayOfMonth, percent, shareOf } from '../../base/observe/format.js';
import { shortened } from '../html/html.js';
import { estimateSentence } from './estimate.js';
import type { Headline } from './headline.js';
import type { Period } from './period.js';
import type { CommonRow, EventRow, MovedRow, PlaceRow } from './rows.js';

const MOST_EVENTS = 2;
const MOST_CAUSES = 2;
const NAME_CHARACTERS = 80;
const NOTES_CHARACTERS = 240;

const CAUSES: Record<string, string> = {
  directory: 'in the directory',
  template: 'of the form',
  sitemap: 'in the sitemap',
  canonical: 'with the canonical:',
};

/** The input of a story; events and causes with the largest first. */
export interface Facts {
  headline: Headline;
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
export function storyOf({ headline, events, common, places, moved }: Facts, period: Period): string[] {
  const sentence = headlineSentence(headline);
  if (sentence === null) return [];
  const shown = eventsIn(events, period).slice(0, MOST_EVENTS);
  const causes = headline.fell_out.now > 0 ? causeSentence(withoutPlaces(common, places)) : null;
  const estimate = estimateSentence(headline.estimate, headline.not_inspected);
  const where = [...places.map(placeSentence), ...moved.map(movedSentence)];
  return [sentence, estimate, ...shown.map(eventSentence), ...where, causes].filter((one) => one !== null);
}

/** The events of a period: those of whole websites before those of directories and states, the largest first. */
export function eventsIn(events: readonly EventRow[], { since, until }: Pick<Period, 'since' | 'until'>): EventRow[] {
  const rank = ({ what }: EventRow) => ['website', 'directory', 'state'].indexOf(what);
  return events
    .filter(({ snapshot_date }) => snapshot_date >= since && snapshot_date <= until)
    .sort((one, other) => rank(one) - rank(other) || Math.abs(other.change) - Math.abs(one.change));
}

/** How much is indexed, and how much more or less than before; null without a complete listing. */
function headlineSentence(headline: Headline): string | null {
  const { pages, indexed, fell_out, clicks_lost, crawls, not_inspected, first_inspected, compared_with, listed_on } =
    headline;
  if (listed_on === null) return null;
  const change = changeOf(indexed);
  const isWhole = not_inspected === 0;
  const isSame = isWhole && first_inspected === 0;
  const than =
    change === null || compared_with === null ? '' : `, ${comparison(change, isSame)} ${dayOfMonth(compared_with)}`;
  const had = clicks_lost > 0 ? `; in 28 days they had ${counted(clicks_lost, 'click')}` : '';
  const out = `${counted(fell_out.now, 'page')} fell out of the index${had}${clause(crawls)}`;
  const fell = compared_with === null ? '' : ` ${out}.`;
  // Of pages of which many were never looked at, a share says nothing.
  const share = isWhole ? percent(shareOf(indexed.now, pages.now)) : '';
  const are = `${indexed.now === 1 ? 'is' : 'are'}${isWhole ? '' : ' known to be'}`;
  return `${count(indexed.now)} of ${counted(pages.now, 'page')} ${are} indexed${share ? ` (${share})` : ''}${than}.${fell}`;
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
  const fewer = `${count(Math.abs(change))} ${change < 0 ? 'fewer' : 'more'} pages${where} were ${were}`;
  const than = nights === 1 ? 'than the night before' : `than ${nights} nights before`;
  const parts = [`${count(moved)} ${direction}`, ...mostOf(event)];
  const noted = notes === null ? '' : ` · note of ${shortened(notes, NOTES_CHARACTERS)}`;
  return `On ${dayOfMonth(snapshot_date)}, ${fewer} ${than}: ${parts.join(', ')}${clause(crawls)}${noted}.`;
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
