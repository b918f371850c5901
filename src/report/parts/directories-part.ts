import { count } from '../../observe/format.js';
import { directoryChart } from '../charts/bar-charts.js';
import { dayOfMonth, percent, signed } from '../figures.js';
import { shareOf } from '../headline.js';
import { type Html, type Part, shortened } from '../html.js';
import type { DirectoryRow } from '../rows.js';
import type { Section } from '../section.js';
import { type Column, legend, note, part, table } from './table.js';
import { nameOfWebsite } from './website-name.js';

const NAME_CHARACTERS = 60;

/** Which directories lost most. */
export function directoriesPart(id: string, section: Section): Html {
  const { directories, websites, headline } = section;
  const moved = directories.filter(({ deindexed, newly_indexed }) => deindexed + newly_indexed > 0);
  if (moved.length === 0) return part('Losers by directory', note('No directory lost or won a page in this period.'));
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
    legend(['not-indexed', 'de-indexed'], ['indexed', 'newly indexed']),
    directoryChart(`${id}-directories`, moved),
    table(
      columns,
      directories.map((row) => [...(several ? [nameOfWebsite(section, row.website_id)] : []), ...cells(row)]),
    ),
    note('The directories whose number of indexed pages fell most come first.'),
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
