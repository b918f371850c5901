import type { Config } from '../config/schema.js';
import { namedWebsites, websiteIds } from '../config/websites.js';
import { knownWebsites } from '../warehouse/open.js';
import { checkIdentity } from '../warehouse/prepare.js';
import type { ClientsOptions } from './clients.js';

/**
 * The ids of the websites that a user names for a run by id or name: among those of the configuration; where that says
 * `all`, among those of the warehouse, and only then among those that the service lists for the key.
 *
 * @param asking how to ask the service, which takes a request; null: not at all
 * @throws UsageError where one of them is unknown
 * @throws SourceError when the service does not say which there are
 */
export async function chosenWebsites(
  given: readonly string[],
  config: Config,
  asking: ClientsOptions | null,
): Promise<string[]> {
  const named = namedWebsites(config);
  if (named || given.length === 0) return websiteIds(given, named ?? [], 'the configuration');
  const { path, time_zone, memory_limit } = config.warehouse;
  const known = (await checkIdentity(path, time_zone)) ? await knownWebsites(path, memory_limit) : [];
  const isKnown = (text: string) => known.some(({ id, name }) => id === text || name === text);
  if (!asking || given.every(isKnown)) return websiteIds(given, known, 'the warehouse');
  // Loads the HTTP client, which only those need who ask.
  const { Clients, configuredWebsites } = await import('./clients.js');
  const clients = new Clients(config, asking);
  try {
    const listed = await configuredWebsites(config, clients);
    return websiteIds(given, [...listed, ...known], 'what the key has access to');
  } finally {
    await clients.close();
  }
}
