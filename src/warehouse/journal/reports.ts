import { z } from 'zod';
import { AppendFile, sizeOf } from '../../base/storage/durable.js';
import type { ReportOutcome } from '../../source/report.js';
import { endingWith, payloadText, storable, stringified, wellFormedJson } from './embed.js';
import type { JournalFolder } from './folder.js';
import { JournalError } from './header.js';
import { readLines } from './lines.js';
import { openSeal, seal, seedOf } from './seal.js';

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

/** Writes the answers to the planned reports, one line each, and finally how the fetching ended. */
export class ReportsJournal {
  readonly #file: AppendFile;
  readonly #seed: number;
  /** The answers that it holds. */
  readonly counts: ReportCounts;

  /** @param left what an interrupted run left; anything after it is cut off */
  constructor(folder: JournalFolder, { bytes, counts }: Pick<ReportsLeft, 'bytes' | 'counts'> = NOTHING_LEFT) {
    this.#file = new AppendFile(folder.reports, bytes);
    this.#seed = seedOf(folder);
    this.counts = { ...counts };
  }

  /** Resolves once the kernel has the answer; then the worker may request the next one. */
  record(page: { url: string; reason: string }, outcome: ReportOutcome, at: Date): Promise<void> {
    const text = reportText({ url: page.url, reason: page.reason, at: at.toISOString() }, outcome);
    this.counts[outcome.outcome]++;
    return this.#file.append(`${seal(text, this.#seed).text}\n`);
  }

  async finish(status: ReportsStatus, message: string | null): Promise<void> {
    const text = wellFormedJson({ kind: 'done', status, message, answers: totalOf(this.counts) });
    await this.#file.append(`${seal(text, this.#seed).text}\n`);
  }

  close(): void {
    this.#file.close();
  }
}

/** Which report a line is about, and when it was answered. */
interface Place {
  url: string;
  reason: string;
  at: string;
}

function reportText(place: Place, outcome: ReportOutcome): string {
  if (outcome.outcome === 'fetched') return fetchedText(place, outcome);
  if (outcome.outcome === 'rejected') {
    const { issues, payload } = outcome;
    return wellFormedJson({
      kind: 'rejected',
      ...place,
      issues: wellFormedJson(issues),
      payload: payloadText(payload),
    });
  }
  const { status, message } = outcome;
  return wellFormedJson({ kind: outcome.outcome, ...place, http_status: status, message });
}

function fetchedText(place: Place, outcome: Extract<ReportOutcome, { outcome: 'fetched' }>): string {
  const { text, record, absent, extra } = outcome;
  const [report, extraText] = [stringified(record), stringified(extra)];
  const unstorable = storable(report) ?? storable(extraText);
  if (unstorable) {
    return reportText(place, { outcome: 'rejected', issues: [unstorable], payload: text });
  }
  return endingWith(report, 'report', {
    ...{ kind: 'fetched', ...place },
    ...(absent.length > 0 ? { absent } : {}),
    ...(extra ? { extra: extraText } : {}),
  });
}

/** What an interrupted fetching of reports left. */
export interface ReportsLeft {
  counts: ReportCounts;
  done: { status: ReportsStatus; message: string | null } | null;
  /** How many bytes of the file are intact. */
  bytes: number;
}

const NOTHING_LEFT = { bytes: 0, counts: { fetched: 0, missing: 0, failed: 0, rejected: 0 } };

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
