import { count } from '../../../base/observe/format.js';
import { escapedJson, safe } from '../../../base/observe/terminal.js';
import { type Column, formatTable, type TableOptions } from './table.js';

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
