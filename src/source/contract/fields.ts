import { z } from 'zod';

/**
 * The forms of single values in the API. Everything here is a plain pattern, because a check that calls a function for
 * each string costs more than the rest of the validation together.
 */

/** An absolute URL: scheme, `://`, a host, and no white space or control character (escape sequences included). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it keeps out
export const ABSOLUTE_URL = /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^\x00-\x20\x7f/?#][^\x00-\x20\x7f]*$/;

/**
 * ISO 8601 with `Z` or an offset, whole seconds or up to microseconds (what TIMESTAMPTZ keeps without loss), and a year
 * that every reader of Parquet can show, in UTC, too.
 */
const TIMESTAMP =
  /^(?!0000|(?:0001|9999).*[+-]\d{2}:)\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?(?:Z|[+-]\d{2}:\d{2})$/;

export const text = z.string();
export const absoluteUrl = z.string().regex(ABSOLUTE_URL, 'is not an absolute URL');
export const timestamp = z.iso
  .datetime({ offset: true, error: 'is not an ISO 8601 time with Z or an offset' })
  .regex(TIMESTAMP, {
    error: 'is not an ISO 8601 time of the years 0001 to 9999 with at most microseconds',
  });
/** 32 bits, because that is what an INTEGER column holds. */
export const integer = z.int32();
export const truth = z.boolean();

const SQL_TYPES: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [text, 'VARCHAR'],
  [absoluteUrl, 'VARCHAR'],
  [timestamp, 'TIMESTAMPTZ'],
  [integer, 'INTEGER'],
  [truth, 'BOOLEAN'],
]);

/** DuckDB's type of a field of these forms, or of an object of such fields. */
export function sqlType(schema: unknown): string {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return sqlType(schema.unwrap());
  if (schema instanceof z.ZodArray) return `${sqlType(schema.element)}[]`;
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape).map(([name, field]) => `${name} ${sqlType(field)}`);
    return `STRUCT(${fields.join(', ')})`;
  }
  const type = SQL_TYPES.get(schema);
  if (type === undefined) throw new TypeError('a field of the contract has a form that no column holds');
  return type;
}
