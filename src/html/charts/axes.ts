import { count } from '../../observe/format.js';
import { colour } from './palette.js';

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

/** What a series has that nobody points at. */
export const STILL = { silent: true, animation: false, emphasis: { disabled: true } } as const;
