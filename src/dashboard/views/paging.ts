import { count } from '../../observe/format.js';
import { counted } from '../../report/figures.js';
import { type Html, html, type Part } from '../../report/html.js';
import type { Paging } from '../query.js';

/** Links to the other windows of a list; nothing where there is only one. */
export function pagingPart({ page, per }: Paging, rows: number, linkOf: (page: number) => string): Part {
  const last = Math.ceil(rows / per);
  if (last <= 1) return null;
  const to = (target: number, label: string, key: string): Part =>
    target === page
      ? html`<li><span class="off">${label}</span></li>`
      : html`<li><a href="${linkOf(target)}" data-live="${key}">${label}</a></li>`;
  return html`<nav class="paging" aria-label="Pages of the list"><ul>
${to(1, 'First', 'first')}
${to(Math.max(1, page - 1), 'Previous', 'previous')}
<li>Page ${count(page)} of ${count(last)}</li>
${to(Math.min(last, page + 1), 'Next', 'next')}
${to(last, 'Last', 'last')}
</ul></nav>`;
}

/** Which rows of how many are shown: `51 to 100 of 1,234 pages`. */
export function shownOf({ page, per }: Paging, rows: number, one: string): Html {
  if (rows === 0) return html`<p class="shown" id="shown">No ${one}s</p>`;
  const first = (page - 1) * per + 1;
  const last = Math.min(page * per, rows);
  const window = rows <= per ? '' : `${count(first)} to ${count(last)} of `;
  return html`<p class="shown" id="shown">${window}${counted(rows, one)}</p>`;
}
