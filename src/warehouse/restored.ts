import { z } from 'zod';
import { jsonOf } from '../contract/validate.js';
import { readIfThere, writeDurably } from '../storage/durable.js';
import { warehouseFolder } from './layout.js';

const restoredSchema = z.object({
  /** Such as `s3://lake/indexhouse`. */
  from: z.string(),
  /** Data files of dates before this one were left in the bucket, `YYYY-MM-DD`. */
  history_from: z.string(),
});
/** `restored.json`: what a restored warehouse lacks. */
export type Restored = z.infer<typeof restoredSchema>;

/** @returns null for a warehouse that has all of its files */
export async function readRestored(warehouse: string): Promise<Restored | null> {
  const text = await readIfThere(warehouseFolder(warehouse).restored);
  return text === null ? null : (restoredSchema.safeParse(jsonOf(text)).data ?? null);
}

export async function writeRestored(warehouse: string, restored: Restored): Promise<void> {
  await writeDurably(warehouseFolder(warehouse).restored, `${JSON.stringify(restored)}\n`);
}

/** What an answer lacks, and how to get it. */
export function historyNotice({ from, history_from: date }: Restored): string {
  return `data before ${date} stayed in ${from} when this warehouse was restored; \`indexhouse restore\` without --history fetches it`;
}
