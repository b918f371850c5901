import { scopeOf } from '../../base/config/google.js';
import type { GoogleWebsite } from '../../base/config/websites.js';
import { messageOf, Stopped } from '../../base/exit.js';
import { addDays, MINUTE_MS } from '../../base/time.js';
import { type Purpose, uncounted } from '../client.js';
import { TooLate } from '../errors.js';
import type { Quota } from '../source.js';
import type { GoogleClientOptions } from './access.js';
import { beginningOf, checkNotGone, SiteError } from './body.js';
import { GoogleClient, listSitemaps, listSites, type Site } from './google-client.js';
import { inspect } from './inspection.js';
import { covers, isReadable, refusalOf, whyRefused } from './property.js';
import { californiaDate, searchTotals } from './search-analytics.js';
import type { SiteFetch } from './site-fetch.js';

/** At most this share of a day is held back for second looks. */
const MOST_HELD = 0.2;

/** What all websites of one account share: its client, its list of properties, and what is left of the day, which all accounts share. */
export class Account {
  #sites: Promise<Site[]> | null = null;

  constructor(
    readonly client: GoogleClient,
    readonly day: InspectionDay,
  ) {}

  /** Every property that the account sees; Google is asked once. @throws SourceError */
  sites(purpose: Purpose): Promise<Site[]> {
    this.#sites ??= listSites(this.client, purpose).catch((error) => {
      this.#sites = null;
      throw error;
    });
    return this.#sites;
  }
}

/** The properties that an account may read. @throws SourceError; `Stopped` */
export async function readableSites(options: Pick<GoogleClientOptions, 'google' | 'signal'>): Promise<Site[]> {
  const client = new GoogleClient({ ...options, timeout: MINUTE_MS, maxAttempts: 2 });
  try {
    return (await listSites(client, uncounted())).filter(isReadable);
  } finally {
    await client.close();
  }
}

/** How many inspections of each property are used on this day of California, whichever website they were for. */
export class InspectionDay {
  #date = '';
  /** By scope, as Google's spelling of a property may change. */
  readonly #used = new Map<string, number>();
  readonly #held = new Map<string, number>();

  /** @param now milliseconds since 1970 */
  constructor(private readonly now: () => number) {}

  /** Counts inspections; less than none gives them back. */
  count(property: string, inspections = 1): void {
    this.#turn();
    add(this.#used, property, inspections);
  }

  /** Holds inspections back for second looks; less than none sets them free. */
  hold(property: string, inspections: number): void {
    this.#turn();
    add(this.#held, property, inspections);
  }

  /** What is left for first looks. */
  free(quota: { property: string; perDay: number }): number {
    const held = this.#held.get(scopeOf(quota.property) ?? quota.property) ?? 0;
    return Math.max(0, this.left(quota) - Math.min(held, Math.ceil(quota.perDay * MOST_HELD)));
  }

  left({ property, perDay }: { property: string; perDay: number }): number {
    this.#turn();
    return Math.max(0, perDay - (this.#used.get(scopeOf(property) ?? property) ?? 0));
  }

  get today(): string {
    return californiaDate(this.now());
  }

  /** Whether a moment is on this day. */
  isNow(at: string): boolean {
    return californiaDate(Date.parse(at)) === this.today;
  }

  #turn(): void {
    const date = this.today;
    if (date !== this.#date) for (const counts of [this.#used, this.#held]) counts.clear();
    this.#date = date;
  }
}

function add(counts: Map<string, number>, property: string, more: number): void {
  const scope = scopeOf(property) ?? property;
  counts.set(scope, Math.max(0, (counts.get(scope) ?? 0) + more));
}

/** Of search analytics, so many days are asked for. */
const DAYS_TRIED = 7;

interface TrialDeps {
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
