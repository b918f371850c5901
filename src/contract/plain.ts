import { z } from 'zod';
import { ABSOLUTE_URL, absoluteUrl, integer, text, timestamp } from './fields.js';

type Check = (value: unknown) => boolean;

interface Field {
  name: string;
  optional: boolean;
  nullable: boolean;
  check: Check;
}

/** Every time that `timestamp` takes but those of a 29 February. */
const ORDINARY_TIMESTAMP =
  /^(?!0000)\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?Z$/;

/** The forms of `fields.ts` once more, as bare checks: each passes nothing that Zod would refuse or change. */
const CHECKS: ReadonlyMap<unknown, Check> = new Map<unknown, Check>([
  [text, (value) => typeof value === 'string'],
  [absoluteUrl, (value) => typeof value === 'string' && ABSOLUTE_URL.test(value)],
  [timestamp, (value) => typeof value === 'string' && ORDINARY_TIMESTAMP.test(value)],
  [integer, (value) => typeof value === 'number' && (value | 0) === value],
]);

/** What the fields of each schema ask; null where one has a form that only Zod knows. */
const fieldsBySchema = new WeakMap<object, Field[] | null>();

/**
 * Whether a record holds nothing but known fields of an ordinary form, as nearly every one does: Zod would accept it as
 * it is, at several times the cost. What is not recognised here is Zod's to judge.
 *
 * @param absent takes the names of the known fields that are not there
 */
export function isPlainRecord<T extends object>(
  schema: z.ZodType<T> & { shape: Readonly<Record<string, unknown>> },
  value: unknown,
  absent: string[] = [],
): value is T {
  const fields = fieldsOf(schema);
  if (!fields || !isObject(value)) return false;
  let known = 0;
  for (const { name, optional, nullable, check } of fields) {
    const given = value[name];
    if (given === undefined) {
      if (!optional) return false;
      absent.push(name);
    } else {
      if (given === null ? !nullable : !check(given)) return false;
      known++;
    }
  }
  return Object.keys(value).length === known;
}

function fieldsOf(schema: z.ZodType & { shape: Readonly<Record<string, unknown>> }): Field[] | null {
  const made = fieldsBySchema.get(schema);
  if (made !== undefined) return made;
  const fields = Object.entries(schema.shape).flatMap(([name, field]) => fieldOf(name, field) ?? []);
  const whole = isUnrefined(schema) && fields.length === Object.keys(schema.shape).length;
  fieldsBySchema.set(schema, whole ? fields : null);
  return whole ? fields : null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldOf(name: string, schema: unknown): Field | null {
  const optional = schema instanceof z.ZodOptional && isUnrefined(schema);
  const present = optional ? schema.unwrap() : schema;
  const nullable = present instanceof z.ZodNullable && isUnrefined(present);
  const check = checkOf(nullable ? present.unwrap() : present);
  return check && { name, optional, nullable, check };
}

function checkOf(schema: unknown): Check | null {
  if (schema instanceof z.ZodBoolean && isUnrefined(schema)) return (value) => typeof value === 'boolean';
  if (!(schema instanceof z.ZodArray) || !isUnrefined(schema)) return CHECKS.get(schema) ?? null;
  const element = CHECKS.get(schema.element);
  return element ? (value) => Array.isArray(value) && value.every(element) : null;
}

/** Whether a schema asks nothing beyond its type, as `.min(1)` or `.refine(…)` would. */
function isUnrefined(schema: z.ZodType): boolean {
  return (schema.def.checks ?? []).length === 0;
}
