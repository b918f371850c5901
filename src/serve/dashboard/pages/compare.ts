import { z } from 'zod';
import { number } from '../../../answers/html/cells.js';
import { html, type Part } from '../../../answers/html/html.js';
import { type Column, table } from '../../../answers/html/table.js';
import { askRows } from '../../../answers/query/ask-rows.js';
import type { Reader } from '../../../answers/query/reader.js';
import { datesQuery, filterText } from '../../../base/config/page-filters.js';
import { percent, signed } from '../../../base/observe/format.js';
import { addDays } from '../../../base/time.js';
import { type Content, linkTo, type WebsiteContext } from '../context.js';
import { shownName } from '../layout.js';
import { filterForm } from '../list.js';
import { readQuery, remembered } from '../query.js';
import { newestDates } from './changes.js';

const DAYS_APART = 7;

const compareQuery = z.object({ ...datesQuery, directory: filterText });
type CompareQuery = z.infer<typeof compareQuery>;

const figureRow = z.object({
  figure: z.string(),
  left_side: z.string().nullable(),
  right_side: z.string(),
  left_pages: z.int().nullable(),
  right_pages: z.int(),
  difference: z.int().nullable(),
  left_share: z.number().nullable(),
  right_share: z.number().nullable(),
});
type FigureRow = z.infer<typeof figureRow>;

const askFigures = remembered(readFigures);

/** Every figure of two dates side by side. */
export async function comparePage(context: WebsiteContext): Promise<Content> {
  const query = readQuery(compareQuery, context.query);
  const { from, to, rows } = await askFigures(context, query);
  const content = html`${filterForm(linkTo(context, 'compare'), {
    fields: [
      { name: 'from', label: 'From', type: 'date', value: from },
      { name: 'to', label: 'To', type: 'date', value: to },
      { name: 'directory', label: 'Directory', type: 'search', value: query.directory ?? '' },
    ],
    selects: [],
  })}
<div id="results">
${moved(context, rows)}
${table(figureColumns(rows), rows, { id: 'compare', caption: 'Each figure counts pages; shares are among all pages of that date', empty: 'There is no complete listing up to this date.' })}
</div>`;
  return { title: `Two dates of ${shownName(context.website)}`, content };
}

async function readFigures(reader: Reader, website: string, { from, to, directory }: CompareQuery) {
  const until = to ?? newestDates(reader.markers, website, 1)[0] ?? reader.today;
  const since = from ?? addDays(until, -DAYS_APART);
  const sides = { website, since, until, directory: directory ?? null, other: null, pages: false, limit: null };
  return { from: since, to: until, rows: await askRows(reader, 'answers/analyses/compare', figureRow, sides) };
}

/** Links to the pages that explain the difference. */
function moved(context: WebsiteContext, [first]: readonly FigureRow[]): Part {
  if (!first?.left_side) return null;
  const span = { from: addDays(first.left_side, 1), to: first.right_side };
  const link = (changed: string, name: string) =>
    html`<a href="${linkTo(context, 'pages', { ...span, changed })}">${name}</a>`;
  return html`<p class="actions">Pages in between that ${link('fell_out', 'fell out of the index')} ${link('entered', 'entered it')} ${link('coverage_state', 'changed their state')}</p>`;
}

function figureColumns([first]: readonly FigureRow[]): Column<FigureRow>[] {
  const [left, right] = [first?.left_side ?? 'Before', first?.right_side ?? 'After'];
  return [
    { head: 'Figure', cell: ({ figure }) => figure },
    number(left, ({ left_pages }) => left_pages),
    number(right, ({ right_pages }) => right_pages),
    number('Difference', ({ difference }) => difference, signed),
    number('Share before', ({ left_share }) => left_share, percent),
    number('Share after', ({ right_share }) => right_share, percent),
  ];
}
