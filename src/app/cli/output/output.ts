import { plainText } from '../../../base/observe/csv.js';
import { count } from '../../../base/observe/format.js';
import { cellsOf, escapedJson, safe } from '../../../base/observe/terminal.js';

/** Pretty JSON with a line break at the end. */
export function formatJson(value: unknown): string {
  return `${escapedJson(JSON.stringify(value, null, 2) ?? 'null')}\n`;
}

/** One line per warning, each after an empty line. */
export function warningLines(warnings: readonly string[]): string {
  return warnings.map((warning) => `\n! ${safe(warning)}\n`).join('');
}

/** A table of records, a column for each name: numbers with separators and on the right. Nothing without records. */
export function recordTable(
  records: readonly Readonly<Record<string, string | number>>[],
  options: TableOptions = {},
): string {
  const [first = {}] = records;
  if (records.length === 0) return '';
  const columns = Object.entries(first).map(([name, value]): Column => {
    return { name, align: typeof value === 'number' ? 'right' : 'left' };
  });
  const cell = (value: string | number | undefined) => (typeof value === 'number' ? count(value) : value);
  return formatTable(
    columns,
    records.map((record) => columns.map(({ name }) => cell(record[name]))),
    options,
  );
}

const GAP = '  ';
/** If a row has more lines than this, rows are easier to read as cards. */
const MOST_LINES = 4;
const NULL_SIGN = '∅';
/** Joins words that stay on one line, such as those of a date; printed as a plain space. */
const NO_BREAK = /\u00a0/g;

/** Characters with a meaning in Markdown. */
const MARKDOWN = /[\\`*_{}[\]<>|~&#]/g;
const MARKDOWN_LINK = /^https?:\/\/[^\s<>|\\]+$/;

export interface Column {
  name: string;
  /** Default: numbers right, everything else left. */
  align?: 'left' | 'right';
  /** What its URLs begin with: named once, in the head or above the cards. */
  origin?: string;
}

export interface TableOptions {
  /** Width of the terminal in cells; without it nothing is wrapped, as in a file or a pipe. */
  width?: number | undefined;
  color?: boolean | undefined;
  /** How a missing value is written; cards leave it out then. Default: a sign if there are colours, else nothing. */
  unknown?: string | undefined;
}

/** Columns of numbers, aligned right. */
export function figures(...names: readonly string[]): Column[] {
  return names.map((name) => ({ name, align: 'right' }));
}

/**
 * A plain table with a header and a light rule, ending with a line break. Rows hold one value per column. Nothing is
 * cut: if the table is wider than the terminal, cells are wrapped between words; if that is not enough, each row
 * becomes a card with a line for each column.
 */
export function formatTable(
  columns: readonly (string | Column)[],
  rows: readonly (readonly unknown[])[],
  options: TableOptions = {},
): string {
  const { width, color = false } = options;
  const heads = columns.map((column) => (typeof column === 'string' ? { name: column } : column));
  const names = heads.map(({ name, origin }) => safe(origin ? `${name} on ${origin}` : name));
  const texts = rows.map((row) => heads.map((_, index) => cellText(row[index], options)));
  const widths = columnWidths(names, texts, width);
  if (widths === null) return cards(heads, rows, options);
  const right = heads.map((head, index) => isRight(head, rows, index));
  const lines = (cells: readonly string[], painted: (cell: string, index: number) => string) =>
    linesOf(cells, widths).map((line) =>
      line
        .map((cell, index) => painted(padded(cell, widths[index] ?? 0, right[index] === true), index))
        .join(GAP)
        .trimEnd(),
    );
  const header = lines(names, (cell) => styled(cell, 1, color));
  const rule = styled(widths.map((cells) => '─'.repeat(cells)).join(GAP), 2, color);
  const body = texts.flatMap((cells, at) => lines(cells, (cell, index) => painted(cell, rows[at]?.[index], color)));
  return printed([...header, rule, ...body]);
}

/** Each row as lines of label and value, with an empty line between rows. */
function cards(heads: readonly Column[], rows: readonly (readonly unknown[])[], options: TableOptions): string {
  const { width = Number.POSITIVE_INFINITY, color = false, unknown } = options;
  const names = heads.map(({ name }) => safe(name));
  const labels = Math.max(...names.map((name) => cellsOf(name)));
  const left = Math.max(1, width - labels - GAP.length);
  const above = heads.flatMap(({ name, origin }) => (origin ? [safe(`${name} on ${origin}`), ''] : []));
  const card = (row: readonly unknown[]) =>
    names.flatMap((name, index) => {
      if (isMissing(row[index]) && unknown !== undefined) return [];
      return wrappedLines(cellText(row[index], options), left).map((line, part) =>
        `${padded(part === 0 ? name : '', labels, false)}${GAP}${painted(line, row[index], color)}`.trimEnd(),
      );
    });
  return printed([...above, ...rows.flatMap((row, at) => [...(at > 0 ? [''] : []), ...card(row)])]);
}

function cellText(value: unknown, { color, unknown }: TableOptions): string {
  return isMissing(value) ? (unknown ?? (color ? NULL_SIGN : '')) : safe(plainText(value));
}

function isMissing(value: unknown): boolean {
  return value === null || value === undefined;
}

function painted(cell: string, value: unknown, color: boolean): string {
  return isMissing(value) ? styled(cell, 2, color) : cell;
}

/** Whether a column is aligned right; by default, numbers are. */
function isRight({ align }: Column, rows: readonly (readonly unknown[])[], index: number): boolean {
  if (align) return align === 'right';
  const values = rows.map((row) => row[index]).filter((value) => !isMissing(value));
  return values.length > 0 && values.every((value) => typeof value === 'number');
}

/**
 * The widths that the text needs; if they do not fit, heads are wrapped, and then the widest column. Null if the table
 * still does not fit, or rows would be too high.
 */
function columnWidths(
  names: readonly string[],
  texts: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): number[] | null {
  const widths = (head: (name: string) => number) =>
    names.map((name, at) => texts.reduce((most, cells) => Math.max(most, cellsOf(cells[at] ?? '')), head(name)));
  const excessOf = (all: readonly number[]) =>
    all.reduce((sum, cells) => sum + cells + GAP.length, -GAP.length) - width;
  const whole = widths(cellsOf);
  if (excessOf(whole) <= 0) return whole;
  const narrow = widths(longestWord);
  const most = Math.max(...narrow);
  const [widest, room] = [narrow.indexOf(most), most - Math.max(0, excessOf(narrow))];
  const fits = (text = '') => longestWord(text) <= room && wrappedLines(text, room).length <= MOST_LINES;
  return fits(names[widest]) && texts.every((cells) => fits(cells[widest])) ? narrow.with(widest, room) : null;
}

function longestWord(text: string): number {
  return text.split(' ').reduce((longest, word) => Math.max(longest, cellsOf(word)), 0);
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

/** A table in GitHub's Markdown, and sentences below it. Texts from outside never become markup. */
export function markdownTable(
  columns: readonly (string | Column)[],
  rows: readonly (readonly unknown[])[],
  { notes, unknown }: { notes: readonly string[]; unknown?: string | undefined },
): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const heads = columns.map((column) => (typeof column === 'string' ? { name: column } : column));
  return printed([
    line(heads.map(({ name }) => markdownText(safe(name)))),
    line(heads.map((head, index) => (isRight(head, rows, index) ? '---:' : '---'))),
    ...rows.map((row) => line(heads.map((_, index) => markdownText(cellText(row[index], { unknown }))))),
    ...notes.flatMap((note) => ['', markdownText(safe(note))]),
  ]);
}

/** A text without markup; a URL stays a link if it cannot be read as anything else. */
function markdownText(text: string): string {
  return MARKDOWN_LINK.test(text) ? `<${text}>` : text.replace(MARKDOWN, '\\$&');
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
