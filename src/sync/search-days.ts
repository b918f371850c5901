import { addDays, DAY_MS } from '../base/time.js';
import type { SearchDate, SearchTotals, SearchType } from '../source/source.js';
import { dayName } from './journal/search.js';

/** Google delivers a day 12 days late at times: one that it still says nothing of after so many was empty. */
const BELIEVED_AFTER_MS = 14 * DAY_MS;
/** A type that had data on nearly all of so many dates before has data on the next one, too. */
const USUAL = { dates: 28, missing: 0.15 };
const NONE = { clicks: 0, impressions: 0 };

/** Why nothing is known of a day: Google gives no figures of it, or other sums than those that were read. */
export type Unknown = 'missing' | 'corrected';
export type AllTotals = ReadonlyMap<SearchType, SearchTotals>;
interface Sums {
  clicks: number;
  impressions: number;
}

/** What is committed of a day. Its sums are null while it is unknown. */
export interface KnownDay {
  is_final: boolean;
  clicks: number | null;
  impressions: number | null;
  unknown: Unknown | null;
  /** Since when, or when it was read, in milliseconds since 1970. */
  at: number;
}

/** A day to read. */
export interface WantedDay extends SearchDate {
  /** What all its pages sum up to; null if Google gives no sums. */
  sums: Sums | null;
  /** Whether an answer without any page is believed. */
  canBeEmpty: boolean;
  /** What is committed of it, where that is no longer believed. */
  was: KnownDay | null;
}

/** The days to read tonight, those to read again some night, and how many of the history are left for later nights. */
export interface DayPlan {
  wanted: WantedDay[];
  again: WantedDay[];
  left: number;
}

/** The dates of a type that have data, and the first of them. */
type OfType = SearchTotals & { first: string | null };

interface Asked {
  today: string;
  /** So many dates are read for the first time, and as many again. */
  most: number;
  /** In milliseconds since 1970. */
  now: number;
}

/** @param known the committed days, as `dayName` names them */
export function planDays(totals: AllTotals, known: ReadonlyMap<string, KnownDay>, asked: Asked): DayPlan {
  const { today, most, now } = asked;
  const types = [...totals].map(([type, of]) => [type, { ...of, first: firstOf(of) }] as const);
  const first = types.flatMap(([, of]) => of.first ?? []).sort()[0];
  // The last date that no longer changes.
  const last = types.map(([, { firstPreliminary }]) => addDays(firstPreliminary, -1)).sort()[0] ?? '';
  if (first === undefined) return { wanted: trialDay(totals, last, known), again: [], left: 0 };
  const open: WantedDay[] = [];
  for (let date = last; date >= first; date = addDays(date, -1)) {
    for (const [type, of] of types) open.push(...openDay({ date, type, isFinal: true }, of, known, now));
  }
  // Those that the night settles come first: the others may be many, and stay as they are.
  const isSettled = ({ sums, canBeEmpty }: WantedDay) => Number(sums !== null || canBeEmpty);
  const again = open.filter(({ was }) => was !== null).sort((one, other) => isSettled(other) - isSettled(one));
  const unread = open.filter(({ was }) => was === null);
  const dates = datesOf(unread);
  const [fresh, repeated] = [new Set(dates.slice(0, most)), new Set(datesOf(again).slice(0, most))];
  const wanted = open.filter(({ date, was }) => (was === null ? fresh : repeated).has(date));
  return {
    wanted: [...preliminaryDays(totals, known, { last, today }), ...wanted],
    again,
    left: dates.length - fresh.size,
  };
}

/** The dates of some days, each once, in their order. */
export function datesOf(days: readonly { date: string }[]): string[] {
  return [...new Set(days.map(({ date }) => date))];
}

/** A day that no longer changes, if it is not known for good. */
function openDay(day: SearchDate, of: OfType, known: ReadonlyMap<string, KnownDay>, now: number): WantedDay[] {
  const { date } = day;
  const said = of.dates.get(date);
  const have = known.get(dayName(day));
  const was = have?.is_final ? have : null;
  // What Google leaves out takes nothing back.
  const isSame = !said || (said.clicks === was?.clicks && said.impressions === was.impressions);
  if (was && was.unknown === null && isSame) return [];
  const hasWaited = was !== null && was.unknown !== null && was.at <= now - BELIEVED_AFTER_MS;
  if (said) return [{ ...day, sums: said, canBeEmpty: hasWaited, was }];
  // Before a type has any data, there are no pages to ask for.
  if (of.first === null || date < of.first) return [{ ...day, sums: NONE, canBeEmpty: true, was }];
  return [{ ...day, sums: null, canBeEmpty: hasWaited || !isUsual(day, of, known), was }];
}

/**
 * Whether a type usually has data: on nearly all of the dates up to the last one with data before this one. Empty dates
 * since then count as well once they are believed.
 */
function isUsual({ date, type }: SearchDate, of: OfType, known: ReadonlyMap<string, KnownDay>): boolean {
  const first = of.first ?? date;
  let [all, missing, at] = [0, 0, addDays(date, -1)];
  for (; !of.dates.has(at) && at > first; at = addDays(at, -1)) {
    const have = known.get(dayName({ date: at, type }));
    if (have?.is_final && have.unknown === null) missing++;
  }
  for (all = missing; all < USUAL.dates && at >= first; at = addDays(at, -1)) {
    all++;
    if (!of.dates.has(at)) missing++;
  }
  return (missing + 1) / (all + 2) < USUAL.missing;
}

/** The days with data that may still change, newest first. */
function preliminaryDays(
  totals: AllTotals,
  known: ReadonlyMap<string, KnownDay>,
  { last, today }: { last: string; today: string },
): WantedDay[] {
  const days = [...totals].flatMap(([type, { dates }]) =>
    [...dates].map(([date, sums]) => ({ date, type, isFinal: false, sums, canBeEmpty: true, was: null })),
  );
  const isOpen = (day: WantedDay) => !known.get(dayName(day))?.is_final && day.date > last && day.date <= today;
  return days.filter(isOpen).sort((one, other) => (one.date < other.date ? 1 : -1));
}

/** The newest final day, where Google gives no sums: pages may have been shown all the same. */
function trialDay(totals: AllTotals, date: string, known: ReadonlyMap<string, KnownDay>): WantedDay[] {
  const day = { date, type: 'web', isFinal: true } as const;
  if (!totals.has('web') || known.get(dayName(day))?.is_final) return [];
  return [{ ...day, sums: null, canBeEmpty: false, was: null }];
}

function firstOf({ dates }: SearchTotals): string | null {
  return [...dates.keys()].sort()[0] ?? null;
}
