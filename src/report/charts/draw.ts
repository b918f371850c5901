import type { ScatterSeriesOption } from 'echarts/charts';
import { BarChart, type BarSeriesOption, LineChart, type LineSeriesOption, ScatterChart } from 'echarts/charts';
import { GridComponent, type GridComponentOption, MarkAreaComponent } from 'echarts/components';
import * as echarts from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { escaped, Html, html } from '../html.js';

echarts.use([BarChart, LineChart, ScatterChart, GridComponent, MarkAreaComponent, SVGRenderer]);

export type ChartOption = echarts.ComposeOption<
  BarSeriesOption | LineSeriesOption | ScatterSeriesOption | GridComponentOption
>;

/** What a chart is called, for those who cannot see it, and in the identifiers that it needs. */
export interface Naming {
  /** Letters, digits and hyphens; no other chart of the document has it. */
  id: string;
  title: string;
  description: string;
}

/** Units of the drawing; the wide one suits a desktop and paper, the narrow one a phone. */
const WIDTHS = { wide: 800, narrow: 360 } as const;

/**
 * A chart as two drawings, of which the style sheet shows the one that fits: scaled down to a phone, the wide one's
 * text could not be read.
 */
export function figure(naming: Naming, height: number, option: (narrow: boolean) => ChartOption): Html {
  const wide = draw(option(false), { ...naming, id: `${naming.id}-w` }, WIDTHS.wide, height);
  const narrow = draw(option(true), { ...naming, id: `${naming.id}-n` }, WIDTHS.narrow, height);
  return html`<div class="chart wide">${wide}</div><div class="chart narrow">${narrow}</div>`;
}

function draw(option: ChartOption, naming: Naming, width: number, height: number): Html {
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    chart.setOption({ ...option, animation: false });
    return new Html(tidied(chart.renderToSVGString({ useViewBox: true }), naming));
  } finally {
    // Its timer would keep the process alive.
    chart.dispose();
  }
}

/**
 * The drawing without what only serves a pointer (style sheet, classes, `ecmeta_` attributes) and without styles of its
 * own, which a strict content policy forbids and the document's style sheet gives; with names that do not depend on what
 * was drawn before, and with a title and a description.
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
