import type { ScatterSeriesOption } from 'echarts/charts';
import { BarChart, type BarSeriesOption, LineChart, type LineSeriesOption, ScatterChart } from 'echarts/charts';
import { GridComponent, type GridComponentOption, MarkAreaComponent, MarkLineComponent } from 'echarts/components';
import * as echarts from 'echarts/core';
import { LabelLayout } from 'echarts/features';
import { SVGRenderer } from 'echarts/renderers';
import { z } from 'zod';
import { count, dayOfMonth } from '../../../base/observe/format.js';
import { escaped, Html, html } from '../html.js';
import { colour } from './palette.js';

echarts.use([
  BarChart,
  LineChart,
  ScatterChart,
  GridComponent,
  MarkAreaComponent,
  MarkLineComponent,
  LabelLayout,
  SVGRenderer,
]);

export type ChartOption = echarts.ComposeOption<
  BarSeriesOption | LineSeriesOption | ScatterSeriesOption | GridComponentOption
>;

/** A chart's name for screen readers, and for the identifiers that it needs. */
interface Naming {
  /** Letters, digits and hyphens; unique in the document. */
  id: string;
  title: string;
  description: string;
}

/** Units of the drawing; the wide one suits a desktop and paper, the narrow one a phone. */
const WIDTHS = { wide: 800, narrow: 360 } as const;

/** The widths of texts are estimated: the style sheet shows them a little smaller, for fonts that are wider. */
const FONT_PX = 12;

/** The room inside a chart, around which the labels of the axes still fit. */
export const GRID = {
  left: 8,
  right: 12,
  top: 14,
  bottom: 4,
  outerBoundsMode: 'same',
  outerBoundsContain: 'axisLabel',
} as const;

export const LABEL = { color: colour('text'), fontSize: FONT_PX } as const;

/** An axis of numbers with light lines across the chart. */
export const VALUES = {
  type: 'value',
  axisLabel: { ...LABEL, formatter: (value: number) => count(value) },
  splitLine: { lineStyle: { color: colour('line') } },
  splitNumber: 4,
} as const;

/** The line and labels of an axis of names. */
export const NAMES = {
  axisTick: { show: false },
  axisLine: { lineStyle: { color: colour('line') } },
  axisLabel: LABEL,
} as const;

/** An axis of dates. */
export function datesAxis(dates: readonly string[]) {
  const axisLabel = { ...LABEL, hideOverlap: true, formatter: dayOfMonth };
  return { ...NAMES, type: 'category' as const, data: [...dates], axisLabel };
}

/** Options of a series without interaction. */
export const STILL = { silent: true, animation: false, emphasis: { disabled: true } } as const;

/**
 * A chart as two drawings, of which the style sheet shows the one that fits: scaled down to a phone, the wide one's
 * text could not be read.
 *
 * @param readings what a pointer shows above each name of the horizontal axis of the wide one
 */
export function figure(
  naming: Naming,
  height: number,
  option: () => ChartOption,
  readings: readonly string[] = [],
): Html {
  const wide = draw(option(), { ...naming, id: `${naming.id}-w` }, { width: WIDTHS.wide, height }, readings);
  const narrow = draw(option(), { ...naming, id: `${naming.id}-n` }, { width: WIDTHS.narrow, height });
  return html`<div class="chart wide">${wide}</div><div class="chart narrow">${narrow}</div>`;
}

/** What the colours of a chart mean, by the names of their classes. */
export function legend(...entries: readonly (readonly [swatch: string, meaning: string])[]): Html {
  const items = entries.map(([swatch, meaning]) => html`<li><span class="swatch ${swatch}"></span>${meaning}</li>`);
  return html`<ul class="legend">${items}</ul>`;
}

function draw(
  option: ChartOption,
  naming: Naming,
  size: { width: number; height: number },
  readings: readonly string[] = [],
): Html {
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, ...size });
  try {
    chart.setOption({ ...option, animation: false });
    const svg = tidied(chart.renderToSVGString({ useViewBox: true }), naming);
    return new Html(svg.replace(/<\/svg>$/, `${readable(chart, readings).text}</svg>`));
  } finally {
    // Its timer would keep the process alive.
    chart.dispose();
  }
}

/** An invisible area over each name of the horizontal axis, with a tooltip. Call it before the chart is disposed of. */
function readable(chart: echarts.EChartsType, readings: readonly string[]): Html {
  const width = chart.getWidth() / Math.max(readings.length, 1);
  const areas = readings.map((reading, at) => {
    const middle = z.number().parse(chart.convertToPixel({ xAxisIndex: 0 }, at));
    return html`<rect x="${(middle - width / 2).toFixed(1)}" y="0" width="${width.toFixed(1)}" height="${chart.getHeight()}" fill="none" pointer-events="all"><title>${reading}</title></rect>`;
  });
  return html`${areas}`;
}

/**
 * The drawing without what only serves a pointer (style sheet, classes, `ecmeta_` attributes) and without styles of its
 * own, which a strict content policy forbids and the document's style sheet replaces. Its identifiers do not depend on
 * earlier drawings, and it has a title and a description.
 */
function tidied(svg: string, { id, title, description }: Naming): string {
  const named = `<title id="${id}-t">${escaped(title)}</title><desc id="${id}-d">${escaped(description)}</desc>`;
  return svg
    .replace(/<style[\s\S]*?<\/style>/g, '')
    .replace(/<[^>]*>/g, (tag) =>
      tag
        .replace(/ (?:class|style|pointer-events|ecmeta_\w+)="[^"]*"/g, '')
        .replace(/(["#])zr\d+-/g, `$1${id}-`)
        .replace(/(\d\.\d{2})\d+/g, '$1'),
    )
    .replace(/\n+/g, '')
    .replace(/^<svg [^>]*>/, (tag) => {
      const box = /viewBox="[^"]*"/.exec(tag)?.[0] ?? '';
      return `<svg xmlns="http://www.w3.org/2000/svg" ${box} role="img" aria-labelledby="${id}-t ${id}-d">${named}`;
    });
}
