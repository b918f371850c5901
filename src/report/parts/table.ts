import { type Html, html, type Part } from '../../html/html.js';

const ROWS_UNFOLDED = 15;
/** Fewer than these are not worth a click. */
const LEAST_FOLDED = 5;

export interface Column {
  head: Part;
  /** Numbers stand right. */
  align?: 'left' | 'right';
}

/** A table that scrolls by itself where it is wider than the screen. Rows hold one value a column. */
export function table(columns: readonly Column[], rows: readonly (readonly Part[])[]): Html {
  const head = columns.map(({ head }, at) => html`<th scope="col"${alignment(columns, at)}>${head}</th>`);
  return html`<div class="scroll"><table><thead><tr>${head}</tr></thead>${bodyOf(columns, rows)}</table></div>`;
}

/** The same of many rows, of which all but the first are unfolded by a click; on paper they all stand there. */
export function foldedTable(columns: readonly Column[], rows: readonly (readonly Part[])[]): Html {
  if (rows.length <= ROWS_UNFOLDED + LEAST_FOLDED) return table(columns, rows);
  const folded = rows.slice(ROWS_UNFOLDED);
  return html`${table(columns, rows.slice(0, ROWS_UNFOLDED))}<details><summary>${folded.length} more</summary>
${table(columns, folded)}</details>`;
}

function bodyOf(columns: readonly Column[], rows: readonly (readonly Part[])[]): Html {
  const cells = (row: readonly Part[]) => row.map((cell, at) => html`<td${alignment(columns, at)}>${cell}</td>`);
  return html`<tbody>
${rows.map((row) => html`<tr>${cells(row)}</tr>\n`)}</tbody>`;
}

function alignment(columns: readonly Column[], at: number): Part {
  return columns[at]?.align === 'right' ? html` class="number"` : null;
}

/** A part of a section, with its heading. */
export function part(title: string, ...content: Part[]): Html {
  return html`<section class="part"><h3>${title}</h3>
${content}
</section>
`;
}

export function note(...content: Part[]): Html {
  return html`<p class="note">${content}</p>`;
}

/** What the colours of a chart mean, by the names of their classes. */
export function legend(...entries: readonly (readonly [swatch: string, meaning: string])[]): Html {
  const items = entries.map(([swatch, meaning]) => html`<li><span class="swatch ${swatch}"></span>${meaning}</li>`);
  return html`<ul class="legend">${items}</ul>`;
}

/** A command to type, harmless for the shell whatever a website is called. */
export function command(name: string, given: Readonly<Record<string, string>>): Html {
  const parameters = Object.entries(given).map(([key, value]) => ` --param ${quoted(`${key}=${value}`)}`);
  return html`<code>${`indexhouse query ${name}${parameters.join('')}`}</code>`;
}

function quoted(text: string): string {
  return /^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
