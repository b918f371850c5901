import type { z } from 'zod';

/** What is wrong with a record, in the form that `rejected_records.issues` stores. */
export interface Issue {
  path: string;
  code: string;
  message: string;
}

export type Verdict<T> =
  | {
      accepted: true;
      record: T;
      /** Known fields that were absent. */
      absent: string[];
      /** Fields that the contract does not know, or null. */
      extra: Record<string, unknown> | null;
    }
  | { accepted: false; issues: Issue[] };

const MAX_ISSUES = 20;

type RecordSchema<T extends object> = z.ZodType<T> & { shape: Record<string, unknown> };

/** Checks one record against a schema of the contract, but not whether it can be stored (`storable`). */
export function validate<T extends object>(schema: RecordSchema<T>, value: unknown): Verdict<T> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) return { accepted: false, issues: issuesOf(parsed.error) };
  const record = parsed.data;
  const absent = absentFields(schema.shape, record);
  const known = Object.keys(schema.shape).length - absent.length;
  const extra = Object.keys(given(value)).length === known ? null : unknownFields(schema.shape, given(value));
  return { accepted: true, record, absent, extra };
}

function absentFields(shape: Record<string, unknown>, record: object): string[] {
  const absent: string[] = [];
  for (const field in shape) if (!(field in record)) absent.push(field);
  return absent;
}

/** The fields as they arrived: Zod leaves `__proto__` out of what it hands back. */
function given(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

function unknownFields(shape: Record<string, unknown>, record: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([field]) => !Object.hasOwn(shape, field)));
}

/** Issues of a failed parse: dotted path, Zod's code, message. At most 20, so that a hostile record stays small. */
export function issuesOf(error: z.ZodError): Issue[] {
  return error.issues.slice(0, MAX_ISSUES).map((issue) => ({
    path: issue.path.map(String).join('.'),
    code: issue.code,
    message: issue.message,
  }));
}

/** The value of a JSON text; null if it is invalid, because no record is null. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
