import { changeOf, percent, signed } from '../../html/figures.js';
import { type Html, html, type Part } from '../../html/html.js';
import { count } from '../../observe/format.js';
import { type Headline, shareOf } from '../headline.js';
import type { Report } from '../report.js';
import type { WebsiteFacts } from '../section.js';
import { note, part, table } from './table.js';
import { nameOf } from './website-name.js';

/** One line a website, those that lost most first. */
export function overviewPart({ websites, period }: Report): Html {
  const loss = ({ headline }: WebsiteFacts) => changeOf(headline.indexed) ?? 0;
  const sorted = [...websites].sort((one, other) => loss(one) - loss(other));
  const right = ['pages', 'indexed', 'share', 'change', 'newly indexed', 'de-indexed', 'flips', 'blocked'];
  return part(
    'Websites',
    table(
      [{ head: 'website' }, ...right.map((head) => ({ head, align: 'right' as const })), { head: 'newest listing' }],
      sorted.map((facts) => [nameOf(facts), ...cells(facts.headline), newest(facts, period.since)]),
    ),
    note(
      'Change: of the indexed pages since the listing before the period, or since the first one. ' +
        'Flips: pages whose canonical changed. Blocked: pages newly blocked by robots.txt.',
    ),
  );
}

function cells({ pages, indexed, newly_indexed, deindexed, canonical_flips, robots_blocked }: Headline): Part[] {
  const change = changeOf(indexed);
  return [
    count(pages.now),
    count(indexed.now),
    percent(shareOf(indexed.now, pages.now)),
    change === null ? '' : signed(change),
    ...[newly_indexed, deindexed, canonical_flips, robots_blocked].map(({ now }) => count(now)),
  ];
}

function newest({ headline: { listed_on }, snapshots }: WebsiteFacts, since: string): Html {
  const partial = snapshots.at(-1)?.listing_status === 'partial' ? html`, then <b class="bad">partial</b>` : null;
  if (listed_on === null) return html`<b class="bad">none complete</b>`;
  const date = html`<span class="date">${listed_on}</span>`;
  return html`${listed_on < since ? html`<b class="bad">${date}</b>` : date}${partial}`;
}
