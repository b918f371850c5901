import type { Drawing } from '../../html/charts/draw.js';
import { trendDrawings } from '../../html/charts/trend-chart.js';
import { percent } from '../../html/figures.js';
import { type Html, html, type Part } from '../../html/html.js';
import { count } from '../../observe/format.js';
import { shareOf } from '../../report/headline.js';
import { legend } from '../../report/parts/table.js';
import type { TrendRow } from '../../report/rows.js';
import type { Overview } from '../data/overview.js';
import { type Column, dataTable } from './table.js';

const NUMBERS_ID = 'trend-numbers';
/** Said of a date that is not in the table of numbers. */
const UNLISTED = 'no complete listing that night';

const COLUMNS: readonly Column<TrendRow>[] = [
  { id: 'date', head: 'Date', cell: ({ snapshot_date }) => html`<span class="date">${snapshot_date}</span>` },
  { id: 'pages', head: 'Pages', isNumber: true, cell: ({ pages }) => count(pages) },
  { id: 'indexed', head: 'Indexed', isNumber: true, cell: ({ indexed }) => count(indexed) },
  { id: 'not_indexed', head: 'Not indexed', isNumber: true, cell: ({ not_indexed }) => count(not_indexed) },
  { id: 'without_data', head: 'Without data', isNumber: true, cell: ({ without_data }) => count(without_data) },
  {
    id: 'share',
    head: 'Share indexed',
    isNumber: true,
    cell: ({ indexed, pages }) => percent(shareOf(indexed, pages)),
  },
];

/** The trend as a chart that its numbers can be read from, and as a table of them. */
export function trendPart(overview: Overview): Part {
  const { days, listings } = overview;
  if (listings.length === 0) return html`<p class="empty">There is nothing to draw yet.</p>`;
  const entries: (readonly [string, string])[] = [
    ['indexed', 'indexed'],
    ['not-indexed', 'not indexed'],
    ['no-data', 'without data: never inspected'],
  ];
  const hasPartial = days.some(({ partial }) => partial);
  const table = dataTable({
    id: NUMBERS_ID,
    caption: 'The same in numbers, the newest first',
    columns: COLUMNS,
    rows: listings.toReversed(),
    empty: '',
  });
  return html`${legend(...entries, ...(hasPartial ? [['partial', UNLISTED] as const] : []))}
${chart(overview)}
<details><summary>Numbers of the chart</summary>
${table}</details>`;
}

/** The chart with what a script needs to tell its values: the dates, where each stands, and which table has the numbers. */
function chart({ days, span }: Overview): Html {
  const { wide, narrow } = trendDrawings('trend', days, { ...span, since: days[0]?.date ?? span.since });
  const dates = days.map(({ date }) => date).join(' ');
  return html`<div class="readable" data-readable="${NUMBERS_ID}" data-dates="${dates}" data-unlisted="${UNLISTED}">
<div class="chart wide"${placesOf(wide)}>${wide.svg}</div><div class="chart narrow"${placesOf(narrow)}>${narrow.svg}</div>
</div>`;
}

function placesOf({ across, top, zero }: Drawing): Html {
  return html` data-across="${across.join(' ')}" data-top="${top}" data-zero="${zero}"`;
}
