import { count } from '../../../base/observe/format.js';
import type { Html } from '../html.js';
import { figure, GRID, LABEL, NAMES, STILL, VALUES } from './draw.js';
import { colour } from './palette.js';

const AGES_HEIGHT = 190;

/** How many pages are how old in some way. */
export interface Age {
  span: string;
  pages: number;
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
        label: NUMBERS,
        data: ages.map(({ span, pages }) => ({
          value: pages,
          itemStyle: { color: colour(span === 'never' || span === 'unknown' ? 'noData' : 'indexed') },
        })),
      },
    ],
  }));
}

const NUMBERS = {
  ...LABEL,
  show: true,
  position: 'top',
  // Or the renderer draws a light line around the digits.
  textBorderWidth: 0,
  formatter: ({ value }: { value: unknown }) => (typeof value === 'number' && value > 0 ? count(value) : ''),
} as const;
