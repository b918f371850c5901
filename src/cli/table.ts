import { plainText } from '../observe/csv.js';
import { cellsOf, safe } from '../observe/terminal.js';

const GAP = '  ';
/** A cell that needs more lines than this makes its rows cards. */
const MAX_LINES = 3;
const NULL_SIGN = '∅';
/** Joins words that stay on one line, such as those of a date; printed as a plain space. */
const NO_BREAK = /\u00a0/g;

/** What Markdown reads as something else than text. */
const MARKDOWN = /[\\`*_{}[\]<>|~&#]/g;
const MARKDOWN_LINK = /^https?:\/\/[^\s<>|\\]+$/;

export interface Column {
  name: string;
  /** Default: numbers right, everything else left. */
  align?: 'left' | 'right';
  /** What its URLs begin with: told once, in the head, or above cards. */
  origin?: string;
}

export interface TableOptions {
  /** Width of the terminal in cells; without it nothing is wrapped, as in a file or a pipe. */
  width?: number | undefined;
  color?: boolean | undefined;
}

/** Columns of numbers, aligned right. */
export function figures(...names: readonly string[]): Column[] {
  return names.map((name) => ({ name, align: 'right' }));
}

/**
 * A plain table with a header and a light rule, ending with a line break. Rows hold one value a column. Nothing is cut:
 * where it is wider than the terminal, cells are wrapped between words, and where that is not enough each row becomes a
 * card with a line for each column.
 */
export function formatTable(
  columns: readonly (string | Column)[],
  rows: readonly (readonly unknown[])[],
  { width, color = false }: TableOptions = {},
): string {
  const heads = columns.map((column) => (typeof column === 'string' ? { name: column } : column));
  const names = heads.map(({ name, origin }) => safe(origin ? `${name} on ${origin}` : name));
  const texts = rows.map((row) => heads.map((_, index) => cellText(row[index], color)));
  const paint = (cell: string, value: unknown) =>
    value === null || value === undefined ? styled(cell, 2, color) : cell;
  const widths = columnWidths([names, ...texts], width);
  if (widths === null) {
    const above = names.filter((_, index) => heads[index]?.origin).map((name) => `${styled(name, 2, color)}\n\n`);
    const labels = heads.map(({ name }) => safe(name));
    return `${above.join('')}${cards(labels, texts, { width, paint: (cell, at, index) => paint(cell, rows[at]?.[index]) })}`;
  }
  const right = heads.map(({ align }, index) => (align ? align === 'right' : isNumeric(rows, index)));
  const lines = (cells: readonly string[], painted: (cell: string, index: number) => string) =>
    linesOf(cells, widths).map((line) =>
      line
        .map((cell, index) => painted(padded(cell, widths[index] ?? 0, right[index] === true), index))
        .join(GAP)
        .trimEnd(),
    );
  const header = lines(names, (cell) => styled(cell, 1, color));
  const rule = styled(widths.map((cells) => '─'.repeat(cells)).join(GAP), 2, color);
  const body = texts.flatMap((cells, at) => lines(cells, (cell, index) => paint(cell, rows[at]?.[index])));
  return printed([...header, rule, ...body]);
}

function cellText(value: unknown, color: boolean): string {
  if (value === null || value === undefined) return color ? NULL_SIGN : '';
  return safe(plainText(value));
}

function isNumeric(rows: readonly (readonly unknown[])[], index: number): boolean {
  const values = rows.map((row) => row[index]).filter((value) => value !== null && value !== undefined);
  return values.length > 0 && values.every((value) => typeof value === 'number' || typeof value === 'bigint');
}

/** As wide as the text needs; else the widest columns are narrowed as far as their words allow. Null: it does not fit. */
function columnWidths(texts: readonly (readonly string[])[], width: number | undefined): number[] | null {
  const most = (measure: (text: string) => number) =>
    (texts[0] ?? []).map((_, index) =>
      texts.reduce((longest, cells) => Math.max(longest, measure(cells[index] ?? '')), 1),
    );
  const whole = most(cellsOf);
  let excess =
    whole.reduce((sum, cells) => sum + cells + GAP.length, -GAP.length) - (width ?? Number.POSITIVE_INFINITY);
  if (excess <= 0) return whole;
  const least = most((text) => text.split(' ').reduce((longest, word) => Math.max(longest, cellsOf(word)), 0));
  const widths = [...whole];
  for (; excess > 0; excess--) {
    const widest = Math.max(...widths.map((cells, index) => (cells > (least[index] ?? 0) ? cells : 0)));
    if (widest === 0) return null;
    widths[widths.findIndex((cells, index) => cells === widest && cells > (least[index] ?? 0))] = widest - 1;
  }
  return texts.every((cells) => linesOf(cells, widths).length <= MAX_LINES) ? widths : null;
}

/** The lines of a row, each with a text for every column. */
function linesOf(cells: readonly string[], widths: readonly number[]): string[][] {
  const wrappedCells = cells.map((cell, index) => wrappedLines(cell, widths[index] ?? 0));
  const height = Math.max(...wrappedCells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, at) => wrappedCells.map((lines) => lines[at] ?? ''));
}

function padded(text: string, cells: number, right: boolean): string {
  const padding = ' '.repeat(Math.max(0, cells - cellsOf(text)));
  return right ? padding + text : text + padding;
}

/** Sentences below a table, after an empty line. */
export function notesText(notes: readonly string[], { width, color = false }: TableOptions = {}): string {
  const lines = notes.map((note) => styled(wrapped(safe(note), width), 2, color));
  return lines.length === 0 ? '' : printed(['', ...lines]);
}

/** A table in Markdown as GitHub and many others read it, and sentences below it. Text of others is never markup. */
export function markdownTable(
  columns: readonly (string | Column)[],
  rows: readonly (readonly unknown[])[],
  notes: readonly string[],
): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const heads = columns.map((column) => (typeof column === 'string' ? { name: column } : column));
  const cell = (value: unknown) => markdownText(cellText(value, false));
  return printed([
    line(heads.map(({ name }) => markdownText(safe(name)))),
    line(
      heads.map(({ align }, index) =>
        (align ?? (isNumeric(rows, index) ? 'right' : 'left')) === 'right' ? '---:' : '---',
      ),
    ),
    ...rows.map((row) => line(heads.map((_, index) => cell(row[index])))),
    ...notes.flatMap((note) => ['', markdownText(safe(note))]),
  ]);
}

/** A URL stays a link where it cannot be taken for anything else. */
function markdownText(text: string): string {
  return MARKDOWN_LINK.test(text) ? `<${text}>` : text.replace(MARKDOWN, '\\$&');
}

/** Each row as lines of label and value, with an empty line between rows. */
function cards(
  names: readonly string[],
  texts: readonly (readonly string[])[],
  { width, paint }: { width: number | undefined; paint(cell: string, row: number, column: number): string },
): string {
  const labels = Math.max(...names.map((name) => cellsOf(name)));
  const left = Math.max(1, (width ?? Number.POSITIVE_INFINITY) - labels - GAP.length);
  const card = (cells: readonly string[], at: number) =>
    names.flatMap((name, index) =>
      wrappedLines(cells[index] ?? '', left).map((line, part) =>
        `${padded(part === 0 ? name : '', labels, false)}${GAP}${paint(line, at, index)}`.trimEnd(),
      ),
    );
  return printed(texts.flatMap((cells, at) => [...(at > 0 ? [''] : []), ...card(cells, at)]));
}

function printed(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`.replace(NO_BREAK, ' ');
}

function styled(text: string, on: 1 | 2, color: boolean): string {
  return color ? `\x1b[${on}m${text}\x1b[22m` : text;
}

/** Wraps a line between words to a number of cells; without one it stays as it is. */
export function wrapped(text: string, width: number | undefined): string {
  return width === undefined ? text : wrappedLines(text, width).join('\n');
}

function wrappedLines(text: string, width: number): string[] {
  if (cellsOf(text) <= width) return [text];
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    const longer = `${line} ${word}`;
    if (line !== undefined && cellsOf(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
