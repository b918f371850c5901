import { dated } from '../cells.js';
import { html, type Part, shortened } from '../html.js';
import { type ChartOption, LABEL, STILL } from './draw.js';
import { colour } from './palette.js';

/** As many dates as there are letters are marked, the newest. */
const FIRST_LETTER = 'A'.charCodeAt(0);
const LETTERS = 26;
const PLACE_CHARACTERS = 80;

/** What somebody noted for a date with `indexhouse note`. */
export interface Note {
  note_date: string;
  note: string;
  /** Null: for every directory. */
  directory: string | null;
  /** Of its websites; null: for all that are shown. */
  names: string | null;
}

/** A series for any chart with dates: a line with a letter at each date that has a note. Their texts are not drawn. */
export function noteMarks(dates: readonly string[], notes: readonly Note[]) {
  return {
    ...STILL,
    type: 'line' as const,
    data: [],
    markLine: {
      silent: true,
      symbol: 'none',
      lineStyle: { color: colour('text'), type: 'dashed' as const, width: 1 },
      label: { ...LABEL, position: 'end' as const, distance: 1 },
      data: [...letters(dates, notes)].map(([xAxis, letter]) => ({ xAxis, label: { formatter: letter } })),
    },
  } satisfies ChartOption['series'];
}

/** The list beneath such a chart: the notes that it marks, with their letters and dates. */
export function noteList(dates: readonly string[], notes: readonly Note[]): Part {
  const marked = letters(dates, notes);
  if (marked.size === 0) return null;
  const items = notes.flatMap(({ note_date, note, directory, names }) => {
    const letter = marked.get(note_date);
    const place = [names, directory].flatMap((name) => (name === null ? [] : shortened(name, PLACE_CHARACTERS)));
    const where = place.length > 0 ? ` (${place.join(', ')})` : '';
    return letter === undefined ? [] : html`<li><b>${letter}</b> ${dated(note_date)} ${note}${where}</li>\n`;
  });
  return html`<ul class="legend" aria-label="Notes">
${items}</ul>`;
}

/** The notes of one date, for the text that a pointer shows there. */
export function notesOn(date: string, notes: readonly Note[]): string {
  return notes.flatMap(({ note_date, note }) => (note_date === date ? ` Note: ${note}` : [])).join('');
}

function letters(dates: readonly string[], notes: readonly Note[]): Map<string, string> {
  const shown = new Set(dates);
  const noted = [...new Set(notes.map(({ note_date }) => note_date))].filter((date) => shown.has(date)).sort();
  return new Map(noted.slice(-LETTERS).map((date, at) => [date, String.fromCharCode(FIRST_LETTER + at)]));
}
