import { InvalidArgumentError } from 'commander';
import { isCalendarDate } from '../../../base/time.js';

/** The option of commands that can read a warehouse without a configuration. */
export const WAREHOUSE = ['--warehouse <folder>', 'the warehouse folder, instead of the configured one'] as const;

/** Reads a whole number. */
export function wholeNumber(least = 0, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const range = most === Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`;
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number ${range}.`);
  };
}

/** Reads a calendar date, such as 2026-11-01. */
export function calendarDate(text: string): string {
  if (isCalendarDate(text)) return text;
  throw new InvalidArgumentError('It must be a date such as 2026-11-01.');
}

/** Collects an option that may be repeated. */
export function repeated(text: string, before: string[] = []): string[] {
  return [...before, text];
}

/** Reads names that are separated by commas. */
export function columnNames(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.some((name) => name === '')) throw new InvalidArgumentError('Write them like url,snapshot_date.');
  return names;
}

/** Reads a path prefix, or nothing. */
export function prefix(text: string): string {
  if (/^(?:\/[A-Za-z0-9._~-]+)*$/.test(text)) return text;
  throw new InvalidArgumentError('Write it like /tenant/api.');
}

/** Reads requests a minute, or `unlimited`. */
export function requestRate(text: string): number | 'unlimited' {
  return text === 'unlimited' ? text : wholeNumber(1, 1_000_000_000)(text);
}

/** Only the form is read here; kinds and rates are checked where they are used. */
export function faultRates(text: string): unknown {
  return Object.fromEntries(text.split(',').map(faultRate));
}

function faultRate(text: string): [string, number] {
  const [, kind, rate] = /^(\w+)=(\d*\.?\d+)$/.exec(text.trim()) ?? [];
  if (kind === undefined) throw new InvalidArgumentError(`"${text}" is not of the form kind=rate.`);
  return [kind, Number(rate)];
}
