import { propertyProblem } from '../../base/config/google.js';
import { safe } from '../../base/observe/terminal.js';
import type { Site } from './calls.js';

const DOMAIN = 'sc-domain:';
/** Longer ones are no pages: browsers and search engines end far below. */
const MAX_LENGTH = 8192;

/** Whether a property is a website (others are apps), and the account may read what Search Console knows about it. */
export function isReadable({ siteUrl, permissionLevel }: Site): boolean {
  return /^(sc-domain|https?):/.test(siteUrl) && permissionLevel !== 'siteUnverifiedUser';
}

/** Whether a page's address belongs to a property: all hosts below a domain (http and https), or what begins with the prefix. */
export function isOfProperty(property: string, url: string): boolean {
  const key = keyOf(url);
  if (key === null) return false;
  if (!property.startsWith(DOMAIN)) return key.startsWith(keyOf(property) ?? property);
  return `.${new URL(key).hostname}`.endsWith(`.${hostOf(property)}`);
}

/** The property whose quota a page's inspection uses: the longest of these prefixes that matches, else its own. */
export function propertyOf(url: string, [own = '', ...prefixes]: readonly string[]): string {
  const matching = prefixes.filter((prefix) => isOfProperty(prefix, url));
  return matching.sort((one, other) => other.length - one.length)[0] ?? own;
}

/** Where a domain may have a robots.txt, as its property names no host; none for a URL prefix, which does. */
export function guessedRobotsOf(property: string): string[] {
  if (!property.startsWith(DOMAIN)) return [];
  return ['', 'www.'].map((www) => `https://${www}${hostOf(property)}/robots.txt`);
}

/** Why an account, which sees these properties, may not read one; null if it may. */
export function whyRefused(property: string, sites: readonly Site[], account: string): string | null {
  // With `all` the id is Google's, and nothing has checked it before.
  const [problem] = propertyProblem(property)?.split('\n') ?? [];
  if (problem) return `${safe(property)} ${problem}: list the other properties under websites`;
  const named = sites.find(({ siteUrl }) => siteUrl === property);
  if (named && isReadable(named)) return null;
  const remedy = `have an owner add ${account} in Search Console under Settings → Users and permissions`;
  if (named) return `${account} is not verified for ${property}: verify the ownership, or ${remedy}`;
  return `${account} has no permission for ${property}: ${remedy} (if it refuses a service account, sign in as a user)`;
}

/** An http(s) address in the form of the WHATWG URL standard, without its fragment; null if the text is none. */
export function addressOf(text: string, base?: string): string | null {
  if (!URL.canParse(text, base)) return null;
  const url = new URL(text, base);
  url.hash = '';
  return /^https?:$/.test(url.protocol) && url.href.length <= MAX_LENGTH ? url.href : null;
}

/**
 * The identity of a page, whatever the spelling of its address: `addressOf` with escapes in capitals, and none of a letter, a
 * digit or one of `-._~`. `url_key` gives the same of it in SQL.
 */
export function keyOf(text: string): string | null {
  const address = addressOf(text);
  return address?.replace(/%([\da-f]{2})?/gi, (_, code) => (code ? plain(code) : '%25')) ?? null;
}

/** The character that has this code in an escape, if it needs none, else its escape. */
function plain(code: string): string {
  const character = String.fromCharCode(Number.parseInt(code, 16));
  return /[\w.~-]/.test(character) ? character : `%${code.toUpperCase()}`;
}

/** Whether a file that lists pages may be read: a sitemap of `/blog/` may lie anywhere on the host of `/blog/`. */
export function isOnHostOf(property: string, url: string): boolean {
  return property.startsWith(DOMAIN) ? isOfProperty(property, url) : new URL(url).host === new URL(property).host;
}

/** As the WHATWG URL standard writes it: lower case, Punycode. */
function hostOf(property: string): string {
  return new URL(property.replace(DOMAIN, 'https://')).hostname;
}
