import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { exists, sizeOf } from '../../base/storage/durable.js';
import type { JournalFolder } from './folder.js';
import { JournalError } from './header.js';
import { chunksOf, readLines } from './lines.js';
import { openSeal, readSealed, seedOf, writeSealed } from './seal.js';

/** Why a report is fetched, the most informative first; SQL statements see it as the variable `reasons`. */
export const REASONS = [
  'asked',
  'unconfirmed',
  'missing',
  'silent',
  'modified',
  'changed',
  'new',
  'contradicted',
  'shown',
  'ended',
  'turn',
  'recrawled',
  'oldest',
] as const;
export type Reason = (typeof REASONS)[number];

/** One value for each reason. */
export function byReason<T>(make: (reason: Reason) => T): Record<Reason, T> {
  const made = Object.fromEntries(REASONS.map((reason) => [reason, make(reason)]));
  return z.record(z.enum(REASONS), z.custom<T>()).parse(made);
}

/** A property through which pages can be inspected, what it covers (as `scopeOf` has it), and how many a day. */
export const quotaSchema = z.object({ property: z.string(), scope: z.string(), per_day: z.int() });

/** How many pages of a property the night's random samples stand for, as `sync/plan/evidence` counts them. */
export const evidenceSchema = z.object({
  pages: z.int(),
  today: z.int(),
  today_indexed: z.int(),
  shown: z.int(),
  ended: z.int(),
  others: z.int(),
  contradicted: z.int(),
});

const plannedSchema = z.object({
  /** Reports to fetch. */
  planned: z.int(),
  /** Reports that were worth fetching; more than `planned` where the budget cut them. Null: not counted. */
  wanted: z.int().nullable(),
  /** Left out by a source without quotas. */
  quotas: z.array(quotaSchema).optional(),
  evidence: evidenceSchema.optional(),
});
export type Planned = z.infer<typeof plannedSchema>;

/** As it is stored: with the checksum of the plan's file, which DuckDB writes. */
const storedSchema = plannedSchema.extend({ plan_crc: z.int() });

const planLine = z.object({
  url: z.string(),
  reason: z.enum(REASONS),
  spelling: z.string().nullish(),
  history: z.enum(['indexed', 'known']).nullish(),
});
/** A page whose report is fetched, and why. */
export type PlannedPage = z.infer<typeof planLine>;

/** Records that the plan is complete. */
export async function writePlanned(folder: JournalFolder, planned: Planned): Promise<void> {
  const stored = { ...planned, plan_crc: await checksumOf(folder.plan) };
  await writeSealed(folder, folder.planned, stored);
}

/**
 * How many reports are planned, or null if no plan was made yet.
 *
 * @throws JournalError if the plan is damaged
 */
export async function readPlanned(folder: JournalFolder): Promise<z.infer<typeof storedSchema> | null> {
  const stored = await readSealed(folder, folder.planned, storedSchema);
  if (stored === undefined) throw new JournalError(`${folder.planned} is damaged`);
  if (stored && stored.planned > 0 && !(await exists(folder.plan))) throw new JournalError(`${folder.plan} is missing`);
  return stored;
}

/**
 * Checks the whole plan, if there is one, against its checksum.
 *
 * @throws JournalError if it is damaged
 */
export async function checkPlan(folder: JournalFolder): Promise<void> {
  const stored = await readPlanned(folder);
  if (stored && stored.plan_crc !== (await checksumOf(folder.plan)))
    throw new JournalError(`${folder.plan} is damaged`);
}

/** The checksum of a file's bytes; a missing one counts as empty. */
async function checksumOf(file: string): Promise<number> {
  let crc = 0;
  for await (const chunk of chunksOf(file)) crc = crc32(chunk, crc);
  return crc;
}

/**
 * The pages of a plan, one after the other: a plan of a million pages needs no more memory than one of a thousand.
 * Callers may be concurrent.
 *
 * @throws JournalError if the plan is damaged
 */
export async function* readPlan(file: string): AsyncGenerator<PlannedPage, undefined> {
  for await (const { value } of readLines(file, planLine)) yield value;
}

/** How the fetching of reports ended, as `snapshots.reports_status` names it. */
const REPORTS_STATUS = ['complete', 'budget', 'deadline', 'interrupted', 'failed', 'off'] as const;
export type ReportsStatus = (typeof REPORTS_STATUS)[number];

export interface ReportCounts {
  fetched: number;
  missing: number;
  failed: number;
  rejected: number;
  /** Pages that look as if they fell. */
  unconfirmed: number;
}

export const NO_REPORTS: ReportCounts = { fetched: 0, missing: 0, failed: 0, rejected: 0, unconfirmed: 0 };

const doneLine = z.object({
  kind: z.literal('done'),
  status: z.enum(REPORTS_STATUS),
  message: z.string().nullable(),
  /** Number of lines before it, so that a missing one is noticed. */
  answers: z.int(),
});
const reportLine = z.object({
  kind: z.enum(['fetched', 'missing', 'failed', 'rejected', 'unconfirmed']),
  url: z.string(),
});
const lookLine = planLine.extend({
  kind: z.literal('look'),
  looks: z.int(),
  again: z.int(),
  message: z.string(),
  extra: z.string().optional(),
});
/** A page whose answers contradict its history, and that has no other answer yet. */
export type PendingPage = z.infer<typeof lookLine>;
const anyLine = z.union([doneLine, lookLine, reportLine]);

/** What an interrupted fetching of reports left. */
export interface ReportsLeft {
  counts: ReportCounts;
  /** By address. */
  pending: Map<string, PendingPage>;
  /** Lines before the last one. */
  lines: number;
  done: { status: ReportsStatus; message: string | null } | null;
  /** How many bytes of the file are intact. */
  bytes: number;
}

/**
 * Reads back the answers that a run already has: their counts, and whether the fetching ended. Leaves out a last line
 * that the process did not finish writing.
 *
 * @throws JournalError if anything else is damaged
 */
export async function readReports(folder: JournalFolder): Promise<ReportsLeft> {
  const { reports: file } = folder;
  const seed = seedOf(folder);
  const left: ReportsLeft = { counts: { ...NO_REPORTS }, pending: new Map(), lines: 0, done: null, bytes: 0 };
  for await (const { value, end } of readLines(file, anyLine, (text) => openSeal(text, seed).isWhole)) {
    if (left.done) throw new JournalError(`there is data after the end of ${file}`);
    left.bytes = end;
    if (value.kind === 'done') {
      if (value.answers !== left.lines) throw new JournalError(`${file} has ${left.lines} of ${value.answers} lines`);
      left.done = { status: value.status, message: value.message };
      continue;
    }
    left.lines++;
    if (value.kind === 'look') left.pending.set(value.url, value);
    else {
      left.pending.delete(value.url);
      left.counts[value.kind]++;
    }
  }
  if (left.done && (await sizeOf(file)) > left.bytes) throw new JournalError(`there is data after the end of ${file}`);
  return left;
}

/** The number of all answers. */
export function totalOf(counts: ReportCounts): number {
  return Object.values(counts).reduce((all, each) => all + each, 0);
}
