import type { KeyDetails } from '../contract/key.js';
import { UsageError } from '../exit.js';
import type { Config } from './schema.js';
import { editDistance } from './suggest.js';

/** Of the websites that an error lists. */
const MOST_LISTED = 20;

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

/** A website, as far as it takes to name it. */
export interface NamedWebsite {
  id: string;
  name: string | null;
}

/**
 * The ids of websites that a user names by id or name. An id wins over a name that is the same.
 *
 * @param known the websites that there are, once for each name that they ever had
 * @param place where they are, such as `the warehouse`
 * @throws UsageError for one that is not there, with those that are most like it, and for a name of several websites
 */
export function websiteIds(given: readonly string[], known: readonly NamedWebsite[], place: string): string[] {
  return [...new Set(given.map((text) => websiteId(text, known, place)))];
}

function websiteId(text: string, known: readonly NamedWebsite[], place: string): string {
  if (known.some(({ id }) => id === text)) return text;
  const called = known.filter(({ name }) => name === text);
  const [id, second] = new Set(called.map((website) => website.id));
  if (id !== undefined && second === undefined) return id;
  if (id !== undefined) {
    throw new UsageError(`several websites in ${place} are called "${text}"; give the id:\n${listOf(called)}`);
  }
  const alike = known.filter(({ id, name }) => isAlike(text, id) || (name !== null && isAlike(text, name)));
  const shown = alike.length > 0 ? `Did you mean:\n${listOf(alike)}` : `It has:\n${listOf(known)}`;
  throw new UsageError(`no website "${text}" in ${place}. ${known.length === 0 ? 'It has none yet' : shown}`);
}

/** Mistyped, or only a part: `example.com` of `https://www.example.com`. */
function isAlike(text: string, full: string): boolean {
  const [given, other] = [text, full].map((each) => each.toLowerCase().replace(/^https?:\/\/(www\.)?|\/$/g, ''));
  if (!given || !other) return false;
  return (given.length > 2 && other.includes(given)) || editDistance(given, other) <= Math.max(1, given.length / 6);
}

/** One line for each website. */
function listOf(websites: readonly NamedWebsite[]): string {
  const lines = [...new Set(websites.map(({ id, name }) => `  ${id}  ${name ?? ''}`.trimEnd()))];
  const more = lines.length > MOST_LISTED ? [`  … and ${lines.length - MOST_LISTED} more`] : [];
  return [...lines.slice(0, MOST_LISTED), ...more].join('\n');
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
