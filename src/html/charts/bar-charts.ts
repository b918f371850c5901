import { count } from '../../observe/format.js';
import { safe } from '../../observe/terminal.js';
import { type Html, shortened } from '../html.js';
import { figure, GRID, LABEL, NAMES, STILL, VALUES } from './draw.js';
import { colour } from './palette.js';

const AGES_HEIGHT = 190;
const DIRECTORY_HEIGHT = 40;
const NAME_CHARACTERS = { wide: 36, narrow: 16 } as const;

/** How many pages are how old in some way. */
export interface Age {
  span: string;
  pages: number;
}

const SIDES = [
  ['notIndexed', 'deindexed'],
  ['indexed', 'newly_indexed'],
] as const;

/** How many pages left the index and came into it, by directory. */
export function directoryChart(
  id: string,
  directories: readonly { directory: string; deindexed: number; newly_indexed: number }[],
): Html {
  const texts = directories.map(
    ({ directory, deindexed, newly_indexed }) =>
      `${directory}: ${deindexed} de-indexed, ${newly_indexed} newly indexed.`,
  );
  const naming = { id, title: 'De-indexed and newly indexed pages by directory', description: texts.join(' ') };
  return figure(naming, 24 + directories.length * DIRECTORY_HEIGHT, (narrow) => ({
    grid: { ...GRID, right: 44, top: 4 },
    xAxis: { ...VALUES, minInterval: 1 },
    yAxis: {
      ...NAMES,
      type: 'category',
      inverse: true,
      data: directories.map(({ directory }) =>
        shortened(safe(directory.slice(0, 500)), narrow ? NAME_CHARACTERS.narrow : NAME_CHARACTERS.wide),
      ),
    },
    series: SIDES.map(([name, moved]) => ({
      ...STILL,
      type: 'bar',
      barGap: '10%',
      barCategoryGap: '30%',
      itemStyle: { color: colour(name) },
      label: numbers('right'),
      data: directories.map((directory) => directory[moved]),
    })),
  }));
}

/** How many pages are how many days old in some way. */
export function agesChart(naming: { id: string; title: string }, ages: readonly Age[]): Html {
  const description = ages.map(({ span, pages }) => `${span}: ${pages}.`).join(' ');
  return figure({ ...naming, description }, AGES_HEIGHT, () => ({
    grid: { ...GRID, top: 22 },
    xAxis: {
      ...NAMES,
      type: 'category',
      data: ages.map(({ span }) => span.replace(' days', '').replace('-', '–').replace('over ', '> ')),
      axisLabel: { ...LABEL, interval: 0 },
    },
    yAxis: { ...VALUES, minInterval: 1 },
    series: [
      {
        ...STILL,
        type: 'bar',
        barCategoryGap: '30%',
        label: numbers('top'),
        data: ages.map(({ span, pages }) => ({
          value: pages,
          itemStyle: { color: colour(span === 'never' ? 'noData' : 'indexed') },
        })),
      },
    ],
  }));
}

function numbers(position: 'top' | 'right') {
  return {
    ...LABEL,
    show: true,
    position,
    // Or the renderer draws a light line around the digits.
    textBorderWidth: 0,
    formatter: ({ value }: { value: unknown }) => (typeof value === 'number' && value > 0 ? count(value) : ''),
  } as const;
}
