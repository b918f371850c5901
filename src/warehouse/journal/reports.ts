import { z } from 'zod';
import { sizeOf } from '../../base/storage/durable.js';
import type { JournalFolder } from './folder.js';
import { JournalError } from './header.js';
import { readLines } from './lines.js';
import { openSeal, seedOf } from './seal.js';

/** How the fetching of reports ended, as `snapshots.reports_status` names it. */
const REPORTS_STATUS = ['complete', 'budget', 'deadline', 'interrupted', 'failed', 'off'] as const;
export type ReportsStatus = (typeof REPORTS_STATUS)[number];

export interface ReportCounts {
  fetched: number;
  missing: number;
  failed: number;
  rejected: number;
}

const doneLine = z.object({
  kind: z.literal('done'),
  status: z.enum(REPORTS_STATUS),
  message: z.string().nullable(),
  /** Number of lines before it, so that a missing one is noticed. */
  answers: z.int(),
});
const reportLine = z.object({ kind: z.enum(['fetched', 'missing', 'failed', 'rejected']), url: z.string() });
const anyLine = z.union([doneLine, reportLine]);

/** What an interrupted fetching of reports left. */
export interface ReportsLeft {
  counts: ReportCounts;
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
  const left: ReportsLeft = { counts: { fetched: 0, missing: 0, failed: 0, rejected: 0 }, done: null, bytes: 0 };
  for await (const { value, end } of readLines(file, anyLine, (text) => openSeal(text, seed).isWhole)) {
    if (left.done) throw new JournalError(`there is data after the end of ${file}`);
    left.bytes = end;
    if (value.kind !== 'done') left.counts[value.kind]++;
    else if (value.answers === totalOf(left.counts)) left.done = { status: value.status, message: value.message };
    else throw new JournalError(`${file} has ${totalOf(left.counts)} of ${value.answers} lines`);
  }
  if (left.done && (await sizeOf(file)) > left.bytes) throw new JournalError(`there is data after the end of ${file}`);
  return left;
}

/** The number of all answers. */
export function totalOf(counts: ReportCounts): number {
  return Object.values(counts).reduce((all, each) => all + each, 0);
}
