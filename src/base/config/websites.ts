import { UsageError } from '../exit.js';
import { scopeOf } from './google.js';
import type { Config } from './schema.js';
import { editDistance } from './suggest.js';

/** An error lists at most this many websites. */
const MOST_LISTED = 20;

/** Address and token of the service, and the configuration keys that set them. */
export interface Access {
  baseUrl: string;
  token: string;
  /** Such as `api.base_url` and `websites[1].token`. */
  places: { baseUrl: string; token: string };
}

/** A website, with the access to the service that is configured for it. */
export interface Website extends Access {
  id: string;
  name: string | null;
  /** With `source: google`: what its entry says. `baseUrl` is then `google.endpoint`, and `token` is empty. */
  google: GoogleWebsite | null;
}

/** A property of Search Console, as it is configured. */
export type GoogleWebsite = ReturnType<typeof googleAccess>['google'];

type Configured = Pick<Config, 'api' | 'google' | 'websites'>;
type Entry = Exclude<Config['websites'], string | { all: true }>[number];

/** Where all websites come from; null if the configuration names them. */
export function allFrom({ websites }: Pick<Config, 'websites'>): 'api' | 'google' | null {
  if (websites === 'all') return 'api';
  return Array.isArray(websites) ? null : (websites.source ?? 'api');
}

/** Whether the configuration names all websites but this one. */
export function isExcepted({ websites }: Pick<Config, 'websites'>, id: string): boolean {
  if (websites === 'all' || Array.isArray(websites)) return false;
  return websites.except.some((one) => one === id || (scopeOf(one) ?? one) === (scopeOf(id) ?? id));
}

/** The websites that the configuration names; null if it says `all`, of either source. */
export function namedWebsites({ api, google, websites }: Configured): Website[] | null {
  if (!Array.isArray(websites)) return null;
  // Several websites may share a token: the key is named after the first.
  const placeOf = (value: string) =>
    value === api.token ? 'api.token' : `websites[${websites.findIndex(({ token }) => token === value)}].token`;
  return websites.map((entry) => {
    const { id, name, token = api.token } = entry;
    if (entry.source === 'google') return { id, name: name ?? null, ...googleAccess({ google, websites }, entry) };
    const places = { baseUrl: 'api.base_url', token: placeOf(token) };
    return { id, name: name ?? null, baseUrl: api.base_url, token, places, google: null };
  });
}

/** The accounts of Search Console that the websites use, by name; null for the one without. */
export function googleAccounts(config: Configured): (string | null)[] {
  const named = namedWebsites(config)?.flatMap(({ google }) => (google === null ? [] : google.account));
  const all = named ?? (allFrom(config) === 'google' ? [googleAccess(config).google.account] : []);
  return [...new Set(all)];
}

/** The quota of a property of Search Console, unless the configuration says otherwise. */
const INSPECTIONS_PER_DAY = 2000;

/** What a website with `source: google` has beside its name; without an entry of its own, the defaults: the quota of a property. */
export function googleAccess({ google, websites }: Pick<Config, 'google' | 'websites'>, entry: Partial<Entry> = {}) {
  const {
    inspections_per_day: inspectionsPerDay = INSPECTIONS_PER_DAY,
    properties = 'auto',
    sitemaps = 'auto',
    account = (typeof websites === 'object' && 'all' in websites ? websites.account : null) ?? null,
  } = entry;
  const places = { baseUrl: 'google.endpoint', token: 'google.credentials' };
  return { baseUrl: google.endpoint, token: '', places, google: { inspectionsPerDay, properties, sitemaps, account } };
}

/** How many inspections a day a property has: those of its own entry, else those of the website that uses it. */
export function perDayOf(config: Configured, property: string, { inspectionsPerDay }: GoogleWebsite): number {
  const entry = namedWebsites(config)?.find(({ id, google }) => google !== null && scopeOf(id) === scopeOf(property));
  return entry?.google?.inspectionsPerDay ?? inspectionsPerDay;
}

/** The access for websites without one of their own. */
export function apiAccess({ api }: Pick<Config, 'api'>): Access & { google: null } {
  const places = { baseUrl: 'api.base_url', token: 'api.token' };
  return { baseUrl: api.base_url, token: api.token, places, google: null };
}

/** The websites that a key may read, as the service names them. */
interface Readable {
  websites_access: readonly { _id: string; url: string }[];
}

/** The websites of the service that the configuration names; for `all` those that the key may read. */
export function websitesFor(config: Configured, key: Readable | null): Website[] {
  if (allFrom(config) === 'google') return [];
  const access = apiAccess(config);
  const readable = new Map(key?.websites_access.map(({ _id, url }) => [_id, url]));
  const named = namedWebsites(config)?.filter(({ google }) => google === null);
  const all = [...readable].filter(([id]) => !isExcepted(config, id));
  return named ?? all.map(([id, name]) => ({ id, name, ...access }));
}

/** A website by its id; one that is not configured gets the access of `api`, or of `google` where there is no other. */
export function websiteOf(config: Configured, id: string): Website {
  const named = namedWebsites(config)?.find((website) => website.id === id);
  const isGoogle = allFrom(config) === 'google' || config.api.base_url === '';
  return named ?? { id, name: null, ...(isGoogle ? googleAccess(config) : apiAccess(config)) };
}

/** Id and name of a website. */
export interface NamedWebsite {
  id: string;
  name: string | null;
}

/**
 * The ids of websites that a user gives by id or name. An id wins over an equal name.
 *
 * @param known the existing websites, once for each name that they ever had
 * @param place where they come from, such as `the warehouse`
 * @throws UsageError for an unknown website, with the most similar ones, and for a name that several websites have
 */
export function websiteIds(given: readonly string[], known: readonly NamedWebsite[], place: string): string[] {
  return [...new Set(given.map((text) => idOf(text, known, place)))];
}

function idOf(text: string, known: readonly NamedWebsite[], place: string): string {
  const scope = scopeOf(text);
  const same = known.find(({ id }) => id === text) ?? known.find(({ id }) => scope !== null && scopeOf(id) === scope);
  if (same) return same.id;
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

/** Whether a text is a typo or a part of the other: `example.com` of `https://www.example.com`. */
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

/** What must never be shown: tokens, and the secrets of channels. */
export function secretsOf(config: Configured & Pick<Config, 'notify'>): string[] {
  const { api, websites, notify } = config;
  const own = Array.isArray(websites) ? websites.map(({ token }) => token) : [];
  const channels = notify.channels.flatMap((channel) => {
    if (channel.type === 'email') return [channel.password];
    if (channel.type === 'command') return [];
    const { href, pathname, search } = new URL(channel.url);
    // A webhook's path is its secret. A short path is not masked, because other texts may contain it.
    const path = `${pathname}${search}`;
    return [
      channel.url,
      href,
      ...(path.length >= 20 ? [path] : []),
      ...(channel.type === 'webhook' ? [channel.secret] : []),
    ];
  });
  return [api.token, ...own, ...channels].flatMap((secret) => secret || []);
}
