import { changeOf, percent, shareOf, signed } from '../../html/figures.js';
import { type Html, html } from '../../html/html.js';
import { type Column, table } from '../../html/table.js';
import { count } from '../../observe/format.js';
import type { Headline } from '../headline.js';
import type { Report } from '../report.js';
import type { WebsiteFacts } from '../section.js';
import { nameOf, note, part } from './part.js';

/** One line a website, those that lost most first. */
export function overviewPart({ websites, period }: Report): Html {
  const loss = ({ headline }: WebsiteFacts) => changeOf(headline.indexed) ?? 0;
  const sorted = [...websites].sort((one, other) => loss(one) - loss(other));
  const columns: Column<WebsiteFacts>[] = [
    { head: 'website', cell: nameOf },
    number('pages', ({ pages }) => count(pages.now)),
    number('indexed', ({ indexed }) => count(indexed.now)),
    number('share', ({ indexed, pages }) => percent(shareOf(indexed.now, pages.now))),
    number('change', change),
    number('newly indexed', ({ newly_indexed }) => count(newly_indexed.now)),
    number('de-indexed', ({ deindexed }) => count(deindexed.now)),
    number('flips', ({ canonical_flips }) => count(canonical_flips.now)),
    number('blocked', ({ robots_blocked }) => count(robots_blocked.now)),
    { head: 'newest listing', cell: (facts) => newest(facts, period.since) },
  ];
  return part(
    'Websites',
    table(columns, sorted),
    note(
      'Change: of the indexed pages since the listing before the period, or since the first one. ' +
        'Flips: pages whose canonical changed. Blocked: pages newly blocked by robots.txt.',
    ),
  );
}

function number(head: string, figure: (headline: Headline) => string): Column<WebsiteFacts> {
  return { head, isNumber: true, cell: ({ headline }) => figure(headline) };
}

function change({ indexed }: Headline): string {
  const moved = changeOf(indexed);
  return moved === null ? '' : signed(moved);
}

function newest({ headline: { listed_on }, snapshots }: WebsiteFacts, since: string): Html {
  const partial = snapshots.at(-1)?.listing_status === 'partial' ? html`, then <b class="bad">partial</b>` : null;
  if (listed_on === null) return html`<b class="bad">none complete</b>`;
  const date = html`<span class="date">${listed_on}</span>`;
  return html`${listed_on < since ? html`<b class="bad">${date}</b>` : date}${partial}`;
}
