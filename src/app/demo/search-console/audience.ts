import { DAY_MS } from '../../../base/time.js';
import { SEARCH_TYPES, type SearchType } from '../../../source/source.js';
import { isIndexed } from '../simulator/lifecycle.js';
import { foundPage, type Page } from '../simulator/page-life.js';
import { hash, unit } from '../simulator/random.js';
import type { SimulatedWebsite } from '../simulator/website.js';

/** Share of the pages that each of these types shows, and how often, compared with web search. */
const SHOWN: readonly (readonly [pages: number, mean: number])[] = [
  [1, 1],
  [1 / 3, 0.1],
  [0.02, 0.2],
  [0.1, 0.3],
  [0.1, 20],
  [0.1, 0.5],
];
/** A page keeps impressions for fewer than `days` after it fell out of the index; one page in `oneOf` for `longerDays`. */
const AFTER_THE_FALL = { days: 3, oneOf: 20, longerDays: 45 } as const;
/** Share of the pages without any impressions. */
const SILENT = 0.4;
/** Mean impressions a day of the others: at least, at most, and the exponent of the tail between. */
const TAIL = { from: 0.02, to: 5000, exponent: 1.1 } as const;
/** One page of so many is searched for in some weeks only, and then more often. */
const SPORADIC = { oneOf: 10, weeks: 0.3 } as const;
/** Discover shows a page for a few days of few weeks. */
const BURST = { weeks: 0.06, days: 3 } as const;
/** From Sunday on. */
const WEEKDAYS = [0.8, 1.1, 1.15, 1.1, 1.05, 1, 0.8] as const;
const SEASON = { swing: 0.25, peak: '11-25' } as const;
const GROWTH_A_DAY = 0.0004;
const YEAR_DAYS = 365.25;
/** Above this mean the normal distribution stands for that of Poisson. */
const MANY = 40;

/** What each number that is drawn for a page, or for a page and a day, decides. */
const SALT = {
  ...{ mean: 11, position: 12, end: 13, noise: 14, clicks: 15, impressions: 16, share: 17, moved: 18 },
  ...{ type: 19, isSporadic: 20, week: 21, website: 22, entry: 31, event: 32, back: 33, isAffected: 34 },
} as const;

/** How search shows a page: as often as `mean` on an average day, while it is in the index. */
interface Appeal {
  mean: number;
  position: number;
  isSporadic: boolean;
  daysAfterTheFall: number;
  /** Nights on which it entered the index or left it before the first one. */
  past: readonly number[];
}

/** How often a page was shown and clicked on one day. */
export interface Shown {
  number: number;
  night: number;
  clicks: number;
  impressions: number;
  position: number;
}

/** Who sees a website's pages in search, day by day: the same for a day, whenever and how often it is asked for. */
export class Audience {
  readonly #appeals: (Appeal | null)[] = [];

  /** @param dayZero the date of night 0 in milliseconds since 1970 */
  constructor(
    private readonly website: SimulatedWebsite,
    private readonly dayZero: number,
  ) {}

  /** The pages that were shown on a day, in the order of their numbers. @param share of the day's data that is there */
  shownOn(night: number, type: SearchType, share: number): Shown[] {
    const { website } = this;
    if (!hasType(website, type)) return [];
    const index = SEARCH_TYPES.indexOf(type);
    const [pages, mean] = SHOWN[index] ?? [0, 0];
    const seed = hash(website.seed, index, 0, SALT.type);
    const usual = mean * this.#mood(night);
    const shown: Shown[] = [];
    for (const page of website.allPages) {
      const { number } = page;
      if (pages < 1 && unit(seed, number, 0, SALT.type) >= pages) continue;
      const appeal = this.#appealOf(number);
      if (!appeal) continue;
      const expected = appeal.mean * usual * spell(appeal, type, seed, number, night);
      const figures = expected > 0 ? figuresOf(appeal.position, expected, share, seed, number, night) : null;
      if (figures && isIn(appeal, page, night)) shown.push({ number, night, ...figures });
    }
    return shown;
  }

  #appealOf(number: number): Appeal | null {
    const known = this.#appeals[number];
    if (known !== undefined) return known;
    const { seed } = this.website;
    const u = (salt: number): number => unit(seed, number, 0, salt);
    const rank = (1 - u(SALT.mean)) / (1 - SILENT);
    const end = hash(seed, number, 0, SALT.end);
    const { days, oneOf, longerDays } = AFTER_THE_FALL;
    const appeal = {
      mean: Math.min(TAIL.to, TAIL.from / rank ** TAIL.exponent),
      position: 1 + 60 * u(SALT.position) ** 2,
      isSporadic: hash(seed, number, 0, SALT.isSporadic) % SPORADIC.oneOf === 0,
      daysAfterTheFall: end % oneOf === 0 ? longerDays : end % days,
      past: pastOf(this.website, number),
    };
    this.#appeals[number] = rank > 1 ? null : appeal;
    return rank > 1 ? null : appeal;
  }

  /** How much all people search on a day, about 1: by weekday, season and growth. */
  #mood(night: number): number {
    const date = new Date(this.dayZero + night * DAY_MS);
    const peak = Date.parse(`${date.getUTCFullYear()}-${SEASON.peak}`);
    const season = 1 + SEASON.swing * Math.cos((2 * Math.PI * (date.getTime() - peak)) / DAY_MS / YEAR_DAYS);
    return (WEEKDAYS[date.getUTCDay()] ?? 1) * season * (1 + GROWTH_A_DAY * Math.max(night, -1000));
  }
}

/** Some websites have videos, some are shown in Discover; those that are news say so. */
function hasType({ seed, settings }: SimulatedWebsite, type: SearchType): boolean {
  if (type === 'news' || type === 'googleNews') return settings.news;
  return type === 'web' || type === 'image' || settings.news || hash(seed, 0, 0, SALT.website) % 2 === 0;
}

function isIn({ past, daysAfterTheFall }: Appeal, { indexMoves }: Page, night: number): boolean {
  const was = (one: number): boolean => (movesUntil(past, one) + movesUntil(indexMoves, one)) % 2 === 1;
  return was(night) || (daysAfterTheFall > 0 && was(night - daysAfterTheFall));
}

function movesUntil(moves: readonly number[], night: number): number {
  let count = 0;
  for (const moved of moves) if (moved <= night) count++;
  return count;
}

/** By which factor a page is shown more or less often in some weeks. */
function spell({ isSporadic }: Appeal, type: SearchType, seed: number, number: number, night: number): number {
  const isBurst = type === 'discover';
  if (!isBurst && !isSporadic) return 1;
  const day = night + (number % 7);
  const u = unit(seed, number, Math.floor(day / 7), SALT.week);
  if (isBurst) return u < BURST.weeks && ((day % 7) + 7) % 7 < BURST.days ? 1 : 0;
  return u < SPORADIC.weeks ? 1 / SPORADIC.weeks : 0;
}

/** Null without an impression. An incomplete day has no more of anything than it will have. */
function figuresOf(usual: number, expected: number, share: number, seed: number, number: number, night: number) {
  const u = (salt: number): number => unit(seed, number, night, salt);
  const all = poisson(expected * (0.5 + u(SALT.noise)), u(SALT.impressions));
  if (all === 0) return null;
  const position = 1 + (usual - 1) * (0.9 + 0.2 * u(SALT.moved));
  const allClicks = Math.min(all, Math.floor((all * 0.3) / position + u(SALT.clicks)));
  if (share === 1) return { clicks: allClicks, impressions: all, position };
  const [clicks = 0, impressions = 0] = [allClicks, all].map((one) => Math.floor(one * share + u(SALT.share)));
  return impressions === 0 ? null : { clicks, impressions, position };
}

/** How often something happens that happens `mean` times on average, for who drew `u`. */
function poisson(mean: number, u: number): number {
  // The logistic distribution is close to the normal one, and is quickly drawn.
  if (mean > MANY) return Math.max(0, Math.round(mean + (Math.sqrt(mean) * Math.log((u + 1e-9) / (1 - u))) / 1.7));
  if (u < 1 - mean) return 0;
  let chance = Math.exp(-mean);
  let below = chance;
  let count = 0;
  while (u >= below && chance > 1e-12) {
    count++;
    chance *= mean / count;
    below += chance;
  }
  return count;
}

/** A directory without pages in the index before this night, as if it began then. */
const BEGINNING = { directory: '/category/', night: -240 } as const;
/** Most pages of a directory left the index, and came back weeks later. */
const OUTAGE = { directory: '/docs/', night: -150, back: -115, share: 0.8 } as const;
/** The pages of a directory that are not in the index at the start left it together. */
const LOSS = { directory: '/products/', night: -40 } as const;
const DAYS_OF_AN_EVENT = 3;
const DAYS_OF_A_RETURN = 20;
const DAYS_UNTIL_INDEXED = 14;

/**
 * The nights before the first on which a page of a new world entered the index or left it, in turn. They end in the
 * state that the page begins with. Empty for a page that came later.
 */
function pastOf({ settings, urls, seed }: SimulatedWebsite, number: number): number[] {
  if (number >= settings.pages + settings.paths.length) return [];
  const { state, detected, crawled, lastIndexed } = foundPage(number, seed);
  const day = (salt: number, days: number): number => hash(seed, number, 0, salt) % days;
  const directory = urls.directory(number);
  const began = directory === BEGINNING.directory ? BEGINNING.night : detected;
  const entry = Math.max(began, detected) + 1 + day(SALT.entry, DAYS_UNTIL_INDEXED);
  const inEvent = day(SALT.event, DAYS_OF_AN_EVENT);
  if (!isIndexed(state)) {
    const left = directory === LOSS.directory && crawled !== null ? LOSS.night + inEvent : lastIndexed;
    return left !== null && left > entry ? [entry, left] : [];
  }
  const isAffected = directory === OUTAGE.directory && unit(seed, number, 0, SALT.isAffected) < OUTAGE.share;
  const left = isAffected ? OUTAGE.night + inEvent : lastIndexed;
  if (left === null || left <= entry) return [entry];
  const back = (isAffected ? OUTAGE.back : left + 1) + day(SALT.back, DAYS_OF_A_RETURN);
  return back < 0 ? [entry, left, back] : [entry];
}
