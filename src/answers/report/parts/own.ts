import { number, orUnknown } from '../../html/cells.js';
import { type Part, shortened } from '../../html/html.js';
import { type Column, table } from '../../html/table.js';
import type { OwnMovesRow } from '../rows.js';
import type { Section } from '../section.js';
import { note, part } from './part.js';

/** What fell out by a column of the user's own; null if there is none, and nothing wrong with it. */
export function ownPart({ own: { column, rows, notes } }: Pick<Section, 'own'>): Part {
  if (column === null && notes.length === 0) return null;
  const columns: Column<OwnMovesRow>[] = [
    { head: column ?? '', cell: ({ value }) => orUnknown(value && shortened(value)) },
    number('Indexed before', (row) => row.indexed_before),
    number('Entered', (row) => row.entered),
    number('Fell out', (row) => row.fell_out),
    number('Indexed', (row) => row.indexed),
  ];
  return part(
    `Fell out by ${column ?? 'a column of your own'}`,
    rows.length > 0 ? table(columns, rows) : column && note('No page fell out of the index in this period.'),
    notes.map((one) => note(one)),
  );
}
