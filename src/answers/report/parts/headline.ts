import {
  changeOf,
  count,
  dayOfMonth,
  type Figure,
  known,
  percent,
  points,
  shareOf,
  signed,
} from '../../../base/observe/format.js';
import { dated, number, type Tile, tiles } from '../../html/cells.js';
import { type Column, type Html, html, type Part, table } from '../../html/html.js';
import { FELL_OUT } from '../../query/period-note.js';
import { shareIndexed } from '../estimate.js';
import type { Headline, WebsiteFacts } from '../headline.js';
import type { Period } from '../period.js';
import type { Report } from '../report.js';
import type { BalanceRow } from '../rows.js';
import { cutNote, note, part, shownName } from './part.js';

const FIRST_TILES = 4;

/** The numbers that a reader looks for first, or the others, each with its earlier value. */
export function headlinePart(headline: Headline, { days }: Period, which: 'first' | 'others'): Html {
  const { pages, indexed, not_inspected: left, robots_blocked, robots_unblocked, compared_with } = headline;
  const since = (figure: Figure): Part => {
    const change = changeOf(figure);
    return change === null || compared_with === null ? null : `${signed(change)} since ${dayOfMonth(compared_with)}`;
  };
  const before = ({ before: then }: Figure): Part =>
    then === null ? null : `${count(then)} in the ${days === 1 ? 'day' : `${days} days`} before`;
  const flow = (name: string, figure: Figure) => [name, known(figure.now), before(figure)] as const;
  const share = shareOfAll(headline);
  const { share_estimated, share_low, share_high } = headline.estimate;
  const isEstimated = share_estimated !== null;
  // Not where more pages are known than before.
  const shareKnownBefore = left ? null : shareOf(indexed.before, pages.before);
  const shareBefore = isEstimated ? headline.share_before : shareKnownBefore;
  const all: Tile[] = [
    ['Pages monitored', known(pages.now), since(pages), left ? `${count(left)} not inspected yet` : null],
    [
      'Indexed',
      html`${known(indexed.now)} ${isEstimated ? null : html`<small>${percent(share)}</small>`}`,
      since(indexed),
      isEstimated ? `${share_low === share_high ? '' : 'about '}${percent(share)} of all pages` : null,
      share !== null && shareBefore !== null ? points(shareBefore, share) : null,
    ],
    flow('Entered the index', headline.entered),
    [
      ...flow('Fell out of the index', headline.fell_out),
      headline.returned.now ? `${count(headline.returned.now)} more came back` : null,
    ],
    flow('Appeared', headline.appeared),
    flow('Disappeared', headline.disappeared),
    flow('Canonical flips', headline.canonical_flips),
    [
      ...flow('Newly blocked by robots.txt', robots_blocked),
      robots_unblocked.now ? `${count(robots_unblocked.now)} unblocked` : null,
    ],
  ];
  return tiles(...(which === 'first' ? all.slice(0, FIRST_TILES) : all.slice(FIRST_TILES)));
}

function shareOfAll({ estimate, indexed, pages }: Headline): number | null {
  return shareIndexed({ ...estimate, indexed: indexed.now, pages: pages.now });
}

/** How the earlier number of indexed pages became the current one, as a sum; parts that are 0 are left out. */
export function balanceNote(rows: readonly BalanceRow[]): Part {
  if (rows.length === 0) return null;
  const sum = (key: keyof Omit<BalanceRow, 'website_id'>) => rows.reduce((total, row) => total + row[key], 0);
  const of = (...parts: [keyof Omit<BalanceRow, 'website_id'>, string][]) => {
    const known = parts.flatMap(([key, name]) => (sum(key) > 0 ? [`${count(sum(key))} ${name}`] : []));
    return known.length > 0 ? ` (${known.join(', ')})` : '';
  };
  const first = sum('first_inspected') > 0 ? ` + ${count(sum('first_inspected'))} inspected for the first time` : '';
  const entered = `${count(sum('entered'))} entered${of(['appeared', 'new or back in the listing'])}`;
  const fell = `${count(sum('fell_out'))} fell out${of(['deindexed', 'not indexed any more'], ['data_lost', 'without data'], ['gone', 'no longer listed'])}`;
  const retired =
    sum('retired') > 0 ? ` − ${count(sum('retired'))} retired (no source has named them for a long time)` : '';
  return note(
    `${count(sum('indexed_before'))} indexed before${first} + ${entered} − ${fell}${retired} = ${count(sum('indexed'))} indexed now. ${FELL_OUT}`,
  );
}

/** One line per website; those that lost most come first. @param most so many lines at most */
export function overviewPart({ websites, period }: Report, most = websites.length): Html {
  const loss = ({ headline }: WebsiteFacts) => changeOf(headline.indexed) ?? 0;
  const sorted = [...websites].sort((one, other) => loss(one) - loss(other));
  const columns: Column<WebsiteFacts>[] = [
    { head: 'Website', cell: shownName },
    number('Pages', ({ headline }) => headline.pages.now),
    number('Indexed', ({ headline }) => headline.indexed.now),
    number('Of its pages', ({ headline }) => shareOfAll(headline), percent),
    ...(websites.some(({ headline }) => headline.not_inspected)
      ? [number<WebsiteFacts>('Not inspected yet', ({ headline }) => headline.not_inspected)]
      : []),
    number('Change', ({ headline }) => changeOf(headline.indexed), signed),
    number('Entered', ({ headline }) => headline.entered.now),
    number('Fell out', ({ headline }) => headline.fell_out.now),
    number('Flips', ({ headline }) => headline.canonical_flips.now),
    number('Blocked', ({ headline }) => headline.robots_blocked.now),
    { head: 'Newest listing', cell: (facts) => newest(facts, period.since) },
  ];
  return part(
    'Websites',
    table(columns, sorted.slice(0, most)),
    cutNote('first', most, sorted.length),
    note(
      'Change: of the indexed pages since the listing before the period, or since the first one. ' +
        'Flips: pages whose canonical changed. Blocked: pages newly blocked by robots.txt.',
    ),
  );
}

function newest({ headline: { listed_on }, snapshots }: WebsiteFacts, since: string): Html {
  const partial = snapshots.at(-1)?.listing_status === 'partial' ? html`, then <b class="bad">partial</b>` : null;
  if (listed_on === null) return html`<b class="bad">none complete</b>`;
  const date = dated(listed_on);
  return html`${listed_on < since ? html`<b class="bad">${date}</b>` : date}${partial}`;
}
