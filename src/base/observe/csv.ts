/** How text begins that a spreadsheet runs, with full-width signs, and behind what it does not show. */
const FORMULA = /^(?:[\t\r\n]|[\s\p{C}]*[=+\-@＝＋－＠])/u;
/** Excel reads a file without this mark in the machine's own code page. */
const BYTE_ORDER_MARK = '\ufeff';

/**
 * CSV as in RFC 4180, part by part: lines end with CR LF, null is an empty field, empty text is `""`. One value per column;
 * the header comes also without rows.
 *
 * @param options `isRaw`: for no spreadsheet; otherwise text that begins like a formula gets a leading apostrophe, and a
 *   file (`isFile`) a byte order mark
 */
export async function* csvText(
  columns: readonly string[],
  parts: AsyncIterable<readonly (readonly unknown[])[]>,
  { isRaw, isFile }: { isRaw: boolean; isFile: boolean },
): AsyncGenerator<string> {
  const line = (cells: readonly unknown[]) =>
    `${columns.map((_, index) => csvField(cells[index], !isRaw)).join(',')}\r\n`;
  yield `${isFile && !isRaw ? BYTE_ORDER_MARK : ''}${line(columns)}`;
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
