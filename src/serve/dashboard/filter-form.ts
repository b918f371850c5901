import { Html, html, type Part } from '../../answers/html/html.js';

/** A choice of a filter: its value in the address, and its label. */
export type Choice = readonly [value: string, label: string];

export interface Select {
  name: string;
  label: string;
  choices: readonly Choice[];
  /** The current choice; the first one if it is none of them. */
  chosen: string;
}

export interface Field {
  name: string;
  label: string;
  type: 'date' | 'search';
  value: string;
}

interface FilterFields {
  /** A part of a page's address; left out where there is no such filter. */
  q?: string;
  fields?: readonly Field[];
  selects: readonly Select[];
  boxes?: Part;
  kept?: Readonly<Record<string, string | undefined>>;
}

/**
 * A form whose fields become the query string of the same page: it works without scripts, and can be bookmarked and
 * shared. Autocomplete is off: after a step back the browser would restore the last input instead of what the list shows.
 *
 * @param kept other parameters of the address
 */
export function filterForm(action: string, { q, fields = [], selects, boxes, kept = {} }: FilterFields): Html {
  const hidden = Object.entries(kept).flatMap(([name, value]) =>
    value === undefined ? [] : [html`<input type="hidden" name="${name}" value="${value}">`],
  );
  return html`<form method="get" action="${action}" class="filter" role="search" autocomplete="off">
${hidden}
${q === undefined ? null : fieldOf({ name: 'q', label: 'Address contains', type: 'search', value: q })}${fields.map(fieldOf)}
${selects.map(selectOf)}
${boxes}
<p><button type="submit">Show</button></p>
</form>`;
}

function fieldOf({ name, label, type, value }: Field): Html {
  return html`<p><label for="f-${name}">${label}</label><input id="f-${name}" name="${name}" type="${type}" maxlength="500" value="${value}"></p>
`;
}

function selectOf({ name, label, choices, chosen }: Select): Html {
  const options = choices.map(([value, text]) => {
    const selected = value === chosen ? new Html(' selected=""') : null;
    return html`<option value="${value}"${selected}>${text}</option>\n`;
  });
  return html`<p><label for="f-${name}">${label}</label><select id="f-${name}" name="${name}">
${options}</select></p>
`;
}
