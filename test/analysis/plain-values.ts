import {
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBValue,
} from '@duckdb/node-api';
import type { Value } from '../../src/analysis/values.js';

const MS_PER_DAY = 86_400_000n;

/** What an answer holds of a value, found by the value's own class and JavaScript's `Date` alone: slow, but plain. */
export function plainValue(value: DuckDBValue): Value {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'bigint')
    return BigInt(Number(value)) === value && isSafe(value) ? Number(value) : String(value);
  if (value instanceof DuckDBListValue) return value.items.map(plainValue);
  if (value instanceof DuckDBDecimalValue) {
    const isExact = value.value > -(10n ** 15n) && value.value < 10n ** 15n;
    return isExact ? Number(value.toString()) : value.toString();
  }
  const at = finiteMs(value);
  if (at === undefined) throw new Error(`no plain value of ${String(value)}`);
  return at === null ? null : textOf(at, value);
}

function isSafe(value: bigint): boolean {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER);
}

/** Milliseconds since 1970, rounded down; null for an infinity. */
function finiteMs(value: DuckDBValue): bigint | null | undefined {
  if (value instanceof DuckDBDateValue) return value.isFinite ? BigInt(value.days) * MS_PER_DAY : null;
  if (value instanceof DuckDBTimestampTZValue || value instanceof DuckDBTimestampValue)
    return value.isFinite ? floor(value.micros, 1000n) : null;
  if (value instanceof DuckDBTimestampMillisecondsValue) return value.isFinite ? value.millis : null;
  if (value instanceof DuckDBTimestampSecondsValue) return value.isFinite ? value.seconds * 1000n : null;
  if (value instanceof DuckDBTimestampNanosecondsValue) return value.isFinite ? floor(value.nanos, 1_000_000n) : null;
  return undefined;
}

function floor(value: bigint, unit: bigint): bigint {
  return (value - (((value % unit) + unit) % unit)) / unit;
}

function textOf(ms: bigint, value: DuckDBValue): string {
  const at = new Date(Number(ms));
  const year = at.getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) return String(value);
  return value instanceof DuckDBDateValue ? at.toISOString().slice(0, 10) : at.toISOString();
}
