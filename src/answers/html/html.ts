import { safe } from '../../base/observe/terminal.js';
import { urlOf } from '../../base/url.js';

/** Longer URLs are shortened in their middle; the full one is in the link and its tooltip. */
const SHOWN_CHARACTERS = 96;
/** Browsers and mail programs may refuse longer ones. */
const LINK_CHARACTERS = 2000;
const TOOLTIP_CHARACTERS = 500;
const ORIGIN = /^https?:\/\/[^/?#]+/i;
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Text that is HTML. Everything else is escaped in a template. */
export class Html {
  constructor(readonly text: string) {}
}

export type Part = Html | string | number | null | undefined | readonly Part[];

/** HTML with values in it: what is not `Html` itself is escaped; null and undefined are left out. */
export function html(texts: TemplateStringsArray, ...values: Part[]): Html {
  return new Html(texts.reduce((joined, text, at) => joined + render(values[at - 1]) + text));
}

/**
 * Any text as text of a document or of an attribute in double quotes. Invisible characters with an effect (controls,
 * marks that turn the reading direction) are made visible.
 */
export function escaped(text: string): string {
  return safe(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** A text cut in its middle between characters, because the beginning and the end of a URL say most. */
export function shortened(text: string, characters = SHOWN_CHARACTERS): string {
  if (text.length <= characters) return text;
  // A text may be megabytes long, so only what can be shown is split into characters.
  const head = [...text.slice(0, characters)];
  const tail = [...text.slice(-characters)];
  const half = Math.floor((characters - 1) / 2);
  return `${head.slice(0, characters - 1 - half).join('')}…${tail.slice(-half).join('')}`;
}

/**
 * A page's address, as a link only if it is a web address that a browser reads as it is written.
 *
 * @param beside a URL on the same line, whose scheme and host need not be repeated
 */
export function pageLink(url: string, characters = SHOWN_CHARACTERS, beside?: string): Html {
  const origin = ORIGIN.exec(beside ?? '')?.[0];
  const shown = shortened(origin && url.startsWith(`${origin}/`) ? url.slice(origin.length) : url, characters);
  const title = shown === url ? null : html` title="${url.slice(0, TOOLTIP_CHARACTERS)}"`;
  const isPlain = /^https?:\/\//i.test(url) && url.length <= LINK_CHARACTERS && safe(url) === url;
  if (!isPlain || urlOf(url) === null) return html`<span class="url"${title}>${shown}</span>`;
  return html`<a class="url" href="${url}" rel="noopener noreferrer"${title}>${shown}</a>`;
}

function render(value: Part): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? escaped(value) : value.map(render).join('');
}
