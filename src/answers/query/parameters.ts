import { z } from 'zod';
import { nearest } from '../../base/config/suggest.js';
import { UsageError } from '../../base/exit.js';
import type { Scalar } from '../../base/storage/engine.js';
import { addDays, isCalendarDate } from '../../base/time.js';

/** A parameter of a built-in analysis. */
export const parameterSchema = z.object({
  name: z.string(),
  type: z.enum(['text', 'integer', 'number', 'date', 'boolean']),
  /** As declared: a value, a relative date, or `none` or `all` for null. Null: the parameter is required. */
  default: z.string().nullable().describe('`all` and `none`: no restriction.'),
  description: z.string().min(1),
});
export type Parameter = z.infer<typeof parameterSchema>;

type Asked = { name: string; parameters: readonly Parameter[] };

const NULL_WORDS = new Set(['none', 'all']);
const RELATIVE = /^(\d{1,5}) (day|week)s? ago$/;

/**
 * The values of an analysis's parameters: the given ones, and the defaults of the others.
 *
 * @param today what relative dates count from, `YYYY-MM-DD`: the date of the newest snapshot
 * @throws UsageError for an unknown name, a missing one or a value of the wrong type, listing all parameters
 */
export function valuesOf(analysis: Asked, given: ReadonlyMap<string, string>, today: string): Record<string, Scalar> {
  const { parameters } = analysis;
  const refuse = (problem: string) => refusal(analysis, problem);
  const names = parameters.map(({ name }) => name);
  const unknown = [...given.keys()].find((name) => !names.includes(name));
  const meant = unknown && nearest(unknown, names);
  if (unknown !== undefined) throw refuse(`unknown parameter ${unknown}${meant ? ` (did you mean ${meant}?)` : ''}`);
  return Object.fromEntries(
    parameters.map((parameter) => {
      // Values copied from a Windows file may end in a carriage return.
      const text = given.get(parameter.name)?.trim() ?? parameter.default;
      if (text === null) throw refuse(`parameter ${parameter.name} is required: ${parameter.name}=…`);
      const value = readValue(parameter, text, today);
      const form = `${FORMS[parameter.type]}${isLimit(parameter) ? ', or none' : ''}`;
      if (value === undefined) throw refuse(`${parameter.name} is not ${form} (given: ${text})`);
      return [parameter.name, value];
    }),
  );
}

/** @throws UsageError if a period begins after its end */
export function checkPeriod(analysis: Asked, values: Readonly<Record<string, Scalar>>): void {
  const { since, until } = values;
  if (typeof since !== 'string' || typeof until !== 'string' || since <= until) return;
  throw refusal(analysis, `since (${since}) lies after until (${until})`);
}

/** A parameter in the form of its declaration: `since (date, default 6 days ago): first date`. */
export function describe(parameter: Parameter): string {
  const standing = parameter.default === null ? 'required' : `default ${parameter.default}`;
  return `${parameter.name} (${parameter.type}, ${standing}): ${parameter.description}`;
}

function refusal({ name, parameters }: Asked, problem: string): UsageError {
  const lines = parameters.map((parameter) => `  ${describe(parameter)}`);
  return new UsageError(`${name}: ${problem}.\nIts parameters are:\n${lines.join('\n')}`);
}

const FORMS: Record<Parameter['type'], string> = {
  text: 'a text',
  integer: 'a whole number from 0',
  number: 'a number',
  date: 'a date like 2025-03-31, `today`, `yesterday` or `7 days ago`',
  boolean: 'true or false',
};

/** `limit=none` lifts any default limit. */
function isLimit({ name, type }: Parameter): boolean {
  return name === 'limit' && type === 'integer';
}

/** Undefined: the text is not of the parameter's type. */
function readValue(parameter: Parameter, text: string, today: string): Scalar | undefined {
  // `none` and `all` mean "no restriction" only where that is the default: elsewhere they may be names.
  if (NULL_WORDS.has(text) && parameter.default === text) return null;
  if (text === 'none' && isLimit(parameter)) return null;
  return READ[parameter.type](text, today);
}

const READ: Record<Parameter['type'], (text: string, today: string) => Scalar | undefined> = {
  text: (text) => text,
  // All integers are counts, so none is negative.
  integer: (text) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined),
  number: (text) => (/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined),
  boolean: (text) => ({ true: true, yes: true, false: false, no: false })[text.toLowerCase()],
  date: dateOf,
};

function dateOf(text: string, today: string): string | undefined {
  if (isCalendarDate(text)) return text;
  if (text === 'today') return today;
  if (text === 'yesterday') return addDays(today, -1);
  const [, number, unit] = RELATIVE.exec(text) ?? [];
  return number === undefined ? undefined : addDays(today, -Number(number) * (unit === 'week' ? 7 : 1));
}
