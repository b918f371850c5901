import type { Config } from '../base/config/schema.js';
import { namedWebsites, websiteIds } from '../base/config/websites.js';
import type { ClientsOptions } from '../source/clients.js';
import { checkIdentity } from '../warehouse/log/folder/prepare.js';
import { knownWebsites } from '../warehouse/log/log.js';

/**
 * Resolves the ids and names of websites that a user gave for a run. Looks in the configuration; where that says `all`,
 * in the warehouse, and only then in what the service lists for the key.
 *
 * @param asking how to ask the service, at the cost of a request; null: do not ask
 * @throws UsageError if one of them is unknown
 * @throws SourceError if the service does not list the key's websites
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
  // Loaded here, because only this case needs the HTTP client.
  const { Clients, configuredWebsites } = await import('../source/clients.js');
  const clients = new Clients(config, asking);
  try {
    const listed = await configuredWebsites(config, clients);
    return websiteIds(given, [...listed, ...known], 'what the key has access to');
  } finally {
    await clients.close();
  }
}
