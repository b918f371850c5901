import type { GoogleConfig } from '../base/config/google.js';
import type { GoogleWebsite } from '../base/config/websites.js';
import type { Purpose } from './client.js';
import { SourceError } from './errors.js';
import type { ReportOutcome } from './report.js';
import { listSitemaps, listSites, searchTraffic } from './search-console/calls.js';
import type { CallOptions, GoogleClient } from './search-console/google-client.js';
import { inspect } from './search-console/inspection.js';
import { isOfProperty, isReadable, propertyOf, whyRefused } from './search-console/property.js';
import type { SiteFetch } from './search-console/site-fetch.js';
import { Universe } from './search-console/universe.js';
import type { ListingSink, Merged, Page, Quota, Source } from './source.js';
import type { JudgedEntry } from './walk/coverage-window.js';
import type { WalkResult } from './walk/walk.js';
import { type AcceptedWindow, firstWalk, type Interrupted, restartedWalk, type WalkState } from './walk/walk-state.js';

const WINDOW_PAGES = 1_000;
/** A listing's reason names at most this many places that could not be read. */
const MOST_NAMED = 3;

/** A property of Search Console: its pages are those of sitemaps and search analytics, its reports inspections. */
export class SearchConsoleSource implements Source {
  readonly byInspection = true;
  /** Whose quotas inspections use, the website's own first. */
  #properties: Promise<string[]> | null = null;

  constructor(
    private readonly property: string,
    private readonly options: GoogleWebsite,
    readonly client: GoogleClient,
    private readonly site: SiteFetch,
    readonly limits: GoogleConfig,
  ) {}

  async list(sink: ListingSink, from: Interrupted | undefined): Promise<WalkResult> {
    const { client } = this;
    const call = { property: this.property, purpose: sink.purpose };
    await this.#check(call);
    sink.answered();
    const { notAfter } = sink;
    const inTime = { ...call, purpose: { ...sink.purpose, notAfter } };
    const found = new Universe({
      property: call.property,
      sitemaps: this.options.sitemaps,
      notAfter,
      listSitemaps: () => listSitemaps(client, inTime),
      traffic: (window) => searchTraffic(client, { ...inTime, window }),
      site: this.site,
    });
    // An interrupted listing begins again.
    const first = from ? restartedWalk(from.state, client.now) : firstWalk(WINDOW_PAGES, client.now);
    const merged = await sink.merged(found);
    const state = await journaled(sink, merged, first);
    for (const text of found.problems) sink.note(text, 'warn');
    for (const text of found.notes) sink.note(text, 'info');
    const reason = whyIncomplete(merged.sources, found.problems);
    const kept = { ...state, count: state.kept, ended: true };
    return { kept, walks: state.walk, complete: reason === null, reason, error: null };
  }

  async report({ url, spelling }: Page, purpose: Purpose): Promise<ReportOutcome | null> {
    const property = propertyOf(url, await this.#ownAndBelow(purpose));
    const call = { property, purpose };
    const outcome = await inspect(this.client, { ...call, url, spelling });
    // Is it only this page that may not be inspected?
    if (outcome?.outcome === 'failed' && outcome.status === 403) await this.#check(call);
    return outcome;
  }

  probe(purpose: Purpose): Promise<unknown> {
    return listSites(this.client, purpose);
  }

  async quotas(purpose: Purpose): Promise<Quota[]> {
    const perDay = this.options.inspectionsPerDay;
    return (await this.#ownAndBelow(purpose)).map((property) => ({ property, perDay }));
  }

  /** @throws SourceError `forbidden` if the account may not read the property */
  async #check({ property, purpose }: CallOptions): Promise<void> {
    const why = whyRefused(property, await listSites(this.client, purpose), this.client.access.account);
    if (why !== null) throw new SourceError('forbidden', why);
  }

  #ownAndBelow(purpose: Purpose): Promise<string[]> {
    this.#properties ??= this.#findProperties(purpose).catch((error) => {
      this.#properties = null;
      throw error;
    });
    return this.#properties;
  }

  async #findProperties(purpose: Purpose): Promise<string[]> {
    const { property, options } = this;
    if (options.properties !== 'auto') return [property, ...options.properties];
    const readable = (await listSites(this.client, purpose)).filter(isReadable).map(({ siteUrl }) => siteUrl);
    const isBelow = (one: string) => one !== property && !one.startsWith('sc-domain:') && isOfProperty(property, one);
    return [property, ...readable.filter(isBelow)];
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
