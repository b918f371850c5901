import type { Config } from '../config/schema.js';
import { namedWebsites, tokenPlace, type Website, websiteOf } from '../config/websites.js';

/** A website to plan for, and the API key that it is asked with: where its token stands in the configuration. */
export interface SelectedWebsite extends Website {
  key: string;
}

/**
 * The websites to plan for, as far as they can be told without a request: where the configuration says `all`, those
 * that are known.
 *
 * @param asked ids; all that are configured if empty. Where the configuration says `all`, any id may be asked for.
 * @param known ids of websites with a snapshot
 */
export function selectWebsites(config: Config, asked: readonly string[], known: readonly string[]): SelectedWebsite[] {
  const named = namedWebsites(config)?.map(({ id }) => id);
  const ids = named?.filter((id) => asked.length === 0 || asked.includes(id)) ?? (asked.length > 0 ? asked : known);
  const websites = ids.map((id) => websiteOf(config, id));
  return websites.map((website) => ({ ...website, key: tokenPlace(website.token, config) }));
}
