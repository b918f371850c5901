import { z } from 'zod';
import { type PageFilters, pageFilters } from './page-filters.js';
import { mapping, says, text } from './scalars.js';

const MAX_VIEWS = 30;
/** What else the address of a list has. */
const NO_FILTERS: ReadonlySet<string> = new Set(['page', 'per', 'sort', 'columns']);
const PLAIN_NAME = /^[a-z_]{1,20}$/;
/** How patterns begin that can match a URL. */
const LIKE_A_URL = /^([/*]|[a-z][a-z\d+.-]*[:*])/i;
/** What a page that fell out still matches. */
const OF_THE_URL: ReadonlySet<string> = new Set(['q', 'directory']);

const notFilters = says('is neither the address of a list nor its filters', 'Write "directory=/blog/&indexed=no".');

const filters = z
  .union([z.string(notFilters), z.record(z.string(), z.string(notFilters), notFilters)], notFilters)
  .transform((given, context): PageFilters => {
    const all =
      typeof given === 'string' ? [...new URLSearchParams(given.replace(/^.*\?/, ''))] : Object.entries(given);
    const asked = all.filter(([name, value]) => value !== '' && !NO_FILTERS.has(name));
    const read = readFilters(Object.fromEntries(asked));
    if (typeof read !== 'string') return read;
    context.addIssue({ code: 'custom', message: read });
    return z.NEVER;
  });

/** An entry of `views`. */
const view = mapping({
  name: text('a name').describe('What the view is called.'),
  website: text('a website').optional().describe('Id or name of its only website; by default it is of each.'),
  pages: filters.describe('What is behind the ? of a filtered list of pages, or a mapping of the same keys.'),
});
export type View = z.output<typeof view>;

/** `views`. */
export const views = z
  .array(view, says('is not a list', 'Write one `- name: …` for each view.'))
  .max(MAX_VIEWS, says(`holds more than ${MAX_VIEWS} views`, 'Remove some.'))
  .refine(
    (all) => new Set(all.map(({ name }) => name)).size === all.length,
    says('has a name twice', 'Give each view a name of its own.'),
  )
  .prefault([])
  .describe('Lists of pages with a name, for the overview, `query pages` and notices.');

/** The filters of a list, or what is wrong with them and, after a line break, what to do. */
function readFilters(given: Readonly<Record<string, string>>): PageFilters | string {
  const parsed = pageFilters.strict().safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue?.code === 'unrecognized_keys') {
    const named = issue.keys.find((key) => PLAIN_NAME.test(key));
    const known = Object.keys(pageFilters.shape).join(', ');
    return `has an unknown filter${named ? ` ${named}` : ''}\nThe filters are: ${known}.`;
  }
  const values = issue?.code === 'invalid_value' ? `one of: ${issue.values.join(', ')}` : 'a date, or a shorter text';
  return `has no valid value for ${String(issue?.path[0])}\nWrite ${values}.`;
}

/** The views of a website. */
export function viewsOf<V extends { website?: string | undefined }>(
  all: readonly V[],
  { id, name }: Record<'id' | 'name', string | null>,
) {
  return all.filter(({ website }) => website === undefined || website === id || website === name);
}

/** Notices take only patterns that can match, and views that a page still matches when it has left the index. */
export function checkWatched(
  { views, notify }: { views: readonly View[]; notify: { watch: readonly string[] } },
  context: z.RefinementCtx,
): void {
  for (const [index, watched] of notify.watch.entries()) {
    const view = views.find(({ name }) => name === watched);
    const other = Object.keys(view?.pages ?? {}).find((filter) => !OF_THE_URL.has(filter));
    if (view ? other === undefined : LIKE_A_URL.test(watched)) continue;
    const message = view
      ? `names a view that filters by ${other}\nName views that filter by q and directory only.`
      : 'matches no URL, and is not the name of a view\nBegin a pattern with /, * or https://.';
    context.addIssue({ code: 'custom', path: ['notify', 'watch', index], message });
  }
}
