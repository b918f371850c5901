import type { Html } from '../../answers/html/html.js';
import type { Reader } from '../../answers/query/reader.js';
import type { DataAge } from '../../answers/status/data-age.js';
import type { Status } from '../../answers/status/status.js';
import type { View } from '../../base/config/views.js';
import type { KeyDetails } from '../../source/contract/key.js';
import type { LiveReader, ServedWebsite } from '../store/live-reader.js';

/** What the dashboard reads a warehouse with. */
export type DashboardReader = Pick<LiveReader, 'ask' | 'dataAge' | 'markers' | 'websites'>;

/** What the dashboard needs for a page: the signed-in key, the request, and a way to read the warehouse. */
export interface DashboardContext {
  /** Path of the dashboard, without a trailing slash. */
  base: string;
  key: KeyDetails;
  /** The parsed query string, not yet checked. */
  query: unknown;
  /** Milliseconds since 1970: what ages are counted to. */
  now: number;
  age: DataAge | null;
  views: readonly View[];
  reader: DashboardReader;
  /** How the websites of the page are doing; null if that cannot be read, undefined if nobody knows. */
  status(): Promise<Status | null | undefined>;
  /** Asks a question of one state of the warehouse. */
  ask<T>(question: (reader: Reader) => Promise<T>): Promise<T>;
}

/** The context of a request for a page of a website. */
export interface WebsiteContext extends DashboardContext {
  website: ServedWebsite;
}

export interface Content {
  title: string;
  /** By default the title. */
  heading?: Html;
  content: Html;
}

/** The pages that each website has. */
export const ROUTES = ['overview', 'changes', 'pages', 'page', 'compare', 'runs'] as const;
export type Route = (typeof ROUTES)[number];
/** The forms that the list of pages has as a file. */
export const FILE_FORMATS = ['xlsx', 'csv', 'json', 'parquet'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

type Values = Readonly<Record<string, string | number | undefined>>;

/** The address of a website's page with these parameters; missing and empty ones are left out. */
export function linkTo(
  { base, website }: Pick<WebsiteContext, 'base' | 'website'>,
  route: Route | `pages.${FileFormat}`,
  values: Values = {},
): string {
  const path = `${base}/websites/${encodeURIComponent(website.id)}${route === 'overview' ? '' : `/${route}`}`;
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '');
  if (given.length === 0) return path;
  return `${path}?${given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`;
}
