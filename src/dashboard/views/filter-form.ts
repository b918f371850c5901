import { Html, html } from '../../report/html.js';

/** A choice of a filter: its value in the address and what it is called. */
export type Choice = readonly [value: string, label: string];

export interface Select {
  name: string;
  label: string;
  choices: readonly Choice[];
  /** What is chosen now; the first choice where it is none of them. */
  chosen: string;
}

/**
 * A form whose fields become the address of the same page: it works without a script, can be bookmarked and shared.
 *
 * @param kept what the address holds beside the fields
 */
export function filterForm(
  action: string,
  { q, selects, kept = {} }: { q: string; selects: readonly Select[]; kept?: Readonly<Record<string, string>> },
): Html {
  const hidden = Object.entries(kept).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`<form method="get" action="${action}" class="filter" role="search" data-live-form="">
${hidden}
<p><label for="f-q">Address contains</label><input id="f-q" name="q" type="search" maxlength="500" value="${q}"></p>
${selects.map(selectOf)}
<p><button type="submit">Show</button></p>
</form>`;
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
