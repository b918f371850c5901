import { z } from 'zod';
import { says } from './scalars.js';

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

interface Field {
  name: string;
  min: number;
  max: number;
  /** Names that may stand for numbers, the first for `min`. */
  names: string[];
}

const FIELDS: Field[] = [
  { name: 'minute', min: 0, max: 59, names: [] },
  { name: 'hour', min: 0, max: 23, names: [] },
  { name: 'day of the month', min: 1, max: 31, names: [] },
  { name: 'month', min: 1, max: 12, names: MONTHS },
  { name: 'day of the week', min: 0, max: 7, names: DAYS },
];

/** A job's time: a cron expression of five fields, or false for a job that is switched off. */
export function cron() {
  const remedy =
    'Write five fields in quotes, such as "0 2 * * *" for 02:00 every day, or false to switch the job off.';
  return z.union(
    [
      z.literal(false),
      z.string().superRefine((value, context) => {
        const problem = cronProblem(value);
        if (problem) context.addIssue({ code: 'custom', message: `${problem}\n${remedy}` });
      }),
    ],
    says('is not a cron expression', remedy),
  );
}

/** What is wrong with a cron expression's form, or null. */
export function cronProblem(expression: string): string | null {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== FIELDS.length) return 'is not a cron expression of five fields';
  for (const [index, field] of FIELDS.entries()) {
    const parts = fields[index]?.split(',') ?? [];
    if (!parts.every((part) => fits(part, field)))
      return `is not a cron expression: its ${field.name} is out of form or range`;
  }
  return null;
}

function fits(part: string, field: Field): boolean {
  const [, range = '', step] = /^([^/]+)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
  if (step !== undefined && (Number(step) < 1 || !/^\*$|-/.test(range))) return false;
  if (range === '*') return true;
  const ends = range.split('-').map((end) => numberOf(end, field));
  const [from, to = from] = ends;
  return (
    ends.length <= 2 && from !== undefined && to !== undefined && from >= field.min && to <= field.max && from <= to
  );
}

function numberOf(end: string, field: Field): number {
  const named = field.names.indexOf(end.toLowerCase());
  if (named >= 0) return named + field.min;
  return /^\d{1,2}$/.test(end) ? Number(end) : Number.NaN;
}
