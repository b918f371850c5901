import { Failure } from '../exit.js';
import { Clients, configuredWebsites } from '../run/clients.js';
import { readWindow, type Window } from '../source/coverage-window.js';
import type { Effects } from '../source/effects.js';
import { SourceError } from '../source/errors.js';
import { listingPath } from '../source/links.js';
import { LIMIT_REFUSED } from '../source/walk.js';
import type { ForecastInput } from './forecast.js';
import { type SelectedWebsite, withKey } from './website.js';

/** The size of a listing, according to its first window. */
export interface ListingSize {
  /** Null if the service does not count them. */
  pages: number | null;
  /** Entries of one answer. */
  window: number;
}

/**
 * Asks the service how many pages websites have, a request for each.
 *
 * @param named null: all that the key may read, which costs one more request
 * @param remedy what else to do if the service does not answer
 * @throws Failure if the service does not answer
 */
export async function askService(
  { config, signal, onAsk }: ForecastInput,
  { named, remedy, effects }: { named: SelectedWebsite[] | null; remedy: string; effects: Effects },
) {
  let requests = 0;
  const onAnswer = () => {
    requests += 1;
  };
  // No retries: a user waits for the answer, and can ask again.
  const once = { ...config, api: { ...config.api, max_attempts: 1 } };
  const clients = new Clients(once, { effects, signal, onAnswer });
  const explained = <T>(what: string, answer: Promise<T>) =>
    answer.catch((cause: unknown) => {
      if (!(cause instanceof SourceError)) throw cause;
      const hint = cause.kind === 'not_found' ? '; check its id under websites' : '';
      throw new Failure(`cannot ask the service ${what}: ${cause.message}${hint}${remedy}`, { cause });
    });
  const readable = async () =>
    (await explained('which websites the key may read', configuredWebsites(config, clients))).map(withKey);
  try {
    const websites = named ?? (await readable());
    onAsk?.(websites.length);
    const sizes = websites.map(async (website) => {
      const { id, name } = website;
      const what = `how many pages ${name ? `${name} (${id})` : id} has`;
      return [id, await explained(what, listingSize(website, clients, config.api.page_size))] as const;
    });
    return { websites, sizes: new Map(await Promise.all(sizes)), requests };
  } finally {
    await clients.close();
  }
}

async function listingSize(website: SelectedWebsite, clients: Clients, pageSize: number): Promise<ListingSize> {
  const { id, places } = website;
  const purpose = { lane: id, counts: { sent: 0, throttled: 0, retried: 0 } };
  const ask = async (limit: number | null): Promise<Window> =>
    readWindow(await clients.clientOf(website).get(listingPath(id, 0, limit), purpose), places.baseUrl);
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
