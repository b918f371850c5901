import { z } from 'zod';
import { type Html, html, type Part, shortened } from '../../answers/html/html.js';
import type { Reader } from '../../answers/query/reader.js';
import { CRAWL_SPANS, type PageFilters } from '../../base/config/page-filters.js';
import { count } from '../../base/observe/format.js';
import type { Parameters } from '../../base/storage/engine.js';
import { sql } from '../../base/storage/sql.js';

/** Enough for every coverage state of a website. */
const VALUES_LISTED = 20;
/** The value for unknown values, and for pages in no sitemap. */
const UNKNOWN_VALUE = '-';

const facetRow = z.object({ facet: z.string(), value: z.string().nullable(), pages: z.int() });
type FacetRow = z.infer<typeof facetRow>;

type Chosen = Readonly<Record<string, string | undefined>>;

/** What a list of pages can be narrowed down by: its parameter in the address, and its heading. */
interface Facet {
  name: keyof PageFilters;
  heading: string;
  /** What values are called, where that is not the value itself. */
  labels?: Chosen;
}

const CANONICALS = { match: 'as declared', differ: 'differs', undeclared: 'none declared', [UNKNOWN_VALUE]: 'unknown' };

const FACETS: readonly Facet[] = [
  { name: 'indexed', heading: 'Indexed' },
  { name: 'state', heading: 'State', labels: { [UNKNOWN_VALUE]: 'unknown' } },
  { name: 'directory', heading: 'Directory' },
  { name: 'sitemap', heading: 'Sitemap', labels: { any: 'in any', [UNKNOWN_VALUE]: 'in none' } },
  { name: 'canonical', heading: 'Canonical', labels: CANONICALS },
  { name: 'crawl', heading: 'Last crawl' },
  { name: 'fetch', heading: 'Fetch', labels: { failed: 'failed in some way', [UNKNOWN_VALUE]: 'unknown' } },
];

/** The filters that narrow a list of pages down, by their parameters in the address. */
export function narrowedDown(filters: PageFilters): Chosen {
  return Object.fromEntries(FACETS.map(({ name }) => [name, filters[name]]));
}

/** Before the name of a column of the user's own. */
export const OWN = 'own.';

/** How many of the currently selected pages have which value. @param selection as `selectionOf` makes it */
export async function readFacets(reader: Reader, website: string, { filters = null }: Parameters): Promise<FacetRow[]> {
  const asked = { filters, values: VALUES_LISTED, own_columns: [...reader.own.columns] };
  return reader.rows(facetRow, sql('serve/dashboard/facets'), asked, website);
}

/** Links that narrow a list of pages down, each with the number of pages left, and links that undo this. */
export function facetLinks(
  rows: readonly FacetRow[],
  { chosen, own, noData }: { chosen: Chosen; own: readonly string[]; noData: string },
  linkOf: (facet: string, value: string | undefined) => string,
): Html {
  const ofOwn = own.map((name) => ({ name: OWN + name, heading: name, labels: { [UNKNOWN_VALUE]: 'none' } }));
  const parts = [...FACETS, ...ofOwn].map(({ name, heading, ...facet }): Part => {
    const labels: Chosen =
      name === 'indexed' ? { [UNKNOWN_VALUE]: noData, gone: 'no longer listed' } : (facet.labels ?? {});
    const active = chosen[name];
    const undo = html` <span aria-hidden="true">✕</span><span class="unseen"> (take back)</span>`;
    const link = (value: string, to: string | undefined, mark: Html | null) =>
      html`<a href="${linkOf(name, to)}">${shortened(labels[value] ?? value)}${mark}</a>`;
    const items = inOrder(name, rows).map(({ value, pages }) => {
      const known = value ?? UNKNOWN_VALUE;
      return html`<li>${link(known, known, null)} <span>${count(pages)}</span></li>\n`;
    });
    const shown = active === undefined ? items : html`<li>${link(active, undefined, undo)}</li>`;
    return active === undefined && items.length === 0 ? null : html`<div><h2>${heading}</h2><ul>${shown}</ul></div>\n`;
  });
  return html`<details class="facets"><summary>Narrow down</summary><nav aria-label="Narrow down">
${parts}</nav></details>`;
}

/** Ages are sorted by age, everything else by the number of pages, as it was read. */
function inOrder(name: string, rows: readonly FacetRow[]): FacetRow[] {
  const own = rows.filter(({ facet }) => facet === name);
  const spans: readonly string[] = CRAWL_SPANS;
  const place = ({ value }: FacetRow) => spans.indexOf(value ?? '');
  return name === 'crawl' ? own.sort((one, other) => place(one) - place(other)) : own;
}
