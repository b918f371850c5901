import type { Analysis, Kind } from '../../../answers/query/catalog.js';
import { count, counted, dayOfMonth, percent, signed } from '../../../base/observe/format.js';
import type { Value } from '../../../base/storage/values.js';
import type { Column } from './output.js';

/** The sign for an unknown value. */
export const UNKNOWN = '–';
const ORIGIN = /^https?:\/\/[^/?#\s]+(?=\/)/;
/** From this many rows on, a column with the same value in each row becomes a sentence below the table. */
const LEAST_ROWS = 3;
/** Smaller numbers would show as 0 or nearly so with two decimals. */
const SMALL = 0.1;
const FIGURES: ReadonlySet<Kind> = new Set(['count', 'number', 'change', 'share']);

/** The answer of an analysis, and what is needed to show it to people. */
export interface Answer {
  analysis: Analysis;
  columns: readonly string[];
  rows: readonly (readonly Value[])[];
  /** Columns that the user chose; undefined: those that the analysis shows. */
  chosen?: readonly string[] | undefined;
  /** Names of the warehouse's websites, by id. */
  websites: ReadonlyMap<string, string>;
  /** `YYYY-MM-DD`; dates of another year show theirs. */
  today: string;
  /** Whether a limit has left out rows. */
  isCut: boolean;
}

/** A table for people: heads, texts, and the sentences below it. */
export interface AnswerTable {
  columns: Column[];
  /** Null for an unknown value. */
  rows: (string | null)[][];
  notes: string[];
}

/** A column as it is shown. */
interface Shown {
  kind: Kind;
  heading: string;
  values: readonly Value[];
}

/**
 * Lays out an answer as its analysis says. Leaves out columns that hold nothing to compare: empty ones, and those with
 * the same value in all rows, which a note below the table states instead.
 *
 * @param wholeUrls show URLs with their host, even if all share it
 */
export function answerTable(answer: Answer, wholeUrls = false): AnswerTable {
  const { chosen, rows, websites } = answer;
  const all = shownColumns(answer);
  const filled = chosen === undefined ? all.filter((column) => isFilled(column)) : all;
  const page = all.find(({ kind }) => kind === 'url');
  const varying = chosen === undefined ? filled.filter((column) => column === page || !isSame(column)) : all;
  const shown = varying.length > 0 ? varying : filled;
  const origin = wholeUrls ? null : originOf(page);
  const text = ({ kind, values }: Shown, at: number) => cellOf(values[at] ?? null, kind, { ...answer, origin });
  const same = filled
    .filter((column) => !shown.includes(column) && (column.kind !== 'website' || websites.size > 1))
    .map((column) => `${column.heading} ${text(column, 0) ?? UNKNOWN}`);
  return {
    columns: shown.map((column) => ({
      name: column.heading,
      ...(column === page && origin !== null ? { origin } : {}),
      align: FIGURES.has(column.kind) ? 'right' : 'left',
    })),
    rows: rows.map((_, at) => shown.map((column) => text(column, at))),
    notes: rows.length === 0 ? ['No rows.'] : notesOf(answer, shown, same),
  };
}

function shownColumns({ analysis, columns, rows, chosen }: Answer): Shown[] {
  const declared = new Map(analysis.shown.map((shown) => [shown.column, shown]));
  const picked = chosen?.map((column) => ({ column, kind: declared.get(column)?.kind ?? 'text', heading: column }));
  return (picked ?? analysis.shown).map(({ column, kind, heading }) => {
    const at = columns.indexOf(column);
    return { kind, heading, values: rows.map((row) => row[at] ?? null) };
  });
}

/** Whether a column has any value to show. */
function isFilled({ values }: Shown): boolean {
  return values.length === 0 || values.some((value) => value !== null && !(Array.isArray(value) && value.length === 0));
}

/** A figure that happens to be the same is still worth a column, unless it is 0. */
function isSame({ kind, values }: Shown): boolean {
  const [first] = values;
  if (first === undefined) return false;
  if (kind !== 'website' && (values.length < LEAST_ROWS || (FIGURES.has(kind) && first !== 0))) return false;
  const text = JSON.stringify(first);
  return values.every((value) => JSON.stringify(value) === text);
}

/** The scheme and host that all URLs share; null if there is none, or if a path could be mistaken. */
function originOf(page: Shown | undefined): string | null {
  const urls = (page?.values ?? []).flat().map(String);
  const origins = new Set(urls.filter((url) => /^(https?:|\/)/i.test(url)).map((url) => ORIGIN.exec(url)?.[0]));
  const [origin] = origins;
  return origins.size === 1 ? (origin ?? null) : null;
}

interface Showing extends Pick<Answer, 'websites' | 'today'> {
  origin: string | null;
}

function cellOf(value: Value, kind: Kind, showing: Showing): string | null {
  if (value === null || (Array.isArray(value) && value.length === 0)) return null;
  if (Array.isArray(value)) return value.map((item) => cellOf(item, kind, showing) ?? UNKNOWN).join(' ');
  if (typeof value === 'object') return JSON.stringify(value);
  return CELLS[kind](value, showing);
}

const CELLS: Record<Kind, (value: string | number | boolean, showing: Showing) => string> = {
  website: (id, { websites }) => websites.get(String(id)) ?? String(id),
  url: (value, { origin }) => withoutOrigin(String(value), origin),
  text: (value, { origin }) => withoutOrigin(String(value), origin),
  date: (value, { today }) => dayOf(String(value), today),
  time: (value, { today }) => `${dayOf(String(value), today)}\u00a0${String(value).slice(11, 16)}`,
  count: (value) => (typeof value === 'number' ? count(value) : String(value)),
  number: (value) => (typeof value === 'number' ? numberText(value) : String(value)),
  change: (value) => (typeof value === 'number' ? signed(value) : String(value)),
  share: (value) => (typeof value === 'number' ? percent(value) : String(value)),
  flag: (value) => (value === true ? 'yes' : value === false ? 'no' : String(value)),
};

/** A number with two decimals, or as many as a small one needs. */
function numberText(value: number): string {
  return value !== 0 && Math.abs(value) < SMALL ? String(Number(value.toPrecision(2))) : count(value);
}

/** A text in which URLs on the host that is named below the table are paths. */
function withoutOrigin(text: string, origin: string | null): string {
  if (origin === null || !text.includes(origin)) return text;
  return text
    .split(' ')
    .map((word) => (word.startsWith(`${origin}/`) ? word.slice(origin.length) : word))
    .join(' ');
}

/** `Nov 18`, or `Nov 18, 2025` in another year. */
function dayOf(date: string, today: string): string {
  if (!/^\d{4}-\d{2}-\d{2}/.test(date)) return date;
  return date.startsWith(today.slice(0, 5)) ? dayOfMonth(date) : `${dayOfMonth(date)},\u00a0${date.slice(0, 4)}`;
}

function notesOf({ rows, isCut }: Answer, shown: readonly Shown[], same: readonly string[]): string[] {
  const many = counted(rows.length, 'row');
  const first = [
    ...(isCut ? [] : [`${many}.`]),
    ...(same.length > 0 ? [`${rows.length === 1 ? 'Also' : 'In all of them'}: ${same.join('; ')}.`] : []),
    ...(shown.some(({ kind }) => kind === 'time') ? ['Times are UTC.'] : []),
  ].join(' ');
  return [...(first === '' ? [] : [first]), ...(isCut ? [`The first ${many}; all of them: limit=none`] : [])];
}
