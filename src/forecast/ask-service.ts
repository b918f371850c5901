import type { Config } from '../config/schema.js';
import { Failure } from '../exit.js';
import { Clients, configuredWebsites } from '../run/clients.js';
import { readWindow, type Window } from '../source/coverage-window.js';
import type { Effects } from '../source/effects.js';
import { SourceError } from '../source/errors.js';
import { listingPath } from '../source/links.js';
import { LIMIT_REFUSED } from '../source/walk.js';
import type { SelectedWebsite } from './website.js';

/** What the first window of a listing tells. */
export interface ListingSize {
  /** Null where the service does not count them. */
  pages: number | null;
  /** Entries of one answer. */
  window: number;
}

/** The service did not tell how many pages there are. */
export class AskError extends Failure {}

/** Asks the service how many pages there are: a request for each website, and one for which those are. */
export class ServiceQuestion {
  readonly #clients: Clients;
  /** What else can be done where the service does not answer. */
  readonly #remedy: string;
  /** Requests that were answered so far. */
  requests = 0;

  constructor(
    private readonly config: Config,
    { effects, signal, remedy }: { effects: Effects; signal: AbortSignal; remedy: string },
  ) {
    this.#remedy = remedy;
    // Once each: whoever waits for the answer can ask again.
    const once = { ...config, api: { ...config.api, max_attempts: 1 } };
    const onAnswer = () => {
      this.requests += 1;
    };
    this.#clients = new Clients(once, { effects, signal, onAnswer });
  }

  /** @throws AskError */
  async websites(): Promise<SelectedWebsite[]> {
    const websites = await this.#explained('which websites the key may read', () =>
      configuredWebsites(this.config, this.#clients),
    );
    return websites.map((website) => ({ ...website, key: 'api.token' }));
  }

  /** @throws AskError */
  async listingSize({ id, name, token }: SelectedWebsite): Promise<ListingSize> {
    const client = this.#clients.clientOf(token);
    const purpose = { lane: id, counts: { sent: 0, throttled: 0, retried: 0 } };
    const ask = async (limit: number | null): Promise<Window> =>
      readWindow(await client.get(listingPath(id, 0, limit), purpose));
    const { entries, pagination } = await this.#explained(`how many pages ${name ? `${name} (${id})` : id} has`, () =>
      ask(this.config.api.page_size).catch((error: unknown) => {
        if (error instanceof SourceError && LIMIT_REFUSED.has(error.status ?? 0)) return ask(null);
        throw error;
      }),
    );
    const isAll = pagination.end === true || pagination.next_page === null;
    return {
      pages: pagination.count ?? (isAll ? entries.length : null),
      window: isAll ? this.config.api.page_size : Math.max(1, entries.length),
    };
  }

  close(): Promise<void> {
    return this.#clients.close();
  }

  async #explained<T>(what: string, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      const hint = error.kind === 'not_found' ? '; check its id under websites' : '';
      throw new AskError(`cannot ask the service ${what}: ${error.message}${hint}${this.#remedy}`, { cause: error });
    }
  }
}
