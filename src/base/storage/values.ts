import type { DuckDBDecimalValue, DuckDBValue } from '@duckdb/node-api';
import { DAY_MS } from '../time.js';
import { duckdb } from './duckdb.js';

/** A value of an answer, as in JSON. */
export type Value = string | number | boolean | null | Value[] | { [name: string]: Value };

/** JavaScript's numbers are exact for this many decimal digits. */
const EXACT_DIGITS = 15;
const FIRST_ISO_MS = Date.parse('0000-01-01T00:00:00Z');
const LAST_ISO_MS = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * A DuckDB value as JSON: times as ISO 8601 in UTC with milliseconds, dates as `YYYY-MM-DD`, whole and decimal numbers
 * as numbers if those are exact and else as text, lists as arrays, structs and maps as objects, a JSON column as its
 * text; NaN and infinities, which JSON lacks, as null. Everything else is DuckDB's own text. The class of a value says
 * its column's type.
 */
export function toValue(value: DuckDBValue): Value {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof duckdb.DuckDBDecimalValue) return decimal(value);
  if ('isFinite' in value && !value.isFinite) return null;
  if (value instanceof duckdb.DuckDBDateValue) return isoTime(value.days * DAY_MS)?.slice(0, 10) ?? value.toString();
  const ms = milliseconds(value);
  // A year that JavaScript does not support has DuckDB's own text.
  return ms === undefined ? nested(value) : (isoTime(ms) ?? value.toString());
}

function decimal(value: DuckDBDecimalValue): number | string {
  const digits = String(value.value).replace('-', '').length;
  return digits <= EXACT_DIGITS ? Number(value.toString()) : value.toString();
}

/** Milliseconds since 1970, rounded down, of a time of any precision; undefined for any other value. */
function milliseconds(value: DuckDBValue): number | undefined {
  if (value instanceof duckdb.DuckDBTimestampTZValue || value instanceof duckdb.DuckDBTimestampValue)
    return floored(value.micros, 1000n);
  if (value instanceof duckdb.DuckDBTimestampMillisecondsValue) return Number(value.millis);
  if (value instanceof duckdb.DuckDBTimestampSecondsValue) return Number(value.seconds) * 1000;
  return value instanceof duckdb.DuckDBTimestampNanosecondsValue ? floored(value.nanos, 1_000_000n) : undefined;
}

/** Whole units, rounded down, also before 1970. */
function floored(value: bigint, unit: bigint): number {
  const rest = value % unit;
  return Number((value - rest) / unit) - (rest < 0n ? 1 : 0);
}

/** Milliseconds since 1970 as ISO 8601 in UTC; undefined if the year does not have four digits. */
function isoTime(ms: number): string | undefined {
  return ms >= FIRST_ISO_MS && ms <= LAST_ISO_MS ? new Date(ms).toISOString() : undefined;
}

function nested(value: Exclude<DuckDBValue, null>): Value {
  if (value instanceof duckdb.DuckDBListValue || value instanceof duckdb.DuckDBArrayValue)
    return value.items.map(toValue);
  if (value instanceof duckdb.DuckDBStructValue) {
    return Object.fromEntries(Object.entries(value.entries).map(([name, item]) => [name, toValue(item)]));
  }
  if (value instanceof duckdb.DuckDBMapValue) {
    return Object.fromEntries(value.entries.map((entry) => [keyText(toValue(entry.key)), toValue(entry.value)]));
  }
  if (value instanceof duckdb.DuckDBUnionValue || value instanceof duckdb.DuckDBVariantValue)
    return toValue(value.value);
  return value.toString();
}

/** A map's key as text, because the keys of an object are texts. */
function keyText(key: Value): string {
  return typeof key === 'string' ? key : JSON.stringify(key);
}
