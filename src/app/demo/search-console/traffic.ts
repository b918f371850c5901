import { calendarDate, DAY_MS } from '../../../base/time.js';
import { addressOf } from '../../../base/url.js';
import { isOfProperty } from '../../../source/search-console/property.js';
import type { SearchType } from '../../../source/source.js';
import { hash } from '../simulator/random.js';
import type { SimulatedWebsite } from '../simulator/website.js';
import type { World } from '../simulator/world.js';
import { Audience, type Shown } from './audience.js';

/** Share of a day's data that is there on the day itself, and one and two days later. */
const SHARES = [0.25, 0.7, 0.95] as const;
/** Two pages that are shown together count once for the property. */
const SHOWN_ALONE = 0.9;
/** So many answers are kept: the next window continues one of them. */
const MAX_KEPT = 20;

export interface TrafficQuery {
  startDate: string;
  endDate: string;
  dimensions: readonly ('date' | 'page')[];
  type: SearchType;
  dataState: 'final' | 'all';
  isByPage: boolean;
  rowLimit: number;
  startRow: number;
}

/**
 * What search analytics lacks until the world's night `until` of the days `from` to `to` (nights as well, both included), of
 * one type or all: `share` of each day is there. With 0 the days are late or missing, with more they are corrected later.
 */
export interface DayFault {
  type?: SearchType;
  from: number;
  to: number;
  until: number;
  share: number;
}

/** Search analytics of one property. */
export class SearchTraffic {
  readonly #audience: Audience;
  readonly #addresses: (string | null)[] = [];
  readonly #kept = new Map<string, Shown[]>();

  constructor(
    private readonly world: World,
    private readonly website: SimulatedWebsite,
    private readonly siteUrl: string,
    private readonly limits: {
      /** The most pages that a day and type has. */
      rowsPerDay: number;
      days: readonly DayFault[];
    },
  ) {
    this.#audience = new Audience(website, dayZero(world));
  }

  /** The rows of a window, and the first date that is incomplete if a day in it is. */
  answer(query: TrafficQuery) {
    const { dimensions, type, startRow, rowLimit } = query;
    const days = daysOf(this.world);
    const from = Math.max(days.nightOf(query.startDate), days.first);
    const to = Math.min(days.nightOf(query.endDate), query.dataState === 'all' ? days.last : days.firstIncomplete - 1);
    const all = this.#rows(query, from, to, days.firstIncomplete);
    const isIncomplete = dimensions.includes('date') && to >= days.firstIncomplete;
    return {
      rows: all.slice(startRow, startRow + rowLimit).map(({ number, night, clicks, impressions, position }) => ({
        keys: dimensions.map((one) => (one === 'date' ? days.dateOf(night) : (this.#address(number) ?? ''))),
        ...{ clicks, impressions, ctr: clicks / impressions },
        ...(type === 'discover' || type === 'googleNews' ? {} : { position }),
      })),
      ...(isIncomplete ? { metadata: { first_incomplete_date: days.dateOf(days.firstIncomplete) } } : {}),
    };
  }

  #rows(query: TrafficQuery, from: number, to: number, firstIncomplete: number): Shown[] {
    const isWhole = ({ until }: DayFault) => until <= this.world.night;
    const faults = this.limits.days.map(isWhole);
    const key = [query.dimensions, query.type, query.isByPage, from, to, faults].join(' ');
    const rows = this.#kept.get(key) ?? this.#grouped(query, from, to, firstIncomplete);
    this.#kept.delete(key);
    // An incomplete day has more rows tomorrow.
    if (to < firstIncomplete) this.#kept.set(key, rows);
    for (const oldest of [...this.#kept.keys()].slice(0, -MAX_KEPT)) this.#kept.delete(oldest);
    return rows;
  }

  #grouped({ dimensions, type, isByPage }: TrafficQuery, from: number, to: number, firstIncomplete: number): Shown[] {
    const byPage = dimensions.includes('page');
    const byDate = dimensions.includes('date') || from === to;
    const rows: Shown[] = [];
    const sums = new Map<number, Shown>();
    for (let night = from; night <= to; night++) {
      const fault = this.#faultOf(night, type);
      const share = fault?.share ?? (night < firstIncomplete ? 1 : (SHARES[this.world.night - night] ?? 1));
      const shown = this.#audience.shownOn(night, type, share).filter(({ number }) => this.#address(number) !== null);
      // By date they come in its order, by page or not.
      if (byDate && byPage) rows.push(...shown.sort(byClicks).slice(0, this.limits.rowsPerDay));
      else for (const one of shown) add(sums, byPage ? one.number : byDate ? night : 0, one);
    }
    if (byDate && byPage) return rows;
    const summed = [...sums.values()].map((sum) => ({ ...sum, position: sum.position / sum.impressions }));
    if (byPage) return summed.sort(byClicks).slice(0, this.limits.rowsPerDay * (to - from + 1));
    return isByPage ? summed : summed.map((sum) => ({ ...sum, impressions: Math.ceil(sum.impressions * SHOWN_ALONE) }));
  }

  #faultOf(night: number, ofType: SearchType): DayFault | undefined {
    return this.limits.days.find(
      ({ type = ofType, from, to, until }) =>
        type === ofType && from <= night && night <= to && this.world.night < until,
    );
  }

  /** Null for a page that is not of the property. */
  #address(number: number): string | null {
    const known = this.#addresses[number];
    if (known !== undefined) return known;
    const url = addressOf(this.website.urls.url(number));
    const address = url && isOfProperty(this.siteUrl, url) ? url : null;
    this.#addresses[number] = address;
    return address;
  }
}

/** Adds figures to a sum, whose position is that of all impressions together. */
function add(sums: Map<number, Shown>, key: number, { number, night, clicks, impressions, position }: Shown): void {
  const sum = sums.get(key);
  if (!sum) sums.set(key, { number, night, clicks, impressions, position: position * impressions });
  else {
    sum.clicks += clicks;
    sum.impressions += impressions;
    sum.position += position * impressions;
  }
}

function byClicks(a: Shown, b: Shown): number {
  return b.clicks - a.clicks || b.impressions - a.impressions || a.number - b.number;
}

const KEPT_MONTHS = 16;
const SALT = 30;

/** The date in California, where the days of Search Console begin and end. */
export function pacificDate(ms: number): string {
  return calendarDate(new Date(ms), 'America/Los_Angeles');
}

/** The date in California of night 0, in milliseconds since 1970. */
function dayZero({ start }: World): number {
  return Date.parse(pacificDate(start.getTime()));
}

/** The days of which search analytics knows something on the world's night, as nights: today is the last one. */
function daysOf(world: World) {
  const { seed, night } = world;
  const zero = dayZero(world);
  const kept = new Date(zero + night * DAY_MS);
  kept.setUTCMonth(kept.getUTCMonth() - KEPT_MONTHS);
  return {
    nightOf: (date: string): number => (Date.parse(date) - zero) / DAY_MS,
    dateOf: (one: number): string => new Date(zero + one * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length),
    first: (kept.getTime() - zero) / DAY_MS,
    /** The last two or three days are incomplete, by the night. */
    firstIncomplete: night - 1 - (hash(seed, night, 0, SALT) % 2),
    last: night,
  };
}
