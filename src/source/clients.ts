import type { Config } from '../base/config/schema.js';
import { type Access, apiAccess, keyLabel, namedWebsites, type Website, websitesFor } from '../base/config/websites.js';
import { issuesOf, jsonOf } from '../base/validate.js';
import { Client, type ClientOptions } from './client.js';
import { keyDetailsSchema } from './contract/key.js';
import { SourceError } from './errors.js';
import type { PaceNotice } from './pace/pacer.js';
import type { Answer } from './transport.js';

export interface ClientsOptions extends Pick<ClientOptions, 'effects' | 'signal'> {
  /** @param baseUrl of the service that answered */
  onAnswer?: (answer: Answer, baseUrl: string) => void;
  /** @param key the token's configuration key, such as `api.token` */
  onNotice?: (notice: PaceNotice, key: string) => void;
}

/** One client for each API key of each service, because pace and concurrency belong to the key. */
export class Clients {
  readonly #clients = new Map<string, Client>();

  constructor(
    private readonly config: Config,
    private readonly options: ClientsOptions,
  ) {}

  clientOf(access: Access): Client {
    const { baseUrl, token, places } = access;
    const id = JSON.stringify([baseUrl, token]);
    const known = this.#clients.get(id);
    if (known) return known;
    const { api } = this.config;
    const { onNotice, onAnswer, ...options } = this.options;
    const label = keyLabel(access);
    const client = new Client({
      baseUrl,
      token,
      places,
      requestsPerMinute: api.requests_per_minute,
      concurrency: api.concurrency,
      timeout: api.timeout,
      maxAttempts: api.max_attempts,
      ...options,
      ...(onAnswer ? { onAnswer: (answer: Answer) => onAnswer(answer, baseUrl) } : {}),
      ...(onNotice ? { onNotice: (notice: PaceNotice) => onNotice(notice, label) } : {}),
    });
    this.#clients.set(id, client);
    return client;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client.close()));
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
  const purpose = { lane: '', counts: { sent: 0, throttled: 0, retried: 0 } };
  const parsed = keyDetailsSchema.safeParse(jsonOf(await clients.clientOf(apiAccess(config)).get('/v1', purpose)));
  if (parsed.success) return { details: parsed.data, schemaProblem: null };
  const [issue] = issuesOf(parsed.error);
  return { details: null, schemaProblem: [issue?.path, issue?.message].filter(Boolean).join(': ') };
}
