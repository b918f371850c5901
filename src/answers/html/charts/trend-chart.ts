import { count, counted, percent, shareOf, signed } from '../../../base/observe/format.js';
import { type Estimate, shareIndexed } from '../../report/estimate.js';
import { dated } from '../cells.js';
import { type Html, html, type Part, shortened } from '../html.js';
import { type ChartOption, datesAxis, figure, GRID, LABEL, NAMES, STILL, VALUES } from './draw.js';
import { type Colour, colour } from './palette.js';

/** As many dates as there are letters are marked, the newest. */
const FIRST_LETTER = 'A'.charCodeAt(0);
const LETTERS = 26;
const PLACE_CHARACTERS = 80;

/** What somebody noted for a date with `indexhouse note`. */
interface Note {
  note_date: string;
  note: string;
  /** Null: for every directory. */
  directory: string | null;
  /** Of its websites; null: for all that are shown. */
  names: string | null;
}

/** A series for any chart with dates: a line with a letter at each date that has a note. Their texts are not drawn. */
function noteMarks(dates: readonly string[], notes: readonly Note[]) {
  return {
    ...STILL,
    type: 'line' as const,
    data: [],
    markLine: {
      silent: true,
      symbol: 'none',
      lineStyle: { color: colour('text'), type: 'dashed' as const, width: 1 },
      label: { ...LABEL, position: 'end' as const, distance: 1 },
      data: [...letters(dates, notes)].map(([xAxis, letter]) => ({ xAxis, label: { formatter: letter } })),
    },
  } satisfies ChartOption['series'];
}

/** The list beneath such a chart: the notes that it marks, with their letters and dates. */
export function noteList(dates: readonly string[], notes: readonly Note[]): Part {
  const marked = letters(dates, notes);
  if (marked.size === 0) return null;
  const items = notes.flatMap(({ note_date, note, directory, names }) => {
    const letter = marked.get(note_date);
    const place = [names, directory].flatMap((name) => (name === null ? [] : shortened(name, PLACE_CHARACTERS)));
    const where = place.length > 0 ? ` (${place.join(', ')})` : '';
    return letter === undefined ? [] : html`<li><b>${letter}</b> ${dated(note_date)} ${note}${where}</li>\n`;
  });
  return html`<ul class="legend" aria-label="Notes">
${items}</ul>`;
}

/** The notes of one date, for the text that a pointer shows there. */
function notesOn(date: string, notes: readonly Note[]): string {
  return notes.flatMap(({ note_date, note }) => (note_date === date ? ` Note: ${note}` : [])).join('');
}

function letters(dates: readonly string[], notes: readonly Note[]): Map<string, string> {
  const shown = new Set(dates);
  const noted = [...new Set(notes.map(({ note_date }) => note_date))].filter((date) => shown.has(date)).sort();
  return new Map(noted.slice(-LETTERS).map((date, at) => [date, String.fromCharCode(FIRST_LETTER + at)]));
}

const SHARE_HEIGHT = 180;
const MOST_DAYS_WITH_DOTS = 31;
/** How far the axis of shares goes below a share that never changed. */
const SHARE_BELOW = 0.05;

/** Dates, `YYYY-MM-DD`, both ends included. */
export interface Span {
  since: string;
  until: string;
}

/** One date of the trend. The counts are null without a complete listing. */
export interface Day {
  date: string;
  counts: Counts | null;
}

export interface Counts extends Estimate {
  pages: number;
  indexed: number;
}

/** The share of the pages that is indexed, on a scale that shows small changes; a pointer reads each date. */
export function shareChart(id: string, days: readonly Day[], { period, marks, notes }: ShownShare): Html {
  const shares = days.map(({ counts }) => shareIndexed(counts));
  const dates = days.map(({ date }) => date);
  const marked = new Map(marks.map(({ snapshot_date, change }) => [snapshot_date, change]));
  const jumps = marks.map(({ snapshot_date, change }) => `${snapshot_date}: ${signed(change)} indexed.`).join(' ');
  const description = `${described(days)} ${jumps}`.trim();
  const naming = { id, title: 'Share of the pages that is indexed, day by day', description };
  const option = (): ChartOption => ({
    grid: { ...GRID, top: marks.length > 0 ? 28 : GRID.top, right: 24 },
    xAxis: datesAxis(dates),
    yAxis: {
      ...VALUES,
      scale: true,
      minInterval: 0.001,
      // Left alone, the library puts a single value in the middle of an axis that ends far above 100%.
      min: ({ min, max }) => (min === max ? Math.max(0, min - SHARE_BELOW) : null),
      max: ({ min, max }) => (min === max || max + (max - min) / 2 > 1 ? 1 : null),
      axisLabel: { ...LABEL, formatter: (share: number) => percent(share) },
    },
    series: [
      ...(days.some(({ counts }) => counts?.share_low != null) ? interval(days) : []),
      {
        ...STILL,
        type: 'line',
        symbol: 'circle',
        symbolSize: days.length > MOST_DAYS_WITH_DOTS ? 3 : 6,
        lineStyle: { color: colour('indexed'), width: 2 },
        itemStyle: { color: colour('indexed') },
        data: shares.map((share) => share ?? '-'),
        markArea: shaded(days, period),
      },
      {
        ...STILL,
        type: 'scatter',
        symbol: 'triangle',
        symbolSize: 11,
        // Above a rise and below a fall, where the line is not.
        // Marks of nights in a row do not cover each other.
        labelLayout: ({ text }) => ({ moveOverlap: 'shiftY', dy: text.startsWith('+') ? -8 : 8 }),
        data: days.flatMap(({ date }, at) => {
          const [change = 0, share] = [marked.get(date), shares[at]];
          if (change === 0 || typeof share !== 'number') return [];
          const own = colour(change < 0 ? 'partial' : 'gain');
          // On the side without the line, where there is room.
          const position = at * 6 < days.length ? ('right' as const) : ('left' as const);
          const label = {
            ...LABEL,
            show: true,
            position,
            color: own,
            textBorderWidth: 0,
            formatter: signed(change),
          };
          return { value: [date, share], symbolRotate: change < 0 ? 180 : 0, itemStyle: { color: own }, label };
        }),
        z: 5,
      },
      noteMarks(dates, notes),
    ],
  });
  const readings = days.map((day) => `${readingOf(day)}${notesOn(day.date, notes)}`);
  return figure(naming, SHARE_HEIGHT, option, readings);
}

/** Where the share of a whole website lies, as far as it is known: an area between two lines. */
function interval(days: readonly Day[]) {
  const line = { ...STILL, type: 'line' as const, stack: 'interval', symbol: 'none', lineStyle: { width: 0 } };
  const at = (of: (low: number, high: number) => number) =>
    days.map(({ counts }) => {
      const { share_low: low = null, share_high: high = null } = counts ?? {};
      return low === null || high === null ? '-' : of(low, high);
    });
  return [
    { ...line, data: at((low) => low) },
    { ...line, areaStyle: { color: colour('alsoIndexed'), opacity: 0.45 }, data: at((low, high) => high - low) },
  ];
}

interface ShownShare {
  period: Span;
  /** Dates that stand out, with their change in indexed pages. */
  marks: readonly { snapshot_date: string; change: number }[];
  notes: readonly Note[];
}

/** The period of the report, where the chart shows more than that. */
function shaded(days: readonly Day[], { since, until }: Span) {
  const first = days.find(({ date }) => date >= since)?.date;
  if (first === undefined || first === days[0]?.date) return { data: [] };
  const data: [{ xAxis: string }, { xAxis: string }][] = [[{ xAxis: first }, { xAxis: until }]];
  return { silent: true, itemStyle: { color: colour('period'), opacity: 1 }, data };
}

function readingOf({ date, counts }: Day): string {
  if (counts === null) return `${date}: no complete listing that night.`;
  const { indexed, pages, share_low: low, share_high: high, no_estimate: why } = counts;
  if (why !== null)
    return `${date}: not estimated: ${why}; ${count(indexed)} of ${counted(pages, 'page')} known to be indexed.`;
  if (low !== null && high !== null)
    return `${date}: ${percent(low)} to ${percent(high)} of ${counted(pages, 'page')} indexed, ${count(indexed)} known to be.`;
  return `${date}: ${indexed} of ${counted(pages, 'page')} indexed (${percent(shareOf(indexed, pages))}).`;
}

function described(days: readonly Day[]): string {
  const known = days.filter(({ counts }) => counts !== null);
  return [...new Set([...known.slice(0, 1), ...known.slice(-1)])].map(readingOf).join(' ');
}

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
