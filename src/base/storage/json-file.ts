import { createHash } from 'node:crypto';
import { z } from 'zod';
import { jsonOf } from '../validate.js';
import { readIfThere, writeDurably } from './durable.js';

/** What a file of JSON holds; null if it is missing or damaged. */
export async function readJson<T>(file: string, schema: z.ZodType<T>): Promise<T | null> {
  return schema.safeParse(jsonOf((await readIfThere(file)) ?? '')).data ?? null;
}

/** Writes a value to a file whole or not at all. @param mode of the file, if not everybody may read it */
export async function writeJson(file: string, value: unknown, mode?: number): Promise<void> {
  await writeDurably(file, `${JSON.stringify(value)}\n`, mode);
}

/** A small document with the SHA-256 of its own values, for files and objects that nothing else vouches for. */
export function summedJson(values: object): string {
  return `${JSON.stringify({ ...values, sha256: sumOf(values) })}\n`;
}

/** @returns null if the values are not those that were written, or not of this shape */
export function readSummedJson<T extends object>(schema: z.ZodType<T>, text: string): T | null {
  const parsed = z.looseObject({ sha256: z.string() }).safeParse(jsonOf(text));
  if (!parsed.success) return null;
  const { sha256, ...values } = parsed.data;
  return sumOf(values) === sha256 ? (schema.safeParse(values).data ?? null) : null;
}

function sumOf(values: object): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('hex');
}
