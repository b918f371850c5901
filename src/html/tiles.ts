import { type Html, html, type Part } from './html.js';

/** A figure in large print: what it is called, its value, and small lines below it. */
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
