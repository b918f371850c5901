import { percent } from '../../html/figures.js';
import { type Html, html, pageLink, shortened } from '../../html/html.js';
import { count } from '../../observe/format.js';
import type { CommonRow } from '../rows.js';
import type { Section } from '../section.js';
import { note, table } from './table.js';
import { nameOfWebsite } from './website-name.js';

const VALUE_CHARACTERS = 72;
const TINY_LIFT = 10;

const DIMENSIONS: Record<string, string> = {
  coverage_state: 'state they went to',
  fetch_status: 'page fetch',
  target: 'canonical',
  target_host: 'host of the canonical',
  target_directory: 'directory of the canonical',
};

/** What stands out among changed pages against all pages; `which` are those, such as `de-indexed`. */
export function commonTable(section: Section, rows: readonly CommonRow[], which: string): Html {
  const title = html`<h4>What they have in common</h4>`;
  if (rows.length === 0) return html`${title}${note('Nothing stands out against all pages.')}`;
  const several = section.websites.length > 1;
  return html`${title}${table(
    [
      ...(several ? [{ head: 'website' }] : []),
      { head: 'feature' },
      { head: 'value' },
      { head: which, align: 'right' as const },
      { head: 'of them', align: 'right' as const },
      { head: 'of all pages', align: 'right' as const },
      { head: 'lift', align: 'right' as const },
    ],
    rows.map((row) => [
      ...(several ? [nameOfWebsite(section, row.website_id)] : []),
      DIMENSIONS[row.dimension] ?? row.dimension.replaceAll('_', ' '),
      row.dimension === 'sitemap' ? pageLink(row.value, VALUE_CHARACTERS) : shortened(row.value, VALUE_CHARACTERS),
      count(row.changed),
      percent(row.share),
      percent(row.overall_share),
      `${row.lift >= TINY_LIFT ? Math.round(row.lift) : row.lift.toFixed(1)}×`,
    ]),
  )}${note('Lift: how many times as often as among all pages. First comes what explains most pages beyond an even spread.')}`;
}
