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

export interface Asking {
  /** Null: all that the key may read, which costs a request. */
  selected: SelectedWebsite[] | null;
  mustAsk(website: SelectedWebsite): boolean;
  /** What else can be done where the service does not answer. */
  remedy: string;
  effects: Effects;
  signal: AbortSignal;
  /** Told how many websites are asked about. */
  onAsk?: ((websites: number) => void) | undefined;
}

/**
 * Asks the service how many pages there are: a request for each website, and one for which those are.
 *
 * @throws Failure where it does not tell
 */
export async function askService(config: Config, { selected, mustAsk, remedy, effects, signal, onAsk }: Asking) {
  let requests = 0;
  // Once each: whoever waits for the answer can ask again.
  const once = { ...config, api: { ...config.api, max_attempts: 1 } };
  const onAnswer = () => {
    requests += 1;
  };
  const clients = new Clients(once, { effects, signal, onAnswer });
  const explained = <T>(what: string, answer: Promise<T>) =>
    answer.catch((cause: unknown) => {
      if (!(cause instanceof SourceError)) throw cause;
      const hint = cause.kind === 'not_found' ? '; check its id under websites' : '';
      throw new Failure(`cannot ask the service ${what}: ${cause.message}${hint}${remedy}`, { cause });
    });
  try {
    const all = selected ?? (await explained('which websites the key may read', readableWebsites(config, clients)));
    const asked = all.filter(mustAsk);
    onAsk?.(asked.length);
    const sizes = await Promise.all(
      asked.map(async (website) => {
        const { id, name } = website;
        const what = `how many pages ${name ? `${name} (${id})` : id} has`;
        return [id, await explained(what, listingSize(website, clients, config.api.page_size))] as const;
      }),
    );
    return { selected: all, sizes: new Map(sizes), requests };
  } finally {
    await clients.close();
  }
}

async function readableWebsites(config: Config, clients: Clients): Promise<SelectedWebsite[]> {
  return (await configuredWebsites(config, clients)).map((website) => ({ ...website, key: 'api.token' }));
}

async function listingSize({ id, token }: SelectedWebsite, clients: Clients, pageSize: number): Promise<ListingSize> {
  const purpose = { lane: id, counts: { sent: 0, throttled: 0, retried: 0 } };
  const ask = async (limit: number | null): Promise<Window> =>
    readWindow(await clients.clientOf(token).get(listingPath(id, 0, limit), purpose));
  const { entries, pagination } = await ask(pageSize).catch((error: unknown) => {
    if (error instanceof SourceError && LIMIT_REFUSED.has(error.status ?? 0)) return ask(null);
    throw error;
  });
  const isAll = pagination.end === true || pagination.next_page === null;
  return {
    pages: pagination.count ?? (isAll ? entries.length : null),
    window: isAll ? pageSize : Math.max(1, entries.length),
  };
}
