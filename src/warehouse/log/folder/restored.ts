import { z } from 'zod';
import { readJson, writeJson } from '../../../base/storage/json-file.js';
import { warehouseFolder } from './layout.js';

const restoredSchema = z.object({
  /** Such as `s3://lake/indexhouse`. */
  from: z.string(),
  /** Listings and reports of dates before this one were left in the bucket, `YYYY-MM-DD`; null: none were. */
  history_from: z.string().nullable(),
  /** Keys of objects that are missing in the bucket or do not have the bytes of their commit. */
  damaged: z.array(z.string()),
  /** Files that nothing in the bucket names any more, and since when, ISO 8601. They are deleted an hour later. */
  unused: z.record(z.string(), z.iso.datetime()),
});
/** `restored.json`: how a folder differs from the bucket that it was fetched from. */
export type Restored = z.infer<typeof restoredSchema>;

/** @returns null for a warehouse that was not fetched from a bucket, or that has all of its files */
export function readRestored(warehouse: string): Promise<Restored | null> {
  return readJson(warehouseFolder(warehouse).restored, restoredSchema);
}

export function writeRestored(warehouse: string, restored: Restored): Promise<void> {
  return writeJson(warehouseFolder(warehouse).restored, restored);
}

/** What an answer lacks, and how to get it. */
export function historyNotice({ from, history_from: date }: Restored): string {
  return `listings and reports before ${date} stayed in ${from}; --history fetches more of them, such as --history 400d`;
}
