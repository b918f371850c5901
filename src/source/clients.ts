import { googleFor } from '../base/config/google.js';
import { isLoopback } from '../base/config/scalars.js';
import type { Config } from '../base/config/schema.js';
import {
  type Access,
  allFrom,
  apiAccess,
  type GoogleWebsite,
  googleAccess,
  isExcepted,
  namedWebsites,
  type Website,
  websitesFor,
} from '../base/config/websites.js';
import type { HttpAnswer } from '../base/http/exchange.js';
import { MINUTE_MS, realEffects, SECOND_MS } from '../base/time.js';
import { issuesOf, jsonOf } from '../base/validate.js';
import { Client, type ClientOptions, KEY_PATH, type Purpose, uncounted } from './client.js';
import { keyDetailsSchema } from './contract/key.js';
import { SourceError } from './errors.js';
import { listingPath, reportPath } from './links.js';
import type { PaceNotice } from './pace/pacer.js';
import { Account, InspectionDay } from './search-console/account.js';
import { GoogleClient } from './search-console/google-client.js';
import { noneReadable, widestOf } from './search-console/property.js';
import { SiteFetch } from './search-console/site-fetch.js';
import { SearchConsoleSource } from './search-console-source.js';
import { judgeReport, type ListingSink, outcomeOf, type Page, type ReportOutcome, type Source } from './source.js';
import { type WalkResult, walkListing } from './walk/walk.js';
import type { Interrupted } from './walk/walk-state.js';

/** Whoever has not answered by then will not: requests are small. */
const TIMEOUT_MS = 30 * SECOND_MS;
/** With the backoff between them, so many outlast a restart of the service. */
const MAX_ATTEMPTS = 5;

export interface ClientsOptions extends Pick<ClientOptions, 'effects' | 'signal'> {
  /** Attempts per request; `MAX_ATTEMPTS` if left out. */
  maxAttempts?: number;
  /** @param baseUrl of the service that answered */
  onAnswer?: (answer: HttpAnswer, baseUrl: string) => void;
  /** Of indexhouse, for the sites that it reads. */
  version?: string;
  /** @param key the token's configuration key, such as `api.token` */
  onNotice?: (notice: PaceNotice, key: string) => void;
}

/** One client for each API key of each service, because pace and concurrency belong to the key. */
export class Clients {
  readonly #clients = new Map<string, Client>();
  /** Search Console, as each account sees it: by its name, null for the one without. */
  readonly #accounts = new Map<string | null, Account>();
  /** The quota of a property, whichever account uses it. */
  readonly day: InspectionDay;

  constructor(
    private readonly config: Config,
    private readonly options: ClientsOptions,
  ) {
    this.day = new InspectionDay((options.effects ?? realEffects).now);
  }

  clientOf(access: Access): Client {
    const { baseUrl, token, places } = access;
    const id = JSON.stringify([baseUrl, token]);
    const known = this.#clients.get(id);
    if (known) return known;
    const { requests_per_minute: requestsPerMinute, concurrency } = this.config.api;
    const client = new Client({
      ...this.#common(places.token, baseUrl),
      ...{ baseUrl, token, places, requestsPerMinute, concurrency },
    });
    this.#clients.set(id, client);
    return client;
  }

  /** Where the pages of a website come from. */
  sourceOf(website: Website): Source {
    const { effects = realEffects } = this.options;
    if (website.google !== null) return this.propertySource(website.id, website.google);
    return new ApiSource(website, this.clientOf(website), this.config.api, effects.now);
  }

  /** The same of a property of Search Console. */
  propertySource(id: string, own: GoogleWebsite): SearchConsoleSource {
    const { google } = this.config;
    const { version = '' } = this.options;
    const { origin, hostname } = new URL(google.endpoint);
    // A simulated Search Console has the simulated sites, too.
    const simulated = isLoopback(hostname) ? origin : null;
    const reading = { timeout: MINUTE_MS, origin: simulated, userAgent: `indexhouse/${version}` };
    const site = new SiteFetch({ ...this.#common('', ''), ...reading });
    return new SearchConsoleSource({ id, own, account: this.accountOf(own.account), site, config: this.config });
  }

  /** Search Console, as an account sees it. @param name null for the account of `google` */
  accountOf(name: string | null): Account {
    const known = this.#accounts.get(name);
    if (known) return known;
    const { google } = this.config;
    const common = this.#common(name === null ? 'google.credentials' : `google.accounts.${name}`, google.endpoint);
    const account = new Account(new GoogleClient({ ...common, google: googleFor(google, name) }), this.day);
    this.#accounts.set(name, account);
    return account;
  }

  /** By how many milliseconds Google's clock was ahead in the first answer to any account. */
  get googlesClockAhead(): number | null {
    return [...this.#accounts.values()].find(({ client }) => client.clockAhead !== null)?.client.clockAhead ?? null;
  }

  #common(key: string, baseUrl: string) {
    const { maxAttempts = MAX_ATTEMPTS, effects, signal, onNotice, onAnswer } = this.options;
    return {
      ...{ timeout: TIMEOUT_MS, maxAttempts, effects, signal },
      onNotice: (notice: PaceNotice) => onNotice?.(notice, key),
      onAnswer: (answer: HttpAnswer) => onAnswer?.(answer, baseUrl),
    };
  }

  async close(): Promise<void> {
    await Promise.all(
      [...this.#clients.values(), ...[...this.#accounts.values()].map(({ client }) => client)].map((one) =>
        one.close(),
      ),
    );
  }
}

/**
 * The websites that the configuration names; for `all` those that the key may read, which costs one request.
 *
 * @throws SourceError if the service does not list those
 */
export async function configuredWebsites(config: Config, clients: Clients): Promise<Website[]> {
  const named = namedWebsites(config);
  if (named) return named;
  if (allFrom(config) === 'google') {
    const access = googleAccess(config);
    const account = clients.accountOf(access.google.account);
    const ids = widestOf(await account.sites(uncounted()));
    if (ids.size === 0) throw new SourceError('forbidden', noneReadable(account.client.access.account));
    const asked = [...ids.keys()].filter((id) => !isExcepted(config, id));
    return asked.map((id) => ({ id, name: null, ...access }));
  }
  const { details, schemaProblem } = await keyDetails(config, clients);
  if (details) return websitesFor(config, details);
  throw new SourceError(
    'bad_body',
    `the service does not list the key's websites (${schemaProblem}); check api.base_url, or list the ids under websites`,
  );
}

/** Where all properties are asked for, which of them are no websites, as wider ones cover them; null if none is. */
export async function coveredSentence(config: Config, clients: Clients): Promise<string | null> {
  if (allFrom(config) !== 'google') return null;
  const all = [...widestOf(await clients.accountOf(googleAccess(config).google.account).sites(uncounted()))].filter(
    ([, covered]) => covered.length > 0,
  );
  const each = all.map(([id, covered]) => `${covered.join(', ')} (by ${id})`);
  const what =
    'these properties are covered by wider ones, which use their inspections, and are no websites of their own';
  return each.length > 0 ? `${what}: ${each.join('; ')}` : null;
}

/**
 * What the service says about `api.token`, or how its answer breaks the contract.
 *
 * @throws SourceError
 */
export async function keyDetails(config: Config, clients: Clients) {
  const text = await clients.clientOf(apiAccess(config)).send({ path: KEY_PATH }, uncounted());
  const parsed = keyDetailsSchema.safeParse(jsonOf(text));
  if (parsed.success) return { details: parsed.data, schemaProblem: null };
  const [issue] = issuesOf(parsed.error);
  return { details: null, schemaProblem: [issue?.path, issue?.message].filter(Boolean).join(': ') };
}

/** A website of the service, as its API shows it to one key. */
class ApiSource implements Source {
  readonly byInspection = false;

  constructor(
    private readonly website: Website,
    readonly client: Client,
    readonly limits: Config['api'],
    private readonly now: () => number,
  ) {}

  list({ purpose, answered, ...sink }: ListingSink, from: Interrupted | undefined): Promise<WalkResult> {
    const { website } = this;
    const get = (path: string) => this.client.send({ path }, purpose).finally(answered);
    return walkListing({ ...sink, website, now: this.now, get }, from);
  }

  async report({ url }: Page, purpose: Purpose): Promise<ReportOutcome> {
    let text: string;
    try {
      text = await this.client.send({ path: reportPath(url) }, purpose);
    } catch (error) {
      return outcomeOf(error);
    }
    const judged = judgeReport(text, url);
    return judged.outcome === 'rejected' ? { ...judged, payload: this.client.redact(judged.payload) } : judged;
  }

  probe(purpose: Purpose): Promise<string> {
    return this.client.send({ path: listingPath(this.website.id, 0, 1) }, purpose);
  }

  async quotas(): Promise<null> {
    return null;
  }
}
