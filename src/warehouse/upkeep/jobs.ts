import { z } from 'zod';
import { readJson } from '../../base/storage/json-file.js';
import { warehouseFolder } from '../log/folder/layout.js';

/** Each scheduled job by its name: when it last began, and the exit code with which it ended; null until then. */
const jobsSchema = z.record(z.string(), z.object({ begun_at: z.iso.datetime(), exit_code: z.int().nullable() }));
export type Jobs = z.infer<typeof jobsSchema>;

/** What the daemon recorded of its jobs. A file that cannot be read counts as missing. */
export async function readJobs(warehouse: string): Promise<Jobs> {
  return (await readJson(warehouseFolder(warehouse).jobs, jobsSchema).catch(() => null)) ?? {};
}
