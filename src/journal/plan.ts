import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { writeDurably } from '../storage/durable.js';
import type { JournalFolder } from './folder.js';
import { readLines } from './lines.js';

const plannedSchema = z.object({
  /** Reports to fetch. */
  planned: z.int(),
  /** Reports that were worth fetching; more than `planned` where the budget cut them. */
  wanted: z.int(),
});
export type Planned = z.infer<typeof plannedSchema>;

const planLine = z.object({ url: z.string(), reason: z.string() });
/** A page whose report is fetched, and why. */
export type PlannedPage = z.infer<typeof planLine>;

/** Says that the plan is whole. */
export async function writePlanned(folder: JournalFolder, planned: Planned): Promise<void> {
  await writeDurably(folder.planned, `${JSON.stringify(planned)}\n`);
}

/** How many reports are planned, or null where no plan was made yet. */
export async function readPlanned(folder: JournalFolder): Promise<Planned | null> {
  try {
    return plannedSchema.parse(JSON.parse(await readFile(folder.planned, 'utf8')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** The pages of a plan, one after the other: a plan of a million pages needs no more memory than one of a thousand. */
export async function* readPlan(file: string): AsyncGenerator<PlannedPage> {
  for await (const { value } of readLines(file, planLine)) yield value;
}
