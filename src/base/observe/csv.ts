const FORMULA = /^[=+\-@\t\r]/;

export interface CsvOptions {
  /** Spreadsheets run text that begins like a formula: such text gets a leading apostrophe. On unless switched off. */
  guardFormulas?: boolean;
}

/** CSV as in RFC 4180: lines end with CR LF, null is an empty field, empty text is `""`. One value per column. */
export function formatCsv(
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
  { guardFormulas = true }: CsvOptions = {},
): string {
  const line = (cells: readonly unknown[]) =>
    `${columns.map((_, index) => csvField(cells[index], guardFormulas)).join(',')}\r\n`;
  return [columns, ...rows].map(line).join('');
}

/** CSV part by part; the header comes once, even without rows. */
export async function* csvText(
  columns: readonly string[],
  parts: AsyncIterable<readonly (readonly unknown[])[]>,
  options: CsvOptions = {},
): AsyncGenerator<string> {
  const header = formatCsv(columns, [], options);
  yield header;
  for await (const rows of parts) yield formatCsv(columns, rows, options).slice(header.length);
}

/** One value as text. */
export function plainText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  return typeof value === 'object' ? JSON.stringify(value, jsonSafe) : String(value);
}

/** For `JSON.stringify`: BigInts as numbers while exact, else as text. */
export function jsonSafe(_key: string, value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  return BigInt.asIntN(54, value) === value ? Number(value) : String(value);
}

function csvField(value: unknown, guard: boolean): string {
  if (value === null || value === undefined) return '';
  const text = plainText(value);
  const guarded = guard && typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text;
  return guarded === '' || /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}
