import { count } from '../observe/format.js';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** What can be compared with the time before. */
export interface Figure {
  now: number;
  /** Null where there is nothing to compare with. */
  before: number | null;
}

/** A change with its sign: `+12`, `−3`, `±0`. */
export function signed(change: number): string {
  if (change === 0) return '±0';
  return change > 0 ? `+${count(change)}` : `−${count(-change)}`;
}

/** A share from 0 to 1 as `78.6%`; nothing where it is not known. */
export function percent(share: number | null): string {
  return share === null ? '' : `${(share * 100).toFixed(1)}%`;
}

/** From 0 to 1; null where it is not known. */
export function shareOf(part: number | null, whole: number | null): number | null {
  return part === null || !whole ? null : part / whole;
}

/** The difference of two shares in percentage points. */
export function points(from: number, to: number): string {
  const change = Math.round((to - from) * 1000) / 10;
  return `${change > 0 ? '+' : change < 0 ? '−' : '±'}${Math.abs(change).toFixed(1)} points`;
}

export function changeOf({ now, before }: Figure): number | null {
  return before === null ? null : now - before;
}

/** `1 page`, `2 pages`. */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** A date as `Mar 31`, where the year goes without saying. */
export function dayOfMonth(date: string): string {
  return `${MONTHS[Number(date.slice(5, 7)) - 1]}\u00a0${Number(date.slice(8, 10))}`;
}

/** A time of ISO 8601 as `2025-03-31 02:00 UTC`. */
export function moment(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
}
