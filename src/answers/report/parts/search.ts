import { count, counted, plainDates } from '../../../base/observe/format.js';
import { number } from '../../html/cells.js';
import { stackChart } from '../../html/charts/stack-chart.js';
import { type Column, html, type Part, table } from '../../html/html.js';
import type { LostRow } from '../search.js';
import type { Moves } from '../section.js';
import { note } from './part.js';

const HEIGHT = 180;
const TITLE = 'Pages that search shows';
const COLUMNS: readonly Column<LostRow>[] = [
  { head: 'Directory', cell: ({ directory }) => directory },
  number('Pages no longer shown', ({ pages }) => pages),
  { head: 'Last shown', cell: ({ first_shown_last, last_shown }) => plainDates(first_shown_last, last_shown) },
  number('Clicks in 28 days before', ({ clicks }) => clicks),
];

/** What search shows of a property over its whole history, and what it shows no more; nothing of several websites. */
export function searchPart(id: string, { search }: Pick<Moves, 'search'>): Part {
  if (search === null) return null;
  const { weeks, lost, evidence, unread } = search;
  const isCut = weeks.some(({ is_cut }) => is_cut);
  const layer = {
    name: 'shown in web search on a day',
    colour: 'indexed' as const,
    pages: weeks.map(({ pages }) => pages),
  };
  return html`<h2>${TITLE}</h2>
${stackChart(
  { id: `${id}-search`, title: TITLE, height: HEIGHT, unknown: 'not known' },
  weeks.map(({ starts_on }) => starts_on),
  [layer],
  [],
)}
${note(`The average day of each week. A page that search shows is in the index that day.${isCut ? ' On some days Google left out pages, because it lists 50,000 at most.' : ''}${unread ? ` ${unread}.` : ''}`)}
${evidence === null ? null : html`<p>${evidenceText(evidence)}</p>`}
${lost.length > 0 ? table(COLUMNS, lost, { id: `${id}-lost`, caption: 'Directories with pages that search showed regularly and shows no more', empty: '' }) : null}`;
}

/** Such as `12,400 pages inspected and indexed, 900 inspected and not indexed, 3,100 not inspected but shown in search this week, 2,700 unknown.` */
function evidenceText({ indexed, not_indexed, seen, unknown }: NonNullable<NonNullable<Moves['search']>['evidence']>) {
  const parts: [number, string][] = [
    [indexed, 'inspected and indexed'],
    [not_indexed, 'inspected and not indexed'],
    [seen, 'not inspected lately, but shown in search this week'],
    [unknown, 'unknown'],
  ];
  const [first, ...others] = parts.filter(([pages]) => pages > 0);
  if (!first) return 'There are no pages.';
  const texts = [
    `${counted(first[0], 'page')} ${first[1]}`,
    ...others.map(([pages, text]) => `${count(pages)} ${text}`),
  ];
  return `${texts.join(', ')}.`;
}
