import type { Reader } from '../analysis/reader.js';
import type { KeyDetails } from '../contract/key.js';

/** Someone who looks at a page of the dashboard. */
export interface Visit {
  /** Path of the dashboard, without a slash at its end. */
  base: string;
  key: KeyDetails;
  /** The parsed query string, not yet checked. */
  query: unknown;
  /** Milliseconds since 1970: what ages are counted to. */
  now: number;
  /** Asks something of one state of the warehouse. */
  ask<T>(question: (reader: Reader) => Promise<T>): Promise<T>;
}

/** A website that the visitor's key may read. */
export interface Website {
  id: string;
  name: string;
}

/** What a visit to a page of a website is about. */
export interface WebsiteVisit extends Visit {
  website: Website;
}

/** The pages that each website has. */
export const ROOMS = ['overview', 'changes', 'pages', 'page', 'runs'] as const;
export type Room = (typeof ROOMS)[number];

type Values = Readonly<Record<string, string | number | undefined>>;

/** The address of a website's page with these parameters; what is not given or empty is left out. */
export function linkTo(
  { base, website }: Pick<WebsiteVisit, 'base' | 'website'>,
  room: Room,
  values: Values = {},
): string {
  const path = `${base}/websites/${encodeURIComponent(website.id)}${room === 'overview' ? '' : `/${room}`}`;
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '');
  if (given.length === 0) return path;
  return `${path}?${given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`;
}
