import type { Config } from '../config/schema.js';
import type { Website } from '../run/context.js';

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
  const { websites, api } = config;
  if (websites === 'all') {
    const ids = asked.length > 0 ? asked : known;
    return ids.map((id) => ({ id, name: null, token: api.token, key: 'api.token' }));
  }
  const all = websites.map(({ id, name, token }) => ({ id, name: name ?? null, token: token ?? api.token }));
  const withKeys = all.map((website) => ({ ...website, key: keyOf(website.token, config) }));
  return withKeys.filter(({ id }) => asked.length === 0 || asked.includes(id));
}

/** Where a token stands first. */
function keyOf(token: string, { api, websites }: Config): string {
  if (token === api.token || websites === 'all') return 'api.token';
  return `websites[${websites.findIndex((website) => website.token === token)}].token`;
}
