import { nearest } from '../../base/config/suggest.js';
import { UsageError } from '../../base/exit.js';
import type { Scalar } from '../../base/storage/engine.js';
import { addDays, isCalendarDate } from '../../base/time.js';

export const PARAMETER_TYPES = ['text', 'integer', 'number', 'date', 'timestamp', 'boolean'] as const;
export type ParameterType = (typeof PARAMETER_TYPES)[number];

/** A parameter of a built-in analysis. */
export interface Parameter {
  name: string;
  type: ParameterType;
  /** As declared: a value, a relative date, or `none` or `all` for null. Null: the parameter is required. */
  default: string | null;
  description: string;
}

type Asked = { name: string; parameters: readonly Parameter[] };

const NULL_WORDS = new Set(['none', 'all']);
const RELATIVE = /^(\d{1,5}) (day|week)s? ago$/;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?$/;

/**
 * The values of an analysis's parameters: the given ones, and the defaults of the others.
 *
 * @param today what relative dates count from, `YYYY-MM-DD`: the date of the newest snapshot
 * @throws UsageError for an unknown name, a missing one or a value of the wrong type, listing all parameters
 */
export function valuesOf(analysis: Asked, given: ReadonlyMap<string, string>, today: string): Record<string, Scalar> {
  const { parameters } = analysis;
  const refuse = (problem: string) => refusal(analysis, problem);
  const unknown = [...given.keys()].find((name) => !parameters.some((parameter) => parameter.name === name));
  if (unknown !== undefined) throw refuse(unknownName(unknown, parameters));
  return Object.fromEntries(
    parameters.map((parameter) => {
      // Values copied from a Windows file may end in a carriage return.
      const text = given.get(parameter.name)?.trim() ?? parameter.default;
      if (text === null) throw refuse(`parameter ${parameter.name} is required: ${parameter.name}=…`);
      const value = readValue(parameter, text, today);
      if (value === undefined) throw refuse(`${parameter.name} is not ${formOf(parameter)} (given: ${text})`);
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

function describeAll(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return 'It takes no parameters.';
  const lines = parameters.map((parameter) => `  ${describe(parameter)}`);
  return `Its parameters are:\n${lines.join('\n')}`;
}

/** A parameter in the form of its declaration: `since (date, default 6 days ago): first date`. */
export function describe(parameter: Parameter): string {
  const standing = parameter.default === null ? 'required' : `default ${parameter.default}`;
  return `${parameter.name} (${parameter.type}, ${standing}): ${parameter.description}`;
}

function refusal({ name, parameters }: Asked, problem: string): UsageError {
  return new UsageError(`${name}: ${problem}.\n${describeAll(parameters)}`);
}

function unknownName(name: string, parameters: readonly Parameter[]): string {
  const meant = nearest(
    name,
    parameters.map((parameter) => parameter.name),
  );
  return `unknown parameter ${name}${meant ? ` (did you mean ${meant}?)` : ''}`;
}

const FORMS: Record<ParameterType, string> = {
  text: 'a text',
  integer: 'a whole number from 0',
  number: 'a number',
  date: 'a date like 2025-03-31, `today`, `yesterday` or `7 days ago`',
  timestamp: 'a time like 2025-03-31T02:00:00Z, or a date',
  boolean: 'true or false',
};

function formOf(parameter: Parameter): string {
  return isLimit(parameter) ? `${FORMS[parameter.type]}, or none` : FORMS[parameter.type];
}

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

const READ: Record<ParameterType, (text: string, today: string) => Scalar | undefined> = {
  text: (text) => text,
  // All integers are counts, so none is negative.
  integer: (text) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined),
  number: (text) => (/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined),
  boolean: (text) => ({ true: true, yes: true, false: false, no: false })[text.toLowerCase()],
  date: dateOf,
  timestamp: (text, today) => dateOf(text, today) ?? (isTimestamp(text) ? text : undefined),
};

function dateOf(text: string, today: string): string | undefined {
  if (isCalendarDate(text)) return text;
  if (text === 'today') return today;
  if (text === 'yesterday') return addDays(today, -1);
  const [, number, unit] = RELATIVE.exec(text) ?? [];
  return number === undefined ? undefined : addDays(today, -Number(number) * (unit === 'week' ? 7 : 1));
}

function isTimestamp(text: string): boolean {
  return TIMESTAMP.test(text) && isCalendarDate(text.slice(0, 10)) && !Number.isNaN(Date.parse(text));
}
