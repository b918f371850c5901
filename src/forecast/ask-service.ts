import type { Config } from '../config/schema.js';
import { Failure } from '../exit.js';
import { Clients, configuredWebsites } from '../run/clients.js';
import type { Client } from '../source/client.js';
import { readWindow, type Window } from '../source/coverage-window.js';
import type { Effects } from '../source/effects.js';
import { SourceError } from '../source/errors.js';
import { listingPath } from '../source/links.js';
import type { SelectedWebsite } from './selection.js';

/** Answers to `limit` after which it is left out, as a walk does. */
const LIMIT_REFUSED = new Set([400, 413, 422]);

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
  #sent = 0;

  constructor(
    private readonly config: Config,
    { effects, signal, remedy }: { effects: Effects; signal: AbortSignal; remedy: string },
  ) {
    this.#remedy = remedy;
    // Once each: whoever waits for the answer can ask again.
    const once = { ...config, api: { ...config.api, max_attempts: 1 } };
    const onAnswer = () => {
      this.#sent += 1;
    };
    this.#clients = new Clients(once, { effects, signal, onAnswer });
  }

  /** Requests that were answered so far. */
  get requests(): number {
    return this.#sent;
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
    const what = `how many pages ${name ? `${name} (${id})` : id} has`;
    const window = await this.#explained(what, () => this.#firstWindow(id, this.#clients.clientOf(token)));
    const { count, end } = window.pagination;
    const received = window.entries.length;
    const isAll = end === true || window.pagination.next_page === null;
    return {
      pages: count ?? (isAll ? received : null),
      window: isAll ? this.config.api.page_size : Math.max(1, received),
    };
  }

  close(): Promise<void> {
    return this.#clients.close();
  }

  async #firstWindow(id: string, client: Client): Promise<Window> {
    const purpose = { lane: id, counts: { sent: 0, throttled: 0, retried: 0 } };
    const ask = async (limit: number | null) => readWindow(await client.get(listingPath(id, 0, limit), purpose));
    try {
      return await ask(this.config.api.page_size);
    } catch (error) {
      if (error instanceof SourceError && LIMIT_REFUSED.has(error.status ?? 0)) return ask(null);
      throw error;
    }
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
