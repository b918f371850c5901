import { z } from 'zod';
import type { ReportOutcome } from '../source/report.js';
import { AppendFile } from '../storage/durable.js';
import { embeddable, journalLine, payloadText, storable, stringified, wellFormedJson } from './embed.js';
import type { JournalFolder } from './folder.js';
import { readLines } from './lines.js';

/** How the fetching of reports ended, as `snapshots.reports_status` names it. */
export const REPORTS_STATUS = ['complete', 'budget', 'deadline', 'interrupted', 'failed', 'off'] as const;
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
});
const reportLine = z.object({ kind: z.enum(['fetched', 'missing', 'failed', 'rejected']), url: z.string() });
const anyLine = z.union([doneLine, reportLine]);

/** Writes the answers to the planned reports, one line each, and at last how the fetching ended. */
export class ReportsJournal {
  readonly #file: AppendFile;
  /** The last time as text: many answers come in the same millisecond. */
  #at = { ms: Number.NaN, text: '' };

  constructor(folder: JournalFolder, bytes: number) {
    this.#file = new AppendFile(folder.reports, bytes);
  }

  /** Returns when the answer is in the kernel's hands: the worker may ask for the next one. */
  record(page: { url: string; reason: string }, outcome: ReportOutcome, at: Date): Promise<void> {
    return this.#file.append(reportText({ url: page.url, reason: page.reason, at: this.#text(at) }, outcome));
  }

  async finish(status: ReportsStatus, message: string | null): Promise<void> {
    await this.#file.append(journalLine({ kind: 'done', status, message }));
  }

  close(): void {
    this.#file.close();
  }

  #text(at: Date): string {
    const ms = at.getTime();
    if (ms !== this.#at.ms) this.#at = { ms, text: at.toISOString() };
    return this.#at.text;
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
    return journalLine({ kind: 'rejected', ...place, issues: wellFormedJson(issues), payload: payloadText(payload) });
  }
  const { status, message } = outcome;
  return journalLine({ kind: outcome.outcome, ...place, http_status: status, message });
}

function fetchedText(place: Place, outcome: Extract<ReportOutcome, { outcome: 'fetched' }>): string {
  const { text, record, absent, extra } = outcome;
  const report = record === null ? text : embeddable(text, record, Object.keys(record).length);
  const extraText = extra ? stringified(extra) : '';
  const unstorable = record === null ? null : (storable(report) ?? storable(extraText));
  if (unstorable) {
    return reportText(place, { outcome: 'rejected', issues: [unstorable], payload: text });
  }
  const rest =
    (absent.length > 0 ? `,"absent":${JSON.stringify(absent)}` : '') +
    (extraText ? `,"extra":${JSON.stringify(extraText)}` : '');
  const { url, reason, at } = place;
  const head = `{"kind":"fetched","url":${JSON.stringify(url)},"reason":${JSON.stringify(reason)},"at":"${at}"`;
  return `${head}${rest},"report":${report}}\n`;
}

/** What an interrupted fetching of reports left. */
export interface ReportsLeft {
  counts: ReportCounts;
  done: { status: ReportsStatus; message: string | null } | null;
  /** How many bytes of the file are whole. */
  bytes: number;
}

/** Reads the answers back that a run has already: counts of them, and whether the fetching ended. */
export async function readReports(folder: JournalFolder): Promise<ReportsLeft> {
  const left: ReportsLeft = { counts: { fetched: 0, missing: 0, failed: 0, rejected: 0 }, done: null, bytes: 0 };
  for await (const { value, end } of readLines(folder.reports, anyLine)) {
    if (value.kind === 'done') left.done = { status: value.status, message: value.message };
    else left.counts[value.kind]++;
    left.bytes = end;
  }
  return left;
}
