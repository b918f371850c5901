import type { FastifyRequest } from 'fastify';

/**
 * Whether a form was sent by one of the dashboard's own pages, as far as the browser tells: an origin that is named has
 * to be ours, whatever else is said.
 *
 * Browsers name the origin `null` where a page sends no referrer, as ours do. Then they tell by `Sec-Fetch-Site`, but
 * only over TLS or on loopback; elsewhere a cookie of ours has to have come along, which no other site's form brings. A
 * request that tells nothing at all comes from no browser.
 */
export function isOwnForm({ headers, host }: FastifyRequest, hasOwnCookie: boolean): boolean {
  const { origin } = headers;
  if (origin !== undefined && origin !== 'null' && !isOf(origin, host)) return false;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return origin !== 'null' || hasOwnCookie;
}

function isOf(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}
