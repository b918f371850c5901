import {
  DuckDBArrayValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBMapValue,
  DuckDBStructValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBUnionValue,
  type DuckDBValue,
  DuckDBVariantValue,
} from '@duckdb/node-api';

/** A value of an answer as JSON has it. */
export type Value = string | number | boolean | null | Value[] | { [name: string]: Value };

/** JavaScript's numbers keep this many decimal digits whole. */
const EXACT_DIGITS = 15;
const MS_PER_DAY = 86_400_000;

/**
 * A DuckDB value as JSON: times as ISO 8601 in UTC with milliseconds, dates as `YYYY-MM-DD`, whole and decimal numbers
 * as numbers where those are exact and else as text, lists as arrays, structs and maps as objects, a JSON column as
 * its text; NaN and infinities, which JSON lacks, as null. Everything else is DuckDB's own
 * text. The class of a value is what tells its column's type.
 */
export function toValue(value: DuckDBValue): Value {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof DuckDBDecimalValue) return decimal(value);
  if (value instanceof DuckDBDateValue) return value.isFinite ? iso(value.days * MS_PER_DAY, 10, value) : null;
  const ms = milliseconds(value);
  if (ms !== undefined) return ms === null ? null : iso(ms, undefined, value);
  return nested(value);
}

function decimal(value: DuckDBDecimalValue): number | string {
  const digits = String(value.value).replace('-', '').length;
  return digits <= EXACT_DIGITS ? Number(value.toString()) : value.toString();
}

/** Milliseconds since 1970, rounded down; null for an infinity, undefined where the value is no time. */
function milliseconds(value: DuckDBValue): number | null | undefined {
  if (value instanceof DuckDBTimestampTZValue || value instanceof DuckDBTimestampValue)
    return value.isFinite ? floored(value.micros, 1000n) : null;
  if (value instanceof DuckDBTimestampMillisecondsValue) return value.isFinite ? Number(value.millis) : null;
  if (value instanceof DuckDBTimestampSecondsValue) return value.isFinite ? Number(value.seconds) * 1000 : null;
  if (value instanceof DuckDBTimestampNanosecondsValue) return value.isFinite ? floored(value.nanos, 1_000_000n) : null;
  return undefined;
}

/** Division of BigInts rounds towards zero, which for times before 1970 is upwards. */
function floored(value: bigint, unit: bigint): number {
  const quotient = value / unit;
  return Number(value % unit < 0n ? quotient - 1n : quotient);
}

/** DuckDB knows years that JavaScript does not: those keep DuckDB's text. */
function iso(ms: number, length: number | undefined, value: { toString(): string }): string {
  const at = new Date(ms);
  const year = Number.isNaN(at.getTime()) ? Number.NaN : at.getUTCFullYear();
  return year >= 0 && year <= 9999 ? at.toISOString().slice(0, length) : value.toString();
}

function nested(value: Exclude<DuckDBValue, null>): Value {
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue) return value.items.map(toValue);
  if (value instanceof DuckDBStructValue) {
    return Object.fromEntries(Object.entries(value.entries).map(([name, item]) => [name, toValue(item)]));
  }
  if (value instanceof DuckDBMapValue) {
    return Object.fromEntries(value.entries.map((entry) => [keyText(toValue(entry.key)), toValue(entry.value)]));
  }
  if (value instanceof DuckDBUnionValue || value instanceof DuckDBVariantValue) return toValue(value.value);
  return value.toString();
}

/** The keys of an object are texts. */
function keyText(key: Value): string {
  return typeof key === 'string' ? key : JSON.stringify(key);
}
