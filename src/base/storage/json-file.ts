import type { z } from 'zod';
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
