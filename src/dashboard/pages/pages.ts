import { z } from 'zod';
import { askRows, askSelected } from '../../analysis/ask-rows.js';
import type { Reader } from '../../analysis/reader.js';
import { html, shortened } from '../../html/html.js';
import { count } from '../../observe/format.js';
import { safe } from '../../observe/terminal.js';
import { type Content, linkTo, type WebsiteContext } from '../context.js';
import { type Boxes, type Choice, filterForm, type Select } from '../filter-form.js';
import { nameOf } from '../layout.js';
import { list, rowsSelect } from '../list.js';
import {
  askFor,
  columnsOf,
  columnsQuery,
  headOf,
  PAGE_COLUMNS,
  type PageColumn,
  pageRow,
  readsOf,
  SORTED_BY,
} from '../page-columns.js';
import { checkPage, filterText, MOST_URL_CHARACTERS, pagingQuery, readQuery, skipOf } from '../query.js';

const STATES_OFFERED = 100;
const STATE_CHARACTERS = 60;
/** The value for an unknown state. */
const UNKNOWN_STATE = '-';
const MOST_STATE_CHARACTERS = 4000;

export const pagesQuery = z.object({
  ...pagingQuery,
  q: filterText,
  /** As `stateText` writes it. */
  state: z.string().max(MOST_STATE_CHARACTERS).optional(),
  indexed: z.enum(['yes', 'no', '-']).optional(),
  directory: filterText,
  sitemap: z.string().max(MOST_URL_CHARACTERS).optional(),
  canonical: z.enum(['match', 'differ', 'undeclared', '-']).optional(),
  monitored: z.enum(['gone', 'all']).optional(),
  columns: columnsQuery,
  sort: z.enum([...SORTED_BY, ...SORTED_BY.map((name) => `-${name}` as const)]).default('url'),
});
type PagesQuery = z.infer<typeof pagesQuery>;

const stateRow = z.object({ state: z.string().nullable(), pages: z.int() });
type Pages = Awaited<ReturnType<typeof readPages>>;

/** The pages of a website: filtered, sorted, a window of them. */
export async function pagesPage(context: WebsiteContext): Promise<Content> {
  const query = readQuery(pagesQuery, context.query);
  const pages = await context.ask((reader) => readPages(reader, context.website.id, query));
  const { page: _page, sort, columns: shown, ...rest } = query;
  const asked = { ...rest, columns: askFor(shown) };
  const fields = { q: query.q ?? '', selects: selectsOf(query, pages), boxes: boxesOf(shown), kept: { sort } };
  const title = `Pages of ${nameOf(context.website)}`;
  const content = html`<h1>${title}</h1>
${filterForm(linkTo(context, 'pages'), fields)}
${list({
  id: 'pages',
  one: 'page',
  caption: 'Current state of the pages',
  columns: columnsOf(shown, context),
  empty: 'No matching pages.',
  query,
  ...pages,
  sort: { by: sort, linkOf: (by) => linkTo(context, 'pages', { ...asked, sort: by }) },
  linkOf: (page) => linkTo(context, 'pages', { ...asked, sort, page }),
})}`;
  return { title, content };
}

/** One window of the selected pages. @throws ServiceError 404 for a page behind the last one */
export async function readPages(reader: Reader, website: string, query: PagesQuery) {
  // Choices of the filter; null is an unknown state.
  const states = await askRows(reader, 'dashboard/states', stateRow, { website, limit: STATES_OFFERED });
  const {
    q = null,
    state,
    directory = null,
    sitemap = null,
    indexed = null,
    canonical = null,
    monitored = null,
    sort,
  } = query;
  const [any_state, wanted] = [state === undefined, state === undefined ? null : stateOf(state)];
  const { count, rows } = await askSelected(reader, 'dashboard/selected_pages', pageRow, {
    selection: {
      website,
      url_contains: q,
      directory,
      sitemap,
      any_state,
      state: wanted,
      indexed,
      canonical,
      monitored,
      sort,
    },
    skip: skipOf(query),
    limit: query.per,
    columns: readsOf(query.columns),
  });
  checkPage(query, count);
  return { states, count, rows };
}

function boxesOf(shown: readonly PageColumn[]): Boxes {
  const always: PageColumn = 'url';
  return {
    name: 'columns',
    label: 'Columns',
    legend: `Columns besides “${headOf(always)}”`,
    choices: PAGE_COLUMNS.filter((name) => name !== always).map((name) => [name, headOf(name)]),
    chosen: shown,
    always,
  };
}

function selectsOf({ state, indexed, canonical, monitored, per }: PagesQuery, { states }: Pages): Select[] {
  const offered: Choice[] = states.map(({ state: name, pages }) => [
    stateText(name),
    `${stateLabel(name)} (${count(pages)})`,
  ]);
  const isOffered = state === undefined || offered.some(([value]) => value === state);
  const chosen: Choice[] = isOffered ? [] : [[state, stateLabel(stateOf(state))]];
  const yesOrNo = { '': 'any', yes: 'yes', no: 'no', '-': 'without data' };
  const matching = { '': 'any', match: 'match', differ: 'differ', undeclared: 'none declared', '-': 'unknown' };
  const times = { '': 'now', gone: 'gone', all: 'now or earlier' };
  return [
    { name: 'indexed', label: 'Indexed', chosen: indexed ?? '', choices: Object.entries(yesOrNo) },
    { name: 'state', label: 'State', chosen: state ?? '', choices: [['', 'any'], ...offered, ...chosen] },
    { name: 'canonical', label: 'Canonicals', chosen: canonical ?? '', choices: Object.entries(matching) },
    { name: 'monitored', label: 'Monitored', chosen: monitored ?? '', choices: Object.entries(times) },
    rowsSelect(per),
  ];
}

function stateLabel(state: string | null): string {
  if (state === null) return 'unknown';
  return state === '' ? 'empty' : shortened(state, STATE_CHARACTERS);
}

/**
 * A state as text that a form sends back unchanged: as it is if possible, else as a JSON string without invisible
 * characters; null, an unknown state, as `-`.
 */
export function stateText(state: string | null): string {
  if (state === null) return UNKNOWN_STATE;
  const isPlain = state !== '' && state !== UNKNOWN_STATE && !state.startsWith('"') && safe(state) === state;
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return isPlain ? state : JSON.stringify(state).replace(/[^\x20-\x7e]/g, escaped);
}

const quoted = z
  .string()
  .startsWith('"')
  .pipe(z.preprocess((text) => parsed(String(text)), z.string()));

/** The state that a text of `stateText` stands for. */
export function stateOf(text: string): string | null {
  if (text === UNKNOWN_STATE) return null;
  return quoted.safeParse(text).data ?? text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
