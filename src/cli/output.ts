import stringWidth from 'string-width';
import { jsonSafe, plainText } from '../observe/csv.js';
import { count } from '../observe/format.js';
import { escapedJson, safe } from '../observe/terminal.js';

export { formatCsv } from '../observe/csv.js';
export { count, counted, duration, percent, size } from '../observe/format.js';

const GAP = '  ';
/** Columns are not made narrower than this. */
const MIN_CELLS = 6;
const NULL_SIGN = '∅';

export interface Column {
  name: string;
  /** Default: numbers right, everything else left. */
  align?: 'left' | 'right';
}

export interface TableOptions {
  /** Width of the terminal in cells; without it nothing is shortened, as in a file or a pipe. */
  width?: number | undefined;
  color?: boolean | undefined;
}

/** A plain table with a header and a light rule, one line a row, ending with a line break. Rows hold one value a column. */
export function formatTable(
  columns: readonly (string | Column)[],
  rows: readonly (readonly unknown[])[],
  { width, color = false }: TableOptions = {},
): string {
  const heads = columns.map((column) => (typeof column === 'string' ? { name: column } : column));
  const texts = rows.map((row) => heads.map((_, index) => cellText(row[index], color)));
  const widths = columnWidths(heads, texts, width);
  const right = heads.map(({ align }, index) => (align ? align === 'right' : isNumeric(rows, index)));
  const line = (cells: readonly string[], paint: (cell: string, index: number) => string) =>
    heads
      .map((_, index) => paint(aligned(cells[index] ?? '', widths[index] ?? 0, right[index] === true), index))
      .join(GAP)
      .trimEnd();
  const header = line(
    heads.map(({ name }) => safe(name)),
    (cell) => styled(cell, 1, 22, color),
  );
  const rule = styled(widths.map((cells) => '─'.repeat(cells)).join(GAP), 2, 22, color);
  const body = texts.map((cells, at) => line(cells, (cell, index) => painted(cell, rows[at]?.[index], color)));
  return `${[header, rule, ...body].join('\n')}\n`;
}

/** A table of records, a column for each name: numbers with separators and on the right. Nothing without records. */
export function recordTable(
  records: readonly Readonly<Record<string, string | number>>[],
  { right = [], ...options }: TableOptions & { right?: readonly string[] } = {},
): string {
  const [first = {}] = records;
  if (records.length === 0) return '';
  const columns = Object.entries(first).map(([name, value]): Column => {
    return { name, align: typeof value === 'number' || right.includes(name) ? 'right' : 'left' };
  });
  const cell = (value: string | number | undefined) => (typeof value === 'number' ? count(value) : value);
  return formatTable(
    columns,
    records.map((record) => columns.map(({ name }) => cell(record[name]))),
    options,
  );
}

function cellText(value: unknown, color: boolean): string {
  if (value === null || value === undefined) return color ? NULL_SIGN : '';
  return safe(plainText(value));
}

function isNumeric(rows: readonly (readonly unknown[])[], index: number): boolean {
  const values = rows.map((row) => row[index]).filter((value) => value !== null && value !== undefined);
  return values.length > 0 && values.every((value) => typeof value === 'number' || typeof value === 'bigint');
}

/** As wide as the text needs; then the widest columns are narrowed until the table fits. */
function columnWidths(heads: readonly Column[], texts: readonly string[][], width: number | undefined): number[] {
  const widths = heads.map(({ name }, index) =>
    texts.reduce(
      (most, cells) => Math.max(most, stringWidth(cells[index] ?? '')),
      Math.max(1, stringWidth(safe(name))),
    ),
  );
  if (width === undefined) return widths;
  let excess = widths.reduce((sum, cells) => sum + cells, 0) + GAP.length * (heads.length - 1) - width;
  for (; excess > 0; excess--) {
    const widest = Math.max(...widths);
    if (widest <= MIN_CELLS) break;
    widths[widths.indexOf(widest)] = widest - 1;
  }
  return widths;
}

function aligned(text: string, cells: number, right: boolean): string {
  const shown = shortened(text, cells);
  const padding = ' '.repeat(Math.max(0, cells - stringWidth(shown)));
  return right ? padding + shown : shown + padding;
}

/** Cut in the middle, because the beginning and the end of a URL say most. */
function shortened(text: string, cells: number): string {
  if (stringWidth(text) <= cells) return text;
  const characters = [...new Intl.Segmenter('en').segment(text)].map(({ segment }) => segment);
  const head = fitting(characters, Math.ceil((cells - 1) / 2));
  const tail = fitting(characters.toReversed(), Math.floor((cells - 1) / 2)).toReversed();
  return `${head.join('')}…${tail.join('')}`;
}

function fitting(characters: readonly string[], cells: number): string[] {
  let width = 0;
  const end = characters.findIndex((character) => {
    width += stringWidth(character);
    return width > cells;
  });
  return characters.slice(0, end < 0 ? characters.length : end);
}

function painted(cell: string, value: unknown, color: boolean): string {
  return value === null || value === undefined ? styled(cell, 2, 22, color) : cell;
}

function styled(text: string, on: number, off: number, color: boolean): string {
  return color ? `\x1b[${on}m${text}\x1b[${off}m` : text;
}

/** Wraps a line between words to a number of cells; without one it stays as it is. */
export function wrapped(text: string, width: number | undefined): string {
  if (width === undefined) return text;
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    const longer = `${line} ${word}`;
    if (line !== undefined && stringWidth(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.join('\n');
}

/** Pretty JSON with a line break at the end. Dates as ISO text; BigInts as numbers while exact, else as text. */
export function formatJson(value: unknown): string {
  return `${escapedJson(JSON.stringify(value, jsonSafe, 2) ?? 'null')}\n`;
}

/** One line per warning, each after an empty line. */
export function warningLines(warnings: readonly string[]): string {
  return warnings.map((warning) => `\n! ${safe(warning)}\n`).join('');
}

/** Columns of numbers, aligned right. */
export function figures(...names: readonly string[]): Column[] {
  return names.map((name) => ({ name, align: 'right' }));
}
