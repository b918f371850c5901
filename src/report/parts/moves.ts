import { number } from '../../html/cells.js';
import { directoryChart } from '../../html/charts/bar-charts.js';
import { legend } from '../../html/charts/draw.js';
import { type Html, html, shortened } from '../../html/html.js';
import { type Column, table } from '../../html/table.js';
import { count, counted, dayOfMonth, percent, shareOf, signed } from '../../observe/format.js';
import type { Period } from '../period.js';
import type { DirectoryRow } from '../rows.js';
import type { Section } from '../section.js';
import { command, note, part, websiteColumn, websiteParameter } from './part.js';

type Moves = Section['transitions'];

const STATES_SHOWN = 9;
const STATE_CHARACTERS = 80;
const DIRECTORY_CHARACTERS = 60;
/** No directory is called so: each begins with a slash. */
const OTHER_DIRECTORIES = '(other)';
const OTHER = Symbol('the states that are not shown');
type State = string | null | typeof OTHER;

/** Which states pages went to from which, as a table whose cells are the darker the more pages went. */
export function transitionsPart({ transitions }: Section): Html {
  if (transitions.length === 0) return part('Moves between states', note('No page changed its state in this period.'));
  const states = statesOf(transitions);
  const cells = new Map<State, Map<State, number>>();
  for (const { from_state, to_state, pages } of transitions) {
    const [from, to]: [State, State] = [shownAs(from_state, states), shownAs(to_state, states)];
    const row = cells.get(from) ?? new Map<State, number>();
    cells.set(from, row.set(to, pages + (row.get(to) ?? 0)));
  }
  const most = Math.max(...[...cells.values()].flatMap((row) => [...row.values()]));
  const head = states.map((state, at) => html`<th scope="col" class="number" title="${nameOf(state)}">${at + 1}</th>`);
  const rows = states.map((state, at) => {
    const row = states.map((to) => cell(cells.get(state)?.get(to), most));
    return html`<tr><th scope="row"><span class="index">${at + 1}</span> ${nameOf(state)}</th>${row}</tr>\n`;
  });
  const moved = transitions.reduce((added, { pages }) => added + pages, 0);
  return part(
    'Moves between states',
    html`<p>${counted(moved, 'move')}. Rows are the states that pages left, columns (by the number of their row) those that they went to.</p>
<div class="scroll"><table class="matrix"><thead><tr><th scope="col">from ↓ to →</th>${head}</tr></thead><tbody>
${rows}</tbody></table></div>`,
  );
}

/** Those that take part in most moves, and one for the rest. */
function statesOf(transitions: Moves): State[] {
  const moves = new Map<string | null, number>();
  for (const { from_state, to_state, pages } of transitions) {
    for (const state of [from_state, to_state]) moves.set(state, pages + (moves.get(state) ?? 0));
  }
  const states = [...moves.entries()].sort(([, one], [, other]) => other - one).map(([state]) => state);
  return states.length > STATES_SHOWN ? [...states.slice(0, STATES_SHOWN - 1), OTHER] : states;
}

function shownAs(state: string | null, states: readonly State[]): State {
  return states.includes(state) ? state : OTHER;
}

function nameOf(state: State): string {
  if (state === OTHER) return 'other states';
  return state === null ? 'no data' : shortened(state, STATE_CHARACTERS);
}

function cell(pages: number | undefined, most: number): Html {
  if (!pages) return html`<td class="number"></td>`;
  // By the root, or one large move would leave all others without a shade.
  const shade = Math.sqrt(pages / most).toFixed(2);
  return html`<td class="number shaded" style="--part:${shade}">${count(pages)}</td>`;
}

/** Which directories lost most pages. */
export function directoriesPart(id: string, section: Section, period: Period): Html {
  const { directories, headline } = section;
  const moved = directories.filter(({ deindexed, newly_indexed }) => deindexed + newly_indexed > 0);
  const hasOthers = directories.some((one) => one.indexed_before !== null && one.indexed !== one.indexed_before);
  if (moved.length === 0 && !hasOthers) {
    return part('Losses by directory', note('No directory lost or gained a page in this period.'));
  }
  const columns: Column<DirectoryRow>[] = [
    ...websiteColumn(section),
    { head: 'Directory', cell: ({ directory }) => shortened(directory, DIRECTORY_CHARACTERS) },
    number('Pages', ({ pages }) => pages),
    number('Indexed', ({ indexed }) => indexed),
    number('Share', ({ indexed, pages }) => shareOf(indexed, pages), percent),
    number(
      headline.compared_with === null ? 'Change' : `Since ${dayOfMonth(headline.compared_with)}`,
      ({ indexed, indexed_before }) => (indexed_before === null ? null : indexed - indexed_before),
      signed,
    ),
    number('De-indexed', ({ deindexed }) => deindexed),
    number('Newly indexed', ({ newly_indexed }) => newly_indexed),
  ];
  return part(
    'Losses by directory',
    moved.length > 0 ? legend(['not-indexed', 'de-indexed'], ['indexed', 'newly indexed']) : null,
    moved.length > 0 ? directoryChart(`${id}-directories`, moved) : null,
    table(columns, directories),
    note('The directories that lost most indexed pages come first.'),
    directories.some(({ directory }) => directory === OTHER_DIRECTORIES) ? otherNote(section, period) : null,
  );
}

function otherNote(section: Section, { since }: Period): Html {
  return note(
    `${OTHER_DIRECTORIES}: the directories that are not among the 500 largest of both listings. Their de-indexed pages by directory: `,
    command('deindexed_by_directory', { ...websiteParameter(section), since }),
  );
}
