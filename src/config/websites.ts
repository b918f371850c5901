import type { KeyDetails } from '../contract/key.js';
import type { Config } from './schema.js';

/** A website, and the token that it is asked with. */
export interface Website {
  id: string;
  name: string | null;
  token: string;
}

type Configured = Pick<Config, 'api' | 'websites'>;

/** The websites that the configuration names; null where it says `all`. */
export function namedWebsites({ api, websites }: Configured): Website[] | null {
  if (websites === 'all') return null;
  return websites.map(({ id, name, token }) => ({ id, name: name ?? null, token: token ?? api.token }));
}

/** Those that the configuration names; for `all` those that the key may read. */
export function websitesFor(config: Configured, key: KeyDetails | null): Website[] {
  const { token } = config.api;
  const readable = key?.websites_access ?? [];
  return namedWebsites(config) ?? readable.map(({ _id, url }) => ({ id: _id, name: url, token }));
}

/** A website by its id, also where the configuration does not name it. */
export function websiteOf(config: Configured, id: string): Website {
  const named = namedWebsites(config)?.find((website) => website.id === id);
  return named ?? { id, name: null, token: config.api.token };
}

/** Where the configuration names a token first, because the token itself is told nobody. */
export function tokenPlace(token: string, { api, websites }: Configured): string {
  const at = token === api.token || websites === 'all' ? -1 : websites.findIndex((website) => website.token === token);
  return at < 0 ? 'api.token' : `websites[${at}].token`;
}

/** The id of the configured website that has this id or name, or null. */
export function knownId(text: string, websites: Config['websites']): string | null {
  if (websites === 'all') return null;
  return (websites.find(({ id }) => id === text) ?? websites.find(({ name }) => name === text))?.id ?? null;
}

/** What must never be told: tokens, and what opens the channels. */
export function secretsOf({ api, websites, notify }: Configured & Pick<Config, 'notify'>): string[] {
  const own = websites === 'all' ? [] : websites.map(({ token }) => token);
  const channels = notify.channels.flatMap((channel) => {
    if (channel.type === 'email') return [channel.password];
    if (channel.type === 'command') return [];
    const { href, pathname, search } = new URL(channel.url);
    // Who knows what stands behind the host can write there; a short one is a word that other texts may hold, too.
    const path = `${pathname}${search}`;
    return [
      channel.url,
      href,
      ...(path.length >= 20 ? [path] : []),
      ...(channel.type === 'webhook' ? [channel.secret] : []),
    ];
  });
  return [api.token, ...own, ...channels].filter((secret) => secret !== undefined);
}
