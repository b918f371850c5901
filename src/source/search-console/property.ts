import { propertyProblem, scopeOf } from '../../base/config/google.js';
import { editDistance } from '../../base/config/suggest.js';
import { count } from '../../base/observe/format.js';
import { safe } from '../../base/observe/terminal.js';
import { keyOf } from '../../base/url.js';
import type { Site } from './google-client.js';

/** With these, an account may inspect pages. */
const FULL_PERMISSIONS = ['siteOwner', 'siteFullUser'];
/** Properties that a message names. */
const MOST_NAMED = 5;

/** Whether a property is a website (others are apps), and the account may read what Search Console knows about it. */
export function isReadable({ siteUrl, permissionLevel }: Site): boolean {
  return /^(sc-domain|https?):/.test(siteUrl) && permissionLevel !== 'siteUnverifiedUser';
}

/** How many properties, in words. */
export function countedProperties(number: number): string {
  return `${count(number)} ${number === 1 ? 'property' : 'properties'}`;
}

/** Whether a scope (`scopeOf`) holds a page (`keyOf`), or another scope. */
export function covers(scope: string, other: string): boolean {
  if (!scope.startsWith('.')) return other.startsWith(scope);
  const host = /^https?:\/\/(?:[^/@]*@)?([^/:]*)/.exec(other)?.[1];
  return (host === undefined ? other : `.${host}`).endsWith(scope);
}

/** Orders scopes that hold the same page, the widest first: each domain is wider than any URL prefix. */
export function byWidth(one: string, other: string): number {
  return Number(other.startsWith('.')) - Number(one.startsWith('.')) || one.length - other.length;
}

/** Whether a page's address belongs to a property: all hosts below a domain (http and https), or what begins with the prefix. */
export function isOfProperty(property: string, url: string): boolean {
  const [scope, key] = [scopeOf(property), keyOf(url)];
  return scope !== null && key !== null && covers(scope, key);
}

/** The narrowest of these properties that a page belongs to. */
export function propertyOf(url: string, properties: readonly string[]): string | undefined {
  const scope = (property: string) => scopeOf(property) ?? '';
  const all = properties.filter((property) => isOfProperty(property, url));
  return all.sort((one, other) => byWidth(scope(other), scope(one)))[0];
}

/** The readable properties that no other one covers, each with those that it covers. */
export function widestOf(sites: readonly Site[]): Map<string, string[]> {
  const readable = sites.filter(isReadable).map(({ siteUrl }) => ({ siteUrl, scope: scopeOf(siteUrl) ?? siteUrl }));
  const widest = new Map<string, { siteUrl: string; covered: string[] }>();
  for (const { siteUrl, scope } of readable.sort((one, other) => byWidth(one.scope, other.scope))) {
    const wider = [...widest].find(([wide]) => covers(wide, scope))?.[1];
    if (wider) wider.covered.push(siteUrl);
    else widest.set(scope, { siteUrl, covered: [] });
  }
  return new Map([...widest.values()].map(({ siteUrl, covered }) => [siteUrl, covered]));
}

/** Where a domain may have a robots.txt, as its property names no host; none for a URL prefix, which does. */
export function guessedRobotsOf(property: string): string[] {
  const scope = scopeOf(property);
  return scope?.startsWith('.') ? ['', 'www.'].map((www) => `https://${www}${scope.slice(1)}/robots.txt`) : [];
}

/** Why an account, which sees these properties, may not read one, with the remedy; null if it may. */
export function whyRefused(property: string, sites: readonly Site[], account: string): string | null {
  // With `all` the id is Google's, and nothing has checked it before.
  const [problem] = propertyProblem(property)?.split('\n') ?? [];
  if (problem) return `${safe(property)} ${problem}; list the other properties under websites`;
  const scope = scopeOf(property);
  const named = sites.find(({ siteUrl }) => scopeOf(siteUrl) === scope);
  if (named && isReadable(named)) return null;
  const remedy = addTo(account);
  const others = sites.filter(isReadable).map(({ siteUrl }) => siteUrl);
  const [first, ...more] = others.sort((one, other) => distance(one, property) - distance(other, property));
  const listed = [first, ...more.slice(0, MOST_NAMED - 1), ...(more.length < MOST_NAMED ? [] : ['…'])].join(', ');
  const instead = first === undefined ? '' : `use one that it may read, the nearest first (${listed}), or `;
  const what = named ? `is not verified for ${property}` : `has no permission for ${property}`;
  return `${account} ${what}; ${instead}${remedy}`;
}

/** That an account may read no property, with the remedy. */
export function noneReadable(account: string): string {
  return `${account} has no access to a property of Search Console; ${addTo(account)}`;
}

/** That these properties refuse inspections to an account, with the permissions that it has, and the remedy. */
export function refusalOf(properties: readonly string[], sites: readonly Site[], account: string): string {
  const named = sites.filter(({ siteUrl }) => properties.includes(siteUrl));
  const levels = named.map(({ siteUrl, permissionLevel }) => `${siteUrl} (permission: ${permissionLevel})`).join(', ');
  const isFull = named.every(({ permissionLevel }) => FULL_PERMISSIONS.includes(permissionLevel));
  const remedy = isFull
    ? 'it has the permission that inspections need, so try again later; if the refusals continue, have an owner remove it and add it again'
    : 'have an owner give it the permission "Full" there under Settings → Users and permissions';
  return `Search Console refuses inspections of ${levels} to ${account}; ${remedy}`;
}

function addTo(account: string): string {
  return `have an owner add ${account} in Search Console under Settings → Users and permissions (if it refuses a service account, sign in as a user)`;
}

/** Whether one of these properties is this one, or covers it. */
export function isCovered(property: string, by: readonly string[]): boolean {
  const scope = scopeOf(property);
  return scope === null || by.some((one) => covers(scopeOf(one) ?? '-', scope));
}

/** How unlike the ids of two properties are, whatever their kinds. */
function distance(one: string, other: string): number {
  const bare = (id: string) => (scopeOf(id) ?? id).replace(/^(\.|https?:\/\/)(www\.)?|\/$/g, '');
  return editDistance(bare(one), bare(other));
}

/** Whether a file that lists pages may be read: a sitemap of `/blog/` may lie anywhere on the host of `/blog/`. */
export function isOnHostOf(property: string, url: string): boolean {
  const scope = scopeOf(property) ?? '';
  return scope.startsWith('.') ? covers(scope, url) : new URL(url).host === new URL(scope).host;
}
