import { directoryChart } from '../../html/charts/bar-charts.js';
import { legend } from '../../html/charts/draw.js';
import { dayOfMonth, percent, shareOf, signed } from '../../html/figures.js';
import { type Html, shortened } from '../../html/html.js';
import { type Column, table } from '../../html/table.js';
import { count } from '../../observe/format.js';
import type { Period } from '../period.js';
import type { DirectoryRow } from '../rows.js';
import type { Section } from '../section.js';
import { command, note, part, websiteColumn, websiteParameter } from './part.js';

const NAME_CHARACTERS = 60;
/** No directory is called so: each begins with a slash. */
const OTHER = '(other)';

/** Which directories lost most. */
export function directoriesPart(id: string, section: Section, period: Period): Html {
  const { directories, headline } = section;
  const moved = directories.filter(({ deindexed, newly_indexed }) => deindexed + newly_indexed > 0);
  if (!directories.some(hasChanged)) {
    return part('Losers by directory', note('No directory lost or won a page in this period.'));
  }
  const columns: Column<DirectoryRow>[] = [
    ...websiteColumn(section),
    { head: 'directory', cell: ({ directory }) => shortened(directory, NAME_CHARACTERS) },
    { head: 'pages', isNumber: true, cell: ({ pages }) => count(pages) },
    { head: 'indexed', isNumber: true, cell: ({ indexed }) => count(indexed) },
    { head: 'share', isNumber: true, cell: ({ indexed, pages }) => percent(shareOf(indexed, pages)) },
    {
      head: headline.compared_with === null ? 'change' : `since ${dayOfMonth(headline.compared_with)}`,
      isNumber: true,
      cell: ({ indexed, indexed_before }) => (indexed_before === null ? '' : signed(indexed - indexed_before)),
    },
    { head: 'de-indexed', isNumber: true, cell: ({ deindexed }) => count(deindexed) },
    { head: 'newly indexed', isNumber: true, cell: ({ newly_indexed }) => count(newly_indexed) },
  ];
  return part(
    'Losers by directory',
    moved.length > 0 ? legend(['not-indexed', 'de-indexed'], ['indexed', 'newly indexed']) : null,
    moved.length > 0 ? directoryChart(`${id}-directories`, moved) : null,
    table(columns, directories),
    note('The directories that lost most indexed pages come first.'),
    directories.some(({ directory }) => directory === OTHER) ? otherNote(section, period) : null,
  );
}

function hasChanged({ indexed, indexed_before, deindexed, newly_indexed }: DirectoryRow): boolean {
  return deindexed + newly_indexed > 0 || (indexed_before !== null && indexed !== indexed_before);
}

function otherNote(section: Section, { since }: Period): Html {
  return note(
    `${OTHER}: the directories that are not among the 500 largest of both listings. Those that pages fell out of: `,
    command('deindexed_by_directory', { ...websiteParameter(section), since }),
  );
}
