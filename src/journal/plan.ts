import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { exists, writeDurably } from '../storage/durable.js';
import type { JournalFolder } from './folder.js';
import { JournalError } from './header.js';
import { type JournalLine, readLineGroups } from './lines.js';

/** Why a report is fetched, the most informative first. */
export const REASONS = ['missing', 'changed', 'new', 'recrawled', 'oldest'] as const;
export type Reason = (typeof REASONS)[number];

const plannedSchema = z.object({
  /** Reports to fetch. */
  planned: z.int(),
  /** Reports that were worth fetching; more than `planned` where the budget cut them. Null: nobody looked. */
  wanted: z.int().nullable(),
});
export type Planned = z.infer<typeof plannedSchema>;

const planLine = z.object({ url: z.string(), reason: z.string() });
/** A page whose report is fetched, and why. */
export type PlannedPage = z.infer<typeof planLine>;

/** Says that the plan is whole. */
export async function writePlanned(folder: JournalFolder, planned: Planned): Promise<void> {
  await writeDurably(folder.planned, `${JSON.stringify(planned)}\n`);
}

/**
 * How many reports are planned, or null where no plan was made yet.
 *
 * @throws JournalError where the plan is damaged
 */
export async function readPlanned(folder: JournalFolder): Promise<Planned | null> {
  let text: string;
  try {
    text = await readFile(folder.planned, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
  const planned = plannedIn(text);
  if (planned === null) throw damagedPlan(folder.planned, 'is damaged');
  if (planned.planned > 0 && !(await exists(folder.plan))) throw damagedPlan(folder.plan, 'is missing');
  return planned;
}

function plannedIn(text: string): Planned | null {
  try {
    return plannedSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

function damagedPlan(file: string, what: string): JournalError {
  return new JournalError(
    `the plan of an unfinished run cannot be read: ${file} ${what}. The run’s files are kept. Check the disk; then ` +
      'move the run’s folder away to begin anew (what it had fetched is then fetched again)',
  );
}

/**
 * The pages of a plan, one after the other: a plan of a million pages needs no more memory than one of a thousand.
 * Many may ask at once.
 */
export class PlanReader {
  readonly #groups: AsyncGenerator<JournalLine<PlannedPage>[]>;
  #group: JournalLine<PlannedPage>[] = [];
  #at = 0;
  /** Whether there is another group, while it is read: many ask at once, and it is for all of them. */
  #reading: Promise<boolean> | null = null;

  constructor(file: string) {
    this.#groups = readLineGroups(file, planLine);
  }

  /** The next page where it is read already: that spares what waiting costs. */
  take(): PlannedPage | undefined {
    return this.#group[this.#at++]?.value;
  }

  /**
   * The next page, or undefined behind the last one.
   *
   * @throws JournalError where the plan is damaged
   */
  async next(): Promise<PlannedPage | undefined> {
    for (;;) {
      const page = this.take();
      if (page) return page;
      this.#reading ??= this.#readGroup();
      if (!(await this.#reading)) return undefined;
    }
  }

  async close(): Promise<void> {
    this.#group = [];
    this.#reading = Promise.resolve(false);
    await this.#groups.return(undefined);
  }

  async #readGroup(): Promise<boolean> {
    const { done, value } = await this.#groups.next();
    this.#group = done ? [] : value;
    this.#at = 0;
    // At the end it stays, so that whoever asks later is told the same.
    if (!done) this.#reading = null;
    return !done;
  }
}
