import type { FastifyRequest } from 'fastify';

/** A cookie of the dashboard: no script reads it, and no other site's page sends it along. */
export interface Cookie {
  name: string;
  value: string;
  /** Where the dashboard is. */
  path: string;
  maxAgeSeconds: number;
  /** Never sent without encryption. */
  secure: boolean;
}

export function setCookie({ name, value, path, maxAgeSeconds, secure }: Cookie): string {
  const attributes = [`Path=${path}`, `Max-Age=${maxAgeSeconds}`, 'HttpOnly', 'SameSite=Strict'];
  return [`${name}=${value}`, ...attributes, ...(secure ? ['Secure'] : [])].join('; ');
}

/** The value of a cookie that a request brought, as it was set; null without it. */
export function cookieOf({ headers }: FastifyRequest, name: string): string | null {
  for (const pair of (headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return null;
}
