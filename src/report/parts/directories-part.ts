import { directoryChart } from '../../html/charts/bar-charts.js';
import { dayOfMonth, percent, signed } from '../../html/figures.js';
import { type Html, type Part, shortened } from '../../html/html.js';
import { count } from '../../observe/format.js';
import { shareOf } from '../headline.js';
import type { Period } from '../period.js';
import type { DirectoryRow } from '../rows.js';
import type { Section } from '../section.js';
import { type Column, command, legend, note, part, table } from './table.js';
import { nameOfWebsite } from './website-name.js';

const NAME_CHARACTERS = 60;
/** No directory is called so: each begins with a slash. */
const OTHER = '(other)';

/** Which directories lost most. */
export function directoriesPart(id: string, section: Section, period: Period): Html {
  const { directories, websites, headline } = section;
  const moved = directories.filter(({ deindexed, newly_indexed }) => deindexed + newly_indexed > 0);
  if (!directories.some(hasChanged)) {
    return part('Losers by directory', note('No directory lost or won a page in this period.'));
  }
  const several = websites.length > 1;
  const columns: Column[] = [
    ...(several ? [{ head: 'website' }] : []),
    { head: 'directory' },
    { head: 'pages', align: 'right' },
    { head: 'indexed', align: 'right' },
    { head: 'share', align: 'right' },
    {
      head: headline.compared_with === null ? 'change' : `since ${dayOfMonth(headline.compared_with)}`,
      align: 'right',
    },
    { head: 'de-indexed', align: 'right' },
    { head: 'newly indexed', align: 'right' },
  ];
  return part(
    'Losers by directory',
    moved.length > 0 ? legend(['not-indexed', 'de-indexed'], ['indexed', 'newly indexed']) : null,
    moved.length > 0 ? directoryChart(`${id}-directories`, moved) : null,
    table(
      columns,
      directories.map((row) => [...(several ? [nameOfWebsite(section, row.website_id)] : []), ...cells(row)]),
    ),
    note('The directories that lost most indexed pages come first.'),
    directories.some(({ directory }) => directory === OTHER) ? otherNote(section, period) : null,
  );
}

function hasChanged({ indexed, indexed_before, deindexed, newly_indexed }: DirectoryRow): boolean {
  return deindexed + newly_indexed > 0 || (indexed_before !== null && indexed !== indexed_before);
}

function otherNote({ websites: [first, second] }: Section, { since }: Period): Html {
  const website = first && !second ? { website: first.website.website_id } : {};
  return note(
    `${OTHER}: the directories that are not among the 500 largest of both listings. Those that pages fell out of: `,
    command('deindexed_by_directory', { ...website, since }),
  );
}

function cells({ directory, pages, indexed, indexed_before, deindexed, newly_indexed }: DirectoryRow): Part[] {
  return [
    shortened(directory, NAME_CHARACTERS),
    count(pages),
    count(indexed),
    percent(shareOf(indexed, pages)),
    indexed_before === null ? '' : signed(indexed - indexed_before),
    count(deindexed),
    count(newly_indexed),
  ];
}
