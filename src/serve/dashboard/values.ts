import { UNKNOWN } from '../../answers/html/cells.js';
import { type Html, html, type Part, shortened } from '../../answers/html/html.js';
import { comparedPeriod } from '../../answers/query/period-note.js';
import type { Reader } from '../../answers/query/reader.js';
import { MOST_URL_CHARACTERS } from '../../base/config/page-filters.js';
import { counted } from '../../base/observe/format.js';
import { addDays, DAY_MS } from '../../base/time.js';
import type { ServedWebsite } from '../store/live-reader.js';
import { linkTo, type WebsiteContext } from './layout.js';

const URL_CHARACTERS = 72;
const ORIGIN = /^https?:\/\/[^/?#]+(?=\/)/i;
const CHANGES: Readonly<Record<string, string>> = {
  any: 'in some way',
  fell_out: 'fell out of the index',
  entered: 'entered the index',
  returned: 'fell out and came back',
  coverage_state: 'coverage state',
  first_data: 'first inspection',
  retired: 'retired (not named)',
  searchengine_canonical: 'canonical',
  user_canonical: 'declared canonical',
  canonicals_match: 'canonicals match',
  robots_blocked: 'blocked by robots.txt',
  robots_unblocked: 'unblocked by robots.txt',
  fetch_status: 'page fetch',
  indexing_allowed: 'indexing allowed',
};

/** The moves of `index_moves` among the kinds of changes. */
const MOVES: ReadonlySet<string | undefined> = new Set(['fell_out', 'entered', 'returned']);

/**
 * What a list of pages that fell out, entered or did both compares; null for one of other changes.
 *
 * @param asked by default the last seven dates of the website
 */
export async function movesNote(
  reader: Reader,
  website: string,
  asked: { kind?: string | undefined; from?: string | undefined; to?: string | undefined },
): Promise<string | null> {
  const newest = reader.markersOf(website).at(-1)?.date ?? reader.today;
  const { kind, to: until = newest, from: since = addDays(until, -6) } = asked;
  return MOVES.has(kind) ? comparedPeriod(reader, { since, until, website }, true) : null;
}

export function changeName(change: string): string {
  return CHANGES[change] ?? change;
}

/** The scheme and host that all addresses of a list have; null if they differ. */
export function sharedOrigin(rows: readonly { url: string }[]): string | null {
  const [first, ...others] = new Set(rows.map(({ url }) => ORIGIN.exec(url)?.[0]));
  return others.length > 0 ? null : (first ?? null);
}

/**
 * A page's address, as a link to what the dashboard knows about it.
 *
 * @param origin of the whole list: it is read aloud and copied, but not shown in each row
 */
export function pageTimelineLink(
  context: Pick<WebsiteContext, 'base' | 'website'>,
  url: string,
  origin: string | null = null,
): Html {
  const isWithin = origin !== null && url.startsWith(`${origin}/`);
  const path = shortened(isWithin ? url.slice(origin.length) : url, URL_CHARACTERS);
  const shown = isWithin ? html`<span class="unseen">${origin}</span>${path}` : path;
  if (url.length > MOST_URL_CHARACTERS) return html`<span class="url">${shown}</span>`;
  return html`<a class="url" href="${linkTo(context, 'page', { url })}">${shown}</a>`;
}

/** Links to the same page for other numbers of days or nights. */
export function periodLinks(
  spans: readonly string[],
  { one, chosen, linkOf }: { one: string; chosen: number | null; linkOf(span: string): string },
): Html {
  const items = spans.map((span) => {
    const here = Number(span) === chosen ? html` aria-current="true"` : null;
    return html`<li><a href="${linkOf(span)}"${here}>${counted(Number(span), one)}</a></li>\n`;
  });
  return html`<nav aria-label="Period"><ul class="periods">
${items}</ul></nav>`;
}

/** How long before the newest snapshot of the website a time was, in whole days, like `days_between`. */
export function age(value: string | null, { snapshotAt }: ServedWebsite): Part {
  if (value === null || snapshotAt === undefined) return UNKNOWN;
  const days = Math.max(0, Math.floor((Date.parse(snapshotAt) - Date.parse(value)) / DAY_MS));
  return html`<time class="date" datetime="${value}">${days === 0 ? 'less than a day' : counted(days, 'day')}</time>`;
}
