import { moment } from '../html/figures.js';
import { type Html, html, type Part, shortened } from '../html/html.js';
import { DAY_MS } from '../time.js';
import { linkTo, type WebsiteContext } from './context.js';
import { MOST_URL_CHARACTERS } from './query.js';

const URL_CHARACTERS = 72;
const TEXT_CHARACTERS = 160;
const CHANGES: Readonly<Record<string, string>> = {
  deindexed: 'de-indexed',
  data_lost: 'data lost',
  coverage_state: 'coverage state',
  searchengine_canonical: 'canonical (search engine)',
  user_canonical: 'canonical (declared)',
  canonicals_match: 'canonicals match',
  robots_blocked: 'blocked by robots.txt',
  robots_unblocked: 'unblocked by robots.txt',
  fetch_status: 'page fetch',
  indexing_allowed: 'indexing allowed',
};

/** What is not known. */
export const UNKNOWN: Html = html`<span class="unknown">–</span>`;

export function orUnknown(value: Part): Part {
  return value === null || value === undefined || value === '' ? UNKNOWN : value;
}

/** What a kind of change is called. */
export function changeName(change: string): string {
  return CHANGES[change] ?? change;
}

/** A page's address, as a link to what the dashboard knows of it. */
export function pageTimelineLink(context: Pick<WebsiteContext, 'base' | 'website'>, url: string): Html {
  const shown = shortened(url, URL_CHARACTERS);
  if (url.length > MOST_URL_CHARACTERS) return html`<span class="url">${shown}</span>`;
  return html`<a class="url" href="${linkTo(context, 'page', { url })}">${shown}</a>`;
}

/** A text of the service, cut where it is too long for a table. */
export function text(value: string | null): Part {
  return value === null ? UNKNOWN : html`<span class="url">${shortened(value, TEXT_CHARACTERS)}</span>`;
}

/** A time of ISO 8601. */
export function time(value: string | null): Part {
  return value === null ? UNKNOWN : html`<time class="date" datetime="${value}">${moment(value)}</time>`;
}

/** How long ago a time was, in whole days: `today`, `1 day`, `12 days`. */
export function age(value: string | null, now: number): Part {
  if (value === null) return UNKNOWN;
  const days = Math.max(0, Math.floor((now - Date.parse(value)) / DAY_MS));
  const told = days === 0 ? 'today' : `${days} ${days === 1 ? 'day' : 'days'}`;
  return html`<time class="date" datetime="${value}">${told}</time>`;
}
