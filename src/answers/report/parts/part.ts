import { count, queryCommand } from '../../../base/observe/format.js';
import { type Column, type Html, html, type Part, shortened } from '../../html/html.js';
import type { WebsiteFacts } from '../headline.js';
import type { Moves } from '../section.js';

/** Links to the lists of a state's, directory's or sitemap's pages, null if there is none, and to some nights' changes. */
export interface PagesLinks {
  state(state: string): string | null;
  directory(directory: string): string | null;
  sitemap(sitemap: string): string | null;
  changes(directory: string, dates: { from: string; to: string }): string;
}

/** A part of a section, with its heading. */
export function part(title: string, ...content: Part[]): Html {
  return html`<section class="part"><h3>${title}</h3>
${content}
</section>
`;
}

/** Rows in one or two tables: those that are not to be shown at once are folded. */
export function folded<Row>(
  rows: readonly Row[],
  isShown: (row: Row, at: number) => boolean,
  tableOf: (rows: readonly Row[]) => Part,
): Part {
  const usual = rows.filter((row, at) => !isShown(row, at));
  const more = `${usual.length} more without a notable change`;
  return [tableOf(rows.filter(isShown)), usual.length > 0 ? details(more, tableOf(usual)) : null];
}

/** What is shown on request, and on paper. */
export function details(summary: string, ...content: Part[]): Html {
  return html`<details><summary>${summary}</summary>${content}</details>`;
}

export function note(...content: Part[]): Html {
  return html`<p class="note">${content}</p>`;
}

/** How many rows of a longer list are shown, and how to read them all; nothing if that is all. */
export function cutNote(which: 'first' | 'newest' | 'most frequent', shown: number, total: number, all?: Html): Part {
  if (shown >= total) return null;
  return note(`The ${which} ${count(shown)} of ${count(total)}.`, all && html` All of them: ${all}`);
}

/** An analysis as a command to type. */
export function command(name: string, parameters: Readonly<Record<string, string>>): Html {
  return html`<code>${queryCommand(name, parameters)}</code>`;
}

/** What a website is called; its id if it has no name. */
export function shownName({ website: { website_id, website_name } }: WebsiteFacts): string {
  return shortened(website_name || website_id);
}

export function nameOfWebsite({ websites }: Pick<Moves, 'websites'>, id: string): string {
  const facts = websites.find(({ website }) => website.website_id === id);
  return facts ? shownName(facts) : shortened(id);
}

/** The column that names the website of a row, in a section about several. */
export function websiteColumn(section: Pick<Moves, 'websites'>): Column<{ website_id: string }>[] {
  if (section.websites.length <= 1) return [];
  return [{ head: 'Website', cell: ({ website_id }) => nameOfWebsite(section, website_id) }];
}

/** The parameter that limits an analysis to the website of a section; none if it has several. */
export function websiteParameter({ websites: [first, second] }: Pick<Moves, 'websites'>): Record<string, string> {
  return first && !second ? { website: first.website.website_id } : {};
}
