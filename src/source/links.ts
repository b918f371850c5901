import { urlOf } from '../base/url.js';
import { API_PLACES, SourceError } from './errors.js';

/** Longer than any request line that a server accepts. */
const MAX_LINK_CHARACTERS = 8192;

/** Path and query of one window of a website's listing, below the base address. */
export function listingPath(websiteId: string, skip: number, limit: number | null): string {
  const window = limit === null ? `skip=${skip}` : `skip=${skip}&limit=${limit}`;
  return `/v1/urls/${encodeURIComponent(websiteId)}?${window}`;
}

/** Path and query of one page's report, below the base address. The page's URL arrives byte for byte. */
export function reportPath(url: string): string {
  return `/v1/url-report?url=${encodeURIComponent(url)}`;
}

/**
 * Checks a `next_page` link: it must be a path on the same base address, because the token is sent with it.
 *
 * Links are relative to the *base address*, prefix included, so `/v1/…` never means the root of the host. An absolute
 * or protocol-relative link, a backslash, a user-info trick and a climb with `..` are refused.
 *
 * @param place the configuration key of the base address
 * @returns the link as a path below the base address
 * @throws SourceError `refused_link`
 */
export function followable(link: string, baseUrl: string, place: string = API_PLACES.baseUrl): string {
  const base = baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`;
  const relative = link.startsWith('/') ? link.slice(1) : link;
  const resolved = urlOf(relative, base);
  if (resolved) resolved.hash = '';
  const below = resolved?.href.startsWith(new URL(base).href);
  if (!resolved || !below || link.length > MAX_LINK_CHARACTERS || /^[/\\]|[\\\s]|^[a-z][a-z0-9+.-]*:/i.test(relative)) {
    throw new SourceError(
      'refused_link',
      `the service's next_page points outside ${place}: ${JSON.stringify(link.slice(0, 200))}; ` +
        `nothing was sent there. Check ${place}, and report it to the operator of the service`,
    );
  }
  return `/${resolved.href.slice(new URL(base).href.length)}`;
}

/** The `skip` that a link asks for, or null if it has none. */
export function skipOf(link: string): number | null {
  const value = /[?&]skip=(\d+)(?:&|$)/.exec(link)?.[1];
  return value === undefined ? null : Number(value);
}
