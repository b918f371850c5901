import { isIndexed } from '../simulator/lifecycle.js';
import { foundPage } from '../simulator/page-life.js';
import { hash, unit } from '../simulator/random.js';
import type { SimulatedWebsite } from '../simulator/website.js';

/** A directory without pages in the index before this night, as if it began then. */
const BEGINNING = { directory: '/category/', night: -240 } as const;
/** Most pages of a directory left the index, and came back weeks later. */
const OUTAGE = { directory: '/docs/', night: -150, back: -115, share: 0.8 } as const;
/** The pages of a directory that are not in the index at the start left it together. */
const LOSS = { directory: '/products/', night: -40 } as const;
const DAYS_OF_AN_EVENT = 3;
const DAYS_OF_A_RETURN = 20;
const DAYS_UNTIL_INDEXED = 14;

/** What each number that is drawn for a page decides. */
const SALT = { entry: 31, event: 32, back: 33, isAffected: 34 } as const;

/**
 * The nights before the first on which a page of a new world entered the index or left it, in turn. They end in the
 * state that the page begins with. Empty for a page that came later.
 */
export function pastOf({ settings, urls, seed }: SimulatedWebsite, number: number): number[] {
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
