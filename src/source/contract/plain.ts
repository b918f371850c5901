import { z } from 'zod';
import { absoluteUrl, integer, text, timestamp, truth } from './fields.js';

/**
 * The forms of `fields.ts` as patterns for JSON text without escapes. Each matches only what Zod would accept as it is,
 * and leaves out times on a 29 February and integers of ten digits.
 */
const PATTERNS: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [text, String.raw`"[^"\\\x00-\x1f]*"`],
  [absoluteUrl, String.raw`"[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^\x00-\x20\x7f/?#"\\][^\x00-\x20\x7f"\\]*"`],
  [
    timestamp,
    String.raw`"(?!0000)\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?Z"`,
  ],
  [integer, String.raw`(?:0|-?[1-9]\d{0,8})`],
  [truth, '(?:true|false)'],
]);
/** A name that needs no escaping in JSON or in a pattern. */
const PLAIN_NAME = /^\w+$/;
/** Far below the limit for a line of the journal. */
const MAX_CHARACTERS = 100_000;

type ObjectSchema = z.ZodType & { shape: Readonly<Record<string, unknown>> };

/**
 * Makes a test of JSON text from a schema: whether it is one object with every known field, once each, in the order of
 * the schema and in an ordinary form, with nothing between and nothing escaped. Zod would accept such an object as it
 * is. Recognising it without parsing takes a fifth of the time (`npm run bench:throughput` measures it), and nearly all
 * texts of a service are like this. Any other text is left for Zod to judge.
 *
 * @returns a test; one that recognises nothing if the schema has a form that only Zod knows
 */
export function plainTextOf(schema: ObjectSchema): (text: string) => boolean {
  const members = Object.entries(schema.shape).map(([name, field]) => memberPattern(name, field));
  if (!isUnrefined(schema) || members.includes(null)) return () => false;
  const pattern = new RegExp(`^\\{${members.join(',')}\\}$`);
  return (candidate) => candidate.length <= MAX_CHARACTERS && pattern.test(candidate);
}

function memberPattern(name: string, field: unknown): string | null {
  const present = field instanceof z.ZodOptional && isUnrefined(field) ? field.unwrap() : field;
  const isNullable = present instanceof z.ZodNullable && isUnrefined(present);
  const value = valuePattern(isNullable ? present.unwrap() : present);
  if (value === null || !PLAIN_NAME.test(name)) return null;
  return `"${name}":${isNullable ? `(?:null|${value})` : value}`;
}

function valuePattern(schema: unknown): string | null {
  if (!(schema instanceof z.ZodArray) || !isUnrefined(schema)) return PATTERNS.get(schema) ?? null;
  const element = PATTERNS.get(schema.element);
  return element === undefined ? null : `\\[(?:${element}(?:,${element})*)?\\]`;
}

/** Whether a schema checks only its type, without `.min(1)`, `.refine(…)` or the like. */
function isUnrefined(schema: z.ZodType): boolean {
  return (schema.def.checks ?? []).length === 0;
}
