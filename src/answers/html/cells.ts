import { count, moment } from '../../base/observe/format.js';
import { type Column, type Html, html, type Part, shortened } from './html.js';

const TEXT_CHARACTERS = 160;

/** An unknown value. */
export const UNKNOWN: Html = html`<span class="unknown">–</span>`;

export function orUnknown(value: Part): Part {
  return value === null || value === undefined || value === '' ? UNKNOWN : value;
}

/** A text of the service, cut if it is too long for a table. */
export function text(value: string | null): Part {
  return value === null ? UNKNOWN : html`<span class="url">${shortened(value, TEXT_CHARACTERS)}</span>`;
}

/** A date, or a word in place of one, that stays on one line. */
export function dated(date: string): Html {
  return html`<span class="date">${date}</span>`;
}

/** A time of ISO 8601. */
export function time(value: string | null): Part {
  return value === null ? UNKNOWN : html`<time class="date" datetime="${value}">${moment(value)}</time>`;
}

/** A status, in red if it is a bad one. */
export function status(name: string | null, isBad: boolean): Part {
  return isBad ? html`<b class="bad">${name}</b>` : orUnknown(name);
}

/** A loss or a gain as a sign that differs in shape and colour. */
export function arrow(isLoss: boolean): Html {
  return isLoss ? html`<b class="bad" aria-hidden="true">▼</b>` : html`<b class="good" aria-hidden="true">▲</b>`;
}

/** A column of numbers, or of what `form` makes of them. */
export function number<Row>(
  head: string,
  value: (row: Row) => number | null,
  form: (value: number) => string = count,
): Column<Row> {
  const shown = (figure: number | null) => (figure === null ? UNKNOWN : form(figure));
  return { head, isNumber: true, cell: (row) => shown(value(row)) };
}

/** A figure in large print: its name, its value, and small lines below it. */
export type Tile = readonly [name: Part, value: Part, ...below: Part[]];

/** Figures side by side; lines that are null are left out. */
export function tiles(...all: readonly Tile[]): Html {
  const shown = all.map(([name, value, ...below]) => {
    const lines = below.filter((line) => line !== null).map((line, at) => html`${at > 0 ? html`<br>` : null}${line}`);
    return html`<div><dt>${name}</dt><dd><b>${value}</b><span>${lines}</span></dd></div>\n`;
  });
  return html`<dl class="tiles">
${shown}</dl>
`;
}
