import { AppendFile } from '../../base/storage/durable.js';
import type { ReportOutcome } from '../../source/report.js';
import type { JournalFolder } from '../../warehouse/journal/folder.js';
import { type ReportCounts, type ReportsLeft, type ReportsStatus, totalOf } from '../../warehouse/journal/reports.js';
import { seal, seedOf } from '../../warehouse/journal/seal.js';
import { endingWith, payloadText, storable, stringified, wellFormedJson } from './embed.js';

const NOTHING_LEFT = { bytes: 0, counts: { fetched: 0, missing: 0, failed: 0, rejected: 0 } };

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
