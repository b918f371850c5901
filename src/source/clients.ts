import { isLoopback } from '../base/config/scalars.js';
import type { Config } from '../base/config/schema.js';
import {
  type Access,
  allFrom,
  apiAccess,
  googleAccess,
  keyLabel,
  namedWebsites,
  type Website,
  websitesFor,
} from '../base/config/websites.js';
import { realEffects } from '../base/effects.js';
import type { HttpAnswer } from '../base/http/exchange.js';
import { MINUTE_MS } from '../base/time.js';
import { issuesOf, jsonOf } from '../base/validate.js';
import { ApiSource } from './api-source.js';
import { Client, type ClientOptions, uncounted } from './client.js';
import { keyDetailsSchema } from './contract/key.js';
import { SourceError } from './errors.js';
import type { PaceNotice } from './pace/pacer.js';
import { listSites } from './search-console/calls.js';
import { GoogleClient } from './search-console/google-client.js';
import { isReadable } from './search-console/property.js';
import { SiteFetch } from './search-console/site-fetch.js';
import { SearchConsoleSource } from './search-console-source.js';
import type { Source } from './source.js';

export interface ClientsOptions extends Pick<ClientOptions, 'effects' | 'signal'> {
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
  /** Search Console, as the one account sees it. */
  #google: GoogleClient | null = null;

  constructor(
    private readonly config: Config,
    private readonly options: ClientsOptions,
  ) {}

  clientOf(access: Access): Client {
    const { baseUrl, token, places } = access;
    const id = JSON.stringify([baseUrl, token]);
    const known = this.#clients.get(id);
    if (known) return known;
    const { requests_per_minute: requestsPerMinute, concurrency } = this.config.api;
    const client = new Client({
      ...this.#common(keyLabel(access), baseUrl),
      ...{ baseUrl, token, places, requestsPerMinute, concurrency },
    });
    this.#clients.set(id, client);
    return client;
  }

  /** Where the pages of a website come from. */
  sourceOf(website: Website): Source {
    const { api, google } = this.config;
    const { effects = realEffects, version = '' } = this.options;
    if (website.google === null) return new ApiSource(website, this.clientOf(website), api, effects.now);
    const { origin, hostname } = new URL(google.endpoint);
    // A simulated Search Console has the simulated sites, too.
    const simulated = isLoopback(hostname) ? origin : null;
    const site = new SiteFetch({ ...this.#common('', ''), timeout: MINUTE_MS, origin: simulated, version });
    return new SearchConsoleSource(website.id, website.google, this.google, site, google);
  }

  /** The client of Search Console. */
  get google(): GoogleClient {
    const { google } = this.config;
    this.#google ??= new GoogleClient({ ...this.#common('google.credentials', google.endpoint), google });
    return this.#google;
  }

  #common(key: string, baseUrl: string) {
    const { timeout, max_attempts: maxAttempts } = this.config.api;
    const { effects, signal, onNotice, onAnswer } = this.options;
    return {
      ...{ timeout, maxAttempts, effects, signal },
      onNotice: (notice: PaceNotice) => onNotice?.(notice, key),
      onAnswer: (answer: HttpAnswer) => onAnswer?.(answer, baseUrl),
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.values(), this.#google].map((client) => client?.close()));
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
    const sites = await listSites(clients.google, uncounted());
    const ids = new Set(sites.filter(isReadable).map(({ siteUrl }) => siteUrl));
    return [...ids].map((id) => ({ id, name: null, ...googleAccess(config) }));
  }
  const { details, schemaProblem } = await keyDetails(config, clients);
  if (details) return websitesFor(config, details);
  throw new SourceError(
    'bad_body',
    `the service does not list the key's websites (${schemaProblem}); check api.base_url, or list the ids under websites`,
  );
}

/**
 * What the service says about `api.token`, or how its answer breaks the contract.
 *
 * @throws SourceError
 */
export async function keyDetails(config: Config, clients: Clients) {
  const text = await clients.clientOf(apiAccess(config)).send({ path: '/v1' }, uncounted());
  const parsed = keyDetailsSchema.safeParse(jsonOf(text));
  if (parsed.success) return { details: parsed.data, schemaProblem: null };
  const [issue] = issuesOf(parsed.error);
  return { details: null, schemaProblem: [issue?.path, issue?.message].filter(Boolean).join(': ') };
}
