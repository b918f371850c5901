import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../time.js';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A figure, and what it was before. */
export interface Figure {
  /** Null if it is unknown. */
  now: number | null;
  /** Null if there is nothing to compare with. */
  before: number | null;
}

/** Milliseconds in the two largest units that matter: `850ms`, `4s`, `3m 5s`, `2h 10m`, `3d 4h`. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return '∞';
  if (ms < 0) return `-${duration(-ms)}`;
  if (Math.round(ms) < SECOND_MS) return `${Math.round(ms)}ms`;
  const seconds = Math.round(ms / SECOND_MS) * SECOND_MS;
  if (seconds < MINUTE_MS) return `${seconds / SECOND_MS}s`;
  if (seconds < HOUR_MS) return pair(seconds, MINUTE_MS, 'm', SECOND_MS, 's');
  const minutes = Math.round(ms / MINUTE_MS) * MINUTE_MS;
  if (minutes < DAY_MS) return pair(minutes, HOUR_MS, 'h', MINUTE_MS, 'm');
  return pair(Math.round(ms / HOUR_MS) * HOUR_MS, DAY_MS, 'd', HOUR_MS, 'h');
}

/** How old something is; at least `just now`, even if this machine's clock is behind. */
export function age(ms: number): string {
  return ms < 0 ? 'just now' : duration(ms);
}

/** When something was: `3m 5s ago`. */
export function ago(ms: number): string {
  return ms < 0 ? 'just now' : `${duration(ms)} ago`;
}

function pair(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)}${largeName}${rest === 0 ? '' : ` ${rest}${smallName}`}`;
}

/** 1234567 → `1,234,567`. */
export function count(n: number): string {
  return n.toLocaleString('en-US', { maximumFractionDigits: 2 });
}

/** A count, or a dash if it is unknown. */
export function known(n: number | null): string {
  return n === null ? '–' : count(n);
}

/** A text as a sentence of its own. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replace(/\.?$/, '.');
}

/** A clause behind what a sentence has so far; nothing for null. */
export function clause(text: string | null): string {
  return text === null ? '' : `; ${text}`;
}

/** `1 page`, `2 pages`. */
export function counted(number: number, one: string, several = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : several}`;
}

/** Bytes in the largest unit that fits: `812 kB`, `45 MB`, `1.2 GB`. */
export function size(bytes: number): string {
  if (bytes >= 999.5e6) return `${(bytes / 1e9).toFixed(1)} GB`;
  return bytes >= 999e3 ? `${Math.round(bytes / 1e6)} MB` : `${Math.ceil(bytes / 1e3)} kB`;
}

/** A share from 0 to 1 as `78.6%`, and never 100% for less than all; empty if it is unknown. */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined) return '';
  const tenths = Math.round(share * 1000);
  return `${((share < 1 ? Math.min(tenths, 999) : tenths) / 10).toFixed(1)}%`;
}

/** From 0 to 1; null if it is unknown. */
export function shareOf(part: number | null, whole: number | null): number | null {
  return part === null || !whole ? null : part / whole;
}

/** The sum of two numbers; null, unknown, if one of them is. */
export function plus(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}

/** The difference of two shares in percentage points. */
export function points(from: number, to: number): string {
  const change = Math.round((to - from) * 1000) / 10;
  return `${change > 0 ? '+' : change < 0 ? '−' : '±'}${Math.abs(change).toFixed(1)} points`;
}

export function changeOf({ now, before }: Figure): number | null {
  return now === null || before === null ? null : now - before;
}

/** A change with its sign: `+12`, `−3`, `±0`; empty if it is unknown. */
export function signed(change: number | null): string {
  if (change === null) return '';
  if (change === 0) return '±0';
  return change > 0 ? `+${count(change)}` : `−${count(-change)}`;
}

/** A date as `Mar 31`, where the year is clear from the context. */
export function dayOfMonth(date: string): string {
  return `${MONTHS[Number(date.slice(5, 7)) - 1]}\u00a0${Number(date.slice(8, 10))}`;
}

/** A span of dates as `Mar 25 to 31`, `Mar 25 to Apr 2`, or one date. */
export function datesText(since: string, until: string): string {
  if (since === until) return dayOfMonth(since);
  const isOneMonth = since.slice(0, 7) === until.slice(0, 7);
  return `${dayOfMonth(since)} to ${isOneMonth ? Number(until.slice(8, 10)) : dayOfMonth(until)}`;
}

/** A span of dates as `2025-03-25 to 2025-04-02`, or one date. */
export function plainDates(since: string, until: string): string {
  return since === until ? since : `${since} to ${until}`;
}

/** A time, of ISO 8601 or in milliseconds since 1970, as `2025-03-31 02:00 UTC`. */
export function moment(time: string | number): string {
  const iso = typeof time === 'string' ? time : new Date(time).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

/** A word for a shell: bare if possible, else in single quotes. */
export function shellWord(text: string): string {
  return /^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The command that runs an analysis, harmless for the shell whatever the values are. */
export function queryCommand(name: string, parameters: Readonly<Record<string, string>>): string {
  const given = Object.entries(parameters).map(([key, value]) => ` ${shellWord(`${key}=${value}`)}`);
  return `indexhouse query ${name}${given.join('')}`;
}

/** Of websites with the same problem, so many are named. */
export const MOST_NAMED = 5;

/** A shorter id may be a word of the message. */
const LEAST_ID = 4;

/** Something to say, mostly about a website. */
export interface Said {
  kind: string;
  /** Null if it is about none in particular. */
  website_id: string | null;
  /** What people call the website. */
  website: string | null;
  message: string;
}

/** What has the same cause for one or several websites. */
export interface Cause<T> {
  /** Of several websites without what differs: the id of each. */
  message: string;
  /** The websites, such as `a, b and 3 more`; empty if it is about none. */
  names: string;
  all: [T, ...T[]];
}

/** Groups what is said for the same reason, in the order of the first of each group. */
export function causesIn<T extends Said>(said: readonly T[]): Cause<T>[] {
  return [...grouped(said, (one) => JSON.stringify([one.kind, withoutId(one)])).values()].map((all) => {
    const [first] = all;
    const isSame = all.every(({ message }) => message === first.message);
    const names = namesText(all.flatMap(({ website }) => website ?? []));
    return { message: isSame ? first.message : withoutId(first), names, all };
  });
}

/** The first names and how many more, such as `a, b and 3 more`. */
export function namesText(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${count(names.length - MOST_NAMED)} more` : '';
  return `${names.slice(0, MOST_NAMED).join(', ')}${more}`;
}

/** A sentence about a cause. */
export function causeText({ names, message }: Pick<Cause<unknown>, 'names' | 'message'>): string {
  return names === '' ? message : `${names}: ${message}`;
}

function withoutId({ website_id: id, message }: Said): string {
  if (id === null || id.length < LEAST_ID) return message;
  const written = [...new Set([id, encodeURIComponent(id)])];
  return written.reduce((text, one) => text.replaceAll(one, '…'), message);
}

export function grouped<T, K>(all: readonly T[], keyOf: (one: T) => K): Map<K, [T, ...T[]]> {
  const groups = new Map<K, [T, ...T[]]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group) group.push(one);
    else groups.set(keyOf(one), [one]);
  }
  return groups;
}
