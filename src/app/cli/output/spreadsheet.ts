import type { Analysis } from '../../../answers/query/catalog.js';
import type { Result } from '../../../answers/query/question.js';
import { UsageError } from '../../../base/exit.js';
import { plainText } from '../../../base/observe/csv.js';
import { count } from '../../../base/observe/format.js';
import type { Value } from '../../../base/storage/values.js';

/** The most rows of a sheet, below its row of heads. */
export const MOST_ROWS = 1_048_576 - 1;
const MOST_CHARACTERS = 32_767;
/** Excel has no dates before this year. */
const FIRST_YEAR = '1900';
const NUMBER_FORMATS = { date: 'yyyy-mm-dd', time: 'yyyy-mm-dd hh:mm:ss', other: undefined } as const;
const SHARE_FORMAT = '0.0%';
const WIDTHS = { date: 12, time: 20, url: 60, other: 18 } as const;
/** Text that a spreadsheet would read as an escaped character. */
const ESCAPE_LIKE = /_(?=x[0-9a-f]{4}_)/gi;

/**
 * An answer as the bytes of an XLSX file, row by row. Times, numbers and booleans keep their types; every text stays
 * text, even one that looks like a formula.
 *
 * @param analysis of the answer, whose shares are shown as percentages; null for the user's own SQL
 * @throws UsageError for a text that is too long for a cell
 */
export async function* spreadsheet(
  { columns, types, parts }: Result,
  analysis: Analysis | null,
): AsyncGenerator<Uint8Array> {
  // Loaded here, because only spreadsheets need it.
  const { writeXlsxStream } = await import('hucre/xlsx');
  const kinds = new Map(analysis?.shown.map(({ column, kind }) => [column, kind]));
  const heads = columns.map((header, at) => {
    const type = types[at] ?? 'other';
    const isUrl = kinds.get(header) === 'url' || header === 'url';
    const numFmt = kinds.get(header) === 'share' ? SHARE_FORMAT : NUMBER_FORMATS[type];
    return { header, width: WIDTHS[isUrl ? 'url' : type], ...(numFmt ? { numFmt } : {}) };
  });
  async function* rows() {
    for await (const part of parts) {
      for (const row of part) yield row.map((value, at) => cellOf(value, types[at] ?? 'other', columns[at] ?? ''));
    }
  }
  yield* writeXlsxStream(rows(), { name: analysis?.name ?? 'answer', columns: heads, freezePane: { rows: 1 } });
}

function cellOf(value: Value, type: Result['types'][number], column: string): string | number | boolean | Date | null {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  const text = plainText(value);
  if (type !== 'other' && /^\d{4}-/.test(text) && text >= FIRST_YEAR) return new Date(text);
  if (text.length > MOST_CHARACTERS) {
    throw new UsageError(
      `a text of ${count(text.length)} characters in ${column}: a cell of a spreadsheet holds ${count(MOST_CHARACTERS)}. Use csv, json or parquet, or leave the column out with --columns`,
    );
  }
  return text.replace(ESCAPE_LIKE, '_x005F_');
}
