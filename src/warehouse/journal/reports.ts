import { z } from 'zod';
import { sizeOf } from '../../base/storage/durable.js';
import type { JournalFolder } from './folder.js';
import { JournalError } from './header.js';
import { readLines } from './lines.js';
import { planLine } from './plan.js';
import { openSeal, seedOf } from './seal.js';

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
