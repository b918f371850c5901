import { scopeOf } from '../../base/config/google.js';
import type { GoogleWebsite } from '../../base/config/websites.js';
import { messageOf, Stopped } from '../../base/exit.js';
import { addDays } from '../../base/time.js';
import type { Purpose } from '../client.js';
import { TooLate } from '../errors.js';
import type { Quota } from '../source.js';
import type { Account } from './account.js';
import { beginningOf } from './body.js';
import { listSitemaps } from './calls.js';
import { inspect } from './inspection.js';
import { covers, refusalOf, whyRefused } from './property.js';
import { californiaDate, searchTotals } from './search-analytics.js';
import { checkNotGone, SiteError } from './site-error.js';
import type { SiteFetch } from './site-fetch.js';

/** Of search analytics, so many days are asked for. */
const DAYS_TRIED = 7;

export interface TrialDeps {
  /** As Google spells it. */
  property: string;
  own: GoogleWebsite;
  quotas: readonly Quota[];
  account: Account;
  site: SiteFetch;
  purpose: Purpose & { notAfter: number };
}

/**
 * Does once what a night does: an inspection through each property, the last days of search analytics, each listed sitemap.
 *
 * @returns the quotas that can be used, the number of sitemaps, and what is lacking, with the remedy behind the last `; `
 * @throws `Stopped`
 */
export async function tryOut({ property, own, quotas, account, site, purpose }: TrialDeps) {
  const { client } = account;
  const lacking: { check: 'property' | 'sitemap'; message: string; isHarmless: boolean }[] = [];
  const tried = async <T>(what: string, work: Promise<T>, check: 'property' | 'sitemap' = 'property') => {
    try {
      return await work;
    } catch (error) {
      if (error instanceof Stopped) throw error;
      const isBusy = error instanceof TooLate;
      const why = isBusy ? 'not tried in time, perhaps for its quota; a night waits for longer' : messageOf(error);
      const isHarmless = isBusy || (error instanceof SiteError && error.harmless);
      lacking.push({ check, message: `${what}${error instanceof SiteError ? '' : ':'} ${why}`, isHarmless });
      return null;
    }
  };
  /** @returns why there are none; null if there are */
  const whyNotInspected = async ({ property, scope }: Quota): Promise<string | null> => {
    const url = scope.replace(/^\.(.*)/, 'https://$1/');
    const outcome = await tried(`inspections of ${property}`, inspect(client, { url, property, purpose }));
    if (outcome?.outcome !== 'failed') return null;
    if (outcome.status !== 403) return `inspections of ${property}: ${outcome.message}`;
    return refusalOf([property], await account.sites(purpose), client.access.account);
  };
  const read = async (file: string): Promise<void> => {
    const { status } = await site.get(file, { ...purpose, read: beginningOf });
    checkNotGone(status);
    if (status !== 200)
      throw new SiteError(`answered ${status} to indexhouse; let it answer 200 to the user agent indexhouse`);
  };
  for (const id of own.properties === 'auto' ? [] : own.properties) {
    const message = whyRefused(id, await account.sites(purpose), client.access.account);
    if (message !== null) lacking.push({ check: 'property', message, isHarmless: true });
  }
  const call = { property, purpose };
  const listed = own.sitemaps === 'auto' ? tried('the list of sitemaps', listSitemaps(client, call)) : own.sitemaps;
  const since = addDays(californiaDate(client.now), -DAYS_TRIED);
  await tried('search analytics', searchTotals(client, { ...call, type: 'web', since }));
  const refusals = await Promise.all(quotas.map(whyNotInspected));
  const usable = quotas.filter((_, at) => refusals[at] === null);
  // A narrower property that refuses only lends nothing.
  const isServed = usable.some(({ scope }) => covers(scope, scopeOf(property) ?? ''));
  for (const message of refusals)
    if (message != null) lacking.push({ check: 'property', message, isHarmless: isServed });
  const sitemaps = (await listed)?.map((one) => (typeof one === 'string' ? one : one.path)) ?? [];
  for (const file of sitemaps) await tried(file, read(file), 'sitemap');
  return { usable, sitemaps: sitemaps.length, lacking };
}
