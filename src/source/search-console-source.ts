import { scopeOf } from '../base/config/google.js';
import type { Config } from '../base/config/schema.js';
import { type GoogleWebsite, perDayOf } from '../base/config/websites.js';
import type { Purpose } from './client.js';
import { SourceError } from './errors.js';
import { type Account, tryOut } from './search-console/account.js';
import { type GoogleClient, listSitemaps, listSites } from './search-console/google-client.js';
import { inspect } from './search-console/inspection.js';
import { byWidth, covers, isReadable, refusalOf, whyRefused } from './search-console/property.js';
import { californiaDate, isCut, searchRows, searchTotals } from './search-console/search-analytics.js';
import type { SiteFetch } from './search-console/site-fetch.js';
import { Universe } from './search-console/universe.js';
import {
  GOOGLE_AT_ONCE,
  type ListingSink,
  type Merged,
  type Page,
  type Quota,
  type ReportOutcome,
  type SearchDays,
  type Source,
} from './source.js';
import type { JudgedEntry } from './walk/coverage-window.js';
import type { WalkResult } from './walk/walk.js';
import { type AcceptedWindow, firstWalk, type Interrupted, restartedWalk, type WalkState } from './walk/walk-state.js';

const WINDOW_PAGES = 1_000;
/** A listing's reason names at most this many places that could not be read. */
const MOST_NAMED = 3;

/** Nobody waits for a minute to learn of a permission that is missing. */
const TRIAL_REFUSALS = 2;

interface Deps {
  /** Of the website. */
  id: string;
  own: GoogleWebsite;
  account: Account;
  site: SiteFetch;
  config: Pick<Config, 'api' | 'google' | 'websites'>;
}

/** A property of Search Console: its pages are those of sitemaps and search analytics, its reports inspections. */
export class SearchConsoleSource implements Source {
  readonly byInspection = true;
  readonly client: GoogleClient;
  readonly limits: Source['limits'];
  readonly refusal: { properties: string[]; message: string | null } = { properties: [], message: null };
  /** Whose quotas inspections use, the widest first, and what Google calls the website's own. */
  #reach: Promise<{ own: string; quotas: Quota[] }> | null = null;

  constructor(private readonly deps: Deps) {
    this.client = deps.account.client;
    this.limits = { concurrency: GOOGLE_AT_ONCE, requests_per_minute: deps.config.google.requests_per_minute };
  }

  async list(sink: ListingSink, from: Interrupted | undefined): Promise<WalkResult> {
    const { client } = this;
    const { own, site } = this.deps;
    const { own: property } = await this.#known(sink.purpose);
    sink.answered();
    const { notAfter } = sink;
    const inTime = { property, purpose: { ...sink.purpose, notAfter } };
    const found = new Universe({
      property,
      sitemaps: own.sitemaps,
      notAfter,
      listSitemaps: () => listSitemaps(client, inTime),
      searched: sink.searched,
      site,
    });
    // An interrupted listing begins again.
    const first = from ? restartedWalk(from.state, client.now) : firstWalk(WINDOW_PAGES, client.now);
    const merged = await sink.merged(found);
    const state = await journaled(sink, merged, first);
    const problems = [...found.problems, ...(merged.lacks === null ? [] : [merged.lacks])];
    for (const text of problems) sink.note(text, 'warn');
    for (const text of found.notes) sink.note(text, 'info');
    const reason = whyIncomplete(merged.sources, problems);
    const kept = { ...state, count: state.kept, ended: true };
    return { kept, walks: state.walk, complete: reason === null, reason, error: null };
  }

  async searchDays(purpose: Purpose): Promise<SearchDays> {
    const { client } = this;
    const { own: property } = await this.#known(purpose);
    return {
      today: californiaDate(client.now),
      totals: (type, since, purpose) => searchTotals(client, { type, since, property, purpose }),
      rows: (date, purpose) => searchRows(client, { ...date, property, purpose }),
      isCut,
    };
  }

  /** Through the narrowest property that has the page and is not spent, because fewer pages can use it. */
  async report(page: Page, purpose: Purpose): Promise<ReportOutcome | null> {
    const { day } = this.deps.account;
    const left = (quota: Quota) => (page.looks ? day.left(quota) : day.free(quota));
    const { quotas } = await this.#known(purpose);
    const reach = quotas.filter(({ scope }) => covers(scope, page.url));
    const isOpen = ({ property }: Quota) => !this.refusal.properties.includes(property);
    for (const quota of reach.toReversed()) {
      const { property } = quota;
      if (!isOpen(quota) || left(quota) === 0) continue;
      day.count(property);
      const outcome = await this.#inspect(page, property, purpose);
      if (outcome?.outcome === 'failed') day.count(property, -1);
      else day.hold(property, (outcome?.outcome === 'unconfirmed' ? outcome.again : 0) - (page.again ?? 0));
      if (outcome !== null) return outcome;
    }
    if (!reach.some(isOpen)) {
      const [all, sites] = [reach.map(({ property }) => property), await this.deps.account.sites(purpose)];
      this.refusal.message ??= refusalOf(all, sites, this.client.access.account);
    }
    return null;
  }

  /** Tries what a night does, until `notAfter`. @throws SourceError if the property cannot be read; `Stopped` */
  async trial(purpose: Purpose & { notAfter: number }) {
    const { own: property, quotas } = await this.#known(purpose);
    return tryOut({ ...this.deps, property, quotas, purpose: { ...purpose, refusals: TRIAL_REFUSALS } });
  }

  probe(purpose: Purpose): Promise<unknown> {
    return listSites(this.client, purpose);
  }

  async quotas(purpose: Purpose): Promise<(Quota & { left: number })[]> {
    const { quotas } = await this.#known(purpose);
    return quotas.map((quota) => ({ ...quota, left: this.deps.account.day.left(quota) }));
  }

  /** @returns null, too, if the property refuses every inspection */
  async #inspect(page: Page, property: string, purpose: Purpose): Promise<ReportOutcome | null> {
    try {
      return await inspect(this.client, { ...page, property, purpose });
    } catch (error) {
      if (!(error instanceof SourceError) || error.kind !== 'closed') throw error;
      if (!this.refusal.properties.includes(property)) this.refusal.properties.push(property);
      return null;
    }
  }

  #known(purpose: Purpose) {
    this.#reach ??= this.#find(purpose).catch((error) => {
      this.#reach = null;
      throw error;
    });
    return this.#reach;
  }

  /** @throws SourceError `forbidden` if the account may not read the property */
  async #find(purpose: Purpose) {
    const { id, own, account, config } = this.deps;
    const sites = await account.sites(purpose);
    const why = whyRefused(id, sites, account.client.access.account);
    if (why !== null) throw new SourceError('forbidden', why);
    const scope = scopeOf(id) ?? '';
    const given = own.properties === 'auto' ? null : [id, ...own.properties].map(scopeOf);
    const quotas: Quota[] = [];
    for (const site of sites.filter(isReadable)) {
      const { siteUrl: property } = site;
      const one = scopeOf(property);
      if (one === null || !(given?.includes(one) ?? (covers(scope, one) || covers(one, scope)))) continue;
      quotas.push({ property, scope: one, perDay: perDayOf(config, property, own) });
    }
    quotas.sort((one, other) => byWidth(one.scope, other.scope));
    return { own: quotas.find((quota) => quota.scope === scope)?.property ?? id, quotas };
  }
}

/** Journals pages in windows, as if a listing had been walked. @returns the state after the last one */
async function journaled(sink: ListingSink, { pages, sources }: Merged, first: WalkState) {
  let state = first;
  let fresh: JudgedEntry[] = [];
  const accept = async (more: Pick<AcceptedWindow, 'sources'> = {}) => {
    const { kept: keep, windows } = state;
    state = { ...state, windows: windows + 1, kept: keep + fresh.length, offset: keep + fresh.length };
    await sink.accept({ keep, fresh, drift: [], state, ...more });
    fresh = [];
  };
  for await (const page of pages) if (fresh.push(page) >= WINDOW_PAGES) await accept();
  await accept({ sources });
  return state;
}

/** Why a listing is partial: the places that could not be read; null if it is not. */
function whyIncomplete(sources: Merged['sources'], problems: readonly string[]): string | null {
  const isNone = sources.every(({ pages }) => pages === 0);
  if (isNone && problems.length === 0) return 'no sitemap and no search traffic names a page of the property';
  const more = problems.length > MOST_NAMED ? [`and ${problems.length - MOST_NAMED} more`] : [];
  return [...problems.slice(0, MOST_NAMED), ...more].join('; ') || null;
}
