import { counted } from '../../../base/observe/format.js';
import { type Html, html } from '../html.js';
import { type ChartOption, datesAxis, figure, GRID, STILL, VALUES } from './draw.js';
import { type Note, noteMarks, notesOn } from './notes.js';
import { type Colour, colour } from './palette.js';

const HEIGHT = 260;

/** One of the areas that lie on each other: its pages on each date. */
export interface Area {
  name: string;
  colour: Colour;
  pages: readonly number[];
}

/** How many pages were in which state over time, the first area at the bottom; a pointer reads each date. */
export function areaChart(id: string, dates: readonly string[], areas: readonly Area[], notes: readonly Note[]): Html {
  const readings = dates.map((date, at) => {
    const states = areas.map(({ name, pages }) => `${counted(pages[at] ?? 0, 'page')}: ${name}`);
    return `${date}: ${states.toReversed().join('; ')}.${notesOn(date, notes)}`;
  });
  const description = [...new Set([readings[0], readings.at(-1)])].join(' ');
  const option = (): ChartOption => ({
    grid: { ...GRID, right: 24 },
    xAxis: { ...datesAxis(dates), boundaryGap: false },
    yAxis: VALUES,
    series: [
      ...areas.map(({ colour: name, pages }) => ({
        ...STILL,
        type: 'line' as const,
        stack: 'pages',
        symbol: 'none',
        areaStyle: { color: colour(name), opacity: 1 },
        lineStyle: { width: 0 },
        data: [...pages],
      })),
      noteMarks(dates, notes),
    ],
  });
  return figure({ id, title: 'Pages by state over time', description }, HEIGHT, option, readings);
}

/** A square in a colour of a chart, on every ground. */
export function swatch(name: Colour): Html {
  return html`<svg class="swatch" viewBox="0 0 1 1" aria-hidden="true"><rect width="1" height="1" fill="${colour(name)}"></rect></svg>`;
}
