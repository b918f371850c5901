import { count, counted } from '../../../base/observe/format.js';
import { type Html, html } from '../html.js';
import { type ChartOption, datesAxis, figure, GRID, LABEL, NAMES, STILL, VALUES } from './draw.js';
import { type Note, noteMarks, notesOn } from './notes.js';
import { type Colour, colour } from './palette.js';

/** One of the layers of each bar: its pages on each date, below the axis if negative, null where they are unknown. */
export interface Layer {
  name: string;
  colour: Colour;
  pages: readonly (number | null)[];
}

/** A bar for each date with known pages, the first layer at the bottom, and what each colour means. */
export function stackChart(
  naming: { id: string; title: string; height: number; unknown?: string },
  dates: readonly string[],
  layers: readonly Layer[],
  notes: readonly Note[],
): Html {
  const readings = dates.map((date, at) => {
    const parts = layers.flatMap(({ name, pages }) => {
      const number = pages[at] ?? null;
      return number === null ? [] : [`${counted(Math.abs(number), 'page')}: ${name}`];
    });
    const known =
      parts.length > 0 ? parts.toReversed().join('; ') : (naming.unknown ?? 'no complete listing that night');
    return `${date}: ${known}.${notesOn(date, notes)}`;
  });
  const description = [...new Set([readings[0], readings.at(-1)])].join(' ');
  const option = (): ChartOption => ({
    grid: { ...GRID, right: 24 },
    xAxis: { ...datesAxis(dates), axisLine: { onZero: false, ...datesAxis(dates).axisLine } },
    yAxis: { ...VALUES, axisLabel: { ...VALUES.axisLabel, formatter: (value: number) => count(Math.abs(value)) } },
    series: [
      ...layers.map(({ colour: name, pages }) => ({
        ...STILL,
        type: 'bar' as const,
        stack: 'pages',
        barCategoryGap: '8%',
        itemStyle: { color: colour(name) },
        data: pages.map((number) => number ?? '-'),
      })),
      noteMarks(dates, notes),
    ],
  });
  const items = layers.toReversed().map(({ name, colour: own }) => html`<li>${swatch(own)}${name}</li>`);
  return html`${figure({ ...naming, description }, naming.height, option, readings)}<ul class="legend">${items}</ul>`;
}

/** A square in a colour of a chart, on every ground. */
export function swatch(name: Colour): Html {
  return html`<svg class="swatch" viewBox="0 0 1 1" aria-hidden="true"><rect width="1" height="1" fill="${colour(name)}"></rect></svg>`;
}

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
