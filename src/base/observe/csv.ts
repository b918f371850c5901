const FORMULA = /^[=+\-@\t\r]/;

/**
 * CSV as in RFC 4180, part by part: lines end with CR LF, null is an empty field, empty text is `""`. One value per column;
 * the header comes also without rows.
 *
 * @param options `guardFormulas`: spreadsheets run text that begins like a formula: such text gets a leading apostrophe
 */
export async function* csvText(
  columns: readonly string[],
  parts: AsyncIterable<readonly (readonly unknown[])[]>,
  { guardFormulas = true } = {},
): AsyncGenerator<string> {
  const line = (cells: readonly unknown[]) =>
    `${columns.map((_, index) => csvField(cells[index], guardFormulas)).join(',')}\r\n`;
  yield line(columns);
  for await (const rows of parts) yield rows.map(line).join('');
}

/** One value as text. */
export function plainText(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function csvField(value: unknown, guard: boolean): string {
  if (value === null || value === undefined) return '';
  const text = plainText(value);
  const guarded = guard && typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text;
  return guarded === '' || /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}
