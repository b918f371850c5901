import { AppendFile } from '../../base/storage/durable.js';
import type { ReportOutcome } from '../../source/source.js';
import type { JournalFolder } from '../../warehouse/journal/folder.js';
import {
  NO_REPORTS,
  type PendingPage,
  type PlannedPage,
  type ReportCounts,
  type ReportsLeft,
  type ReportsStatus,
} from '../../warehouse/journal/plan.js';
import { seal, seedOf } from '../../warehouse/journal/seal.js';
import { endingWith, payloadText, storable, stringified, wellFormedJson } from './embed.js';

const NOTHING_LEFT = { bytes: 0, lines: 0, counts: NO_REPORTS, pending: new Map() };

/** Writes the answers to the planned reports, one line each, and finally how the fetching ended. */
export class ReportsJournal {
  readonly #file: AppendFile;
  readonly #seed: number;
  /** The answers that it holds. */
  readonly counts: ReportCounts;
  /** The pages that are asked for again. */
  readonly pending: Map<string, PendingPage>;
  #lines: number;

  /** @param left what an interrupted run left; anything after it is cut off */
  constructor(
    folder: JournalFolder,
    { bytes, counts, pending, lines }: Pick<ReportsLeft, 'bytes' | 'counts' | 'pending' | 'lines'> = NOTHING_LEFT,
  ) {
    this.#file = new AppendFile(folder.reports, bytes);
    this.#seed = seedOf(folder);
    this.counts = { ...counts };
    this.pending = new Map(pending);
    this.#lines = lines;
  }

  /** Resolves once the kernel has the answer; then the worker may request the next one. */
  record(page: PlannedPage & { looks?: number }, outcome: ReportOutcome, at: Date): Promise<void> {
    const { url, reason } = page;
    if (outcome.outcome === 'unconfirmed') return this.#look(page, outcome, at);
    this.pending.delete(url);
    this.counts[outcome.outcome]++;
    return this.#append(reportText({ url, reason, at: at.toISOString() }, outcome));
  }

  /** Ends the journal; what no later answer confirmed stays unconfirmed. */
  async finish(status: ReportsStatus, message: string | null, at: Date): Promise<void> {
    for (const { url, reason, message } of this.pending.values()) {
      const line = { kind: 'unconfirmed', url, reason, at: at.toISOString(), http_status: 200, message };
      await this.#append(wellFormedJson(line));
    }
    this.counts.unconfirmed += this.pending.size;
    await this.#append(wellFormedJson({ kind: 'done', status, message, answers: this.#lines }));
  }

  #look(page: PlannedPage & { looks?: number }, outcome: Unconfirmed, at: Date): Promise<void> {
    const { message, again, extra } = outcome;
    const looked = { ...page, kind: 'look' as const, looks: (page.looks ?? 0) + 1, again, message };
    this.pending.set(page.url, looked);
    return this.#append(wellFormedJson({ ...looked, at: at.toISOString(), extra: JSON.stringify(extra) }));
  }

  #append(text: string): Promise<void> {
    this.#lines++;
    return this.#file.append(`${seal(text, this.#seed).text}\n`);
  }

  close(): void {
    this.#file.close();
  }
}

type Unconfirmed = Extract<ReportOutcome, { outcome: 'unconfirmed' }>;

/** Which report a line is about, and when it was answered. */
interface Place {
  url: string;
  reason: string;
  at: string;
}

function reportText(place: Place, outcome: Exclude<ReportOutcome, Unconfirmed>): string {
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
