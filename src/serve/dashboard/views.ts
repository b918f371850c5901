import { number } from '../../answers/html/cells.js';
import { html, type Part } from '../../answers/html/html.js';
import { table } from '../../answers/html/table.js';
import type { Reader } from '../../answers/query/reader.js';
import { countPages, wrongOwn } from '../../answers/query/selected-pages.js';
import { type View, viewsOf } from '../../base/config/views.js';
import { dayOfMonth, signed } from '../../base/observe/format.js';
import { linkTo, type WebsiteContext } from './context.js';
import { Remembered } from './remembered.js';

interface Counted extends View {
  now: number;
  before: number | null;
  wrong: string | null;
}

const COUNTED = new Remembered(readCounted);

interface AskedViews {
  views: readonly View[];
  listed: string | null;
}

async function readCounted(reader: Reader, website: string, { views, listed }: AskedViews): Promise<Counted[]> {
  const counted: Counted[] = [];
  for (const view of views) {
    const pages = await countPages(reader, website, view.pages, listed);
    counted.push({ ...view, ...pages, wrong: wrongOwn(reader.own, view.pages.own) });
  }
  return counted;
}

/** The configured views of a website, with their pages and their change. @param listed the date that it counts from */
export async function viewsPart(context: WebsiteContext, listed: string | null): Promise<Part> {
  const { website } = context;
  const views = viewsOf(context.views, { id: website.id, name: website.name });
  if (views.length === 0) return null;
  const rows = await COUNTED.ask(context, { views, listed });
  const since = listed === null ? 'Change' : `Since ${dayOfMonth(listed)}`;
  const columns = [
    {
      head: 'View',
      cell: ({ name, pages }: Counted) => html`<a href="${linkTo(context, 'pages', pages)}">${name}</a>`,
    },
    number<Counted>('Pages', ({ now }) => now),
    number<Counted>(since, ({ now, before }) => (before === null ? null : now - before), signed),
  ];
  const notes = rows.map(({ name, wrong }) => wrong && html`<p class="note">${name}: ${wrong}.</p>`);
  return html`<section aria-labelledby="h-views" class="deltas"><h2 id="h-views">Views</h2>
${notes}${table(columns, rows, { id: 'views', caption: 'Lists of pages that the configuration names', empty: '' })}</section>`;
}
