import { z } from 'zod';
import { AppendFile } from '../base/storage/durable.js';
import type { Engine } from '../base/storage/engine.js';
import { sql } from '../base/storage/sql.js';
import { jsonOf } from '../base/validate.js';
import { judgeReport, type ReportOutcome } from '../source/report.js';
import { type JudgedEntry, judgeEntry } from '../source/walk/coverage-window.js';
import type { JournalFolder } from '../warehouse/journal/folder.js';
import { journalLine, storable, stringified } from './journal/embed.js';
import { entryText } from './journal/write-listing.js';
import { ReportsJournal } from './journal/write-reports.js';

/** The journal of a replay is one walk, whatever walk its entries came from. */
export const REPLAY_WALK = 1;

/** How the quarantined records of a snapshot were judged this time. */
export interface Judged {
  coverage: number;
  urlReports: number;
  stillRejected: number;
}

const waitingRecord = z.object({
  source: z.enum(['coverage', 'url_report']),
  url: z.string().nullable(),
  position: z.int().nullable(),
  received_at: z.string(),
  payload: z.string(),
});
type WaitingRecord = z.infer<typeof waitingRecord>;

/**
 * Validates what waits in quarantine, record by record, and journals what passes as a run would have, with the times at
 * which it was received.
 *
 * @param engine with the views `quarantine` and `coverage` of one snapshot
 * @param folder of the journal; null: only count
 */
export async function judgeAgain(engine: Engine, folder: JournalFolder | null): Promise<Judged> {
  const waiting = z.object({ records: z.int() });
  const [all] = await engine.rows(waiting, 'select count(*)::integer as records from quarantine where not replayed');
  const judged: Judged = { coverage: 0, urlReports: 0, stillRejected: all?.records ?? 0 };
  const journal = folder && new ReplayJournal(folder);
  try {
    for await (const record of engine.stream(waitingRecord, sql('sync/replay/waiting_records'))) {
      if (!(await judgeOne(record, journal))) continue;
      judged[record.source === 'coverage' ? 'coverage' : 'urlReports']++;
      judged.stillRejected--;
    }
    await journal?.endWindow();
  } finally {
    journal?.close();
  }
  return judged;
}

async function judgeOne(record: WaitingRecord, journal: ReplayJournal | null): Promise<boolean> {
  if (record.source === 'coverage') {
    const entry = acceptedEntry(record);
    if (entry) await journal?.entry(entry, record);
    return entry !== null;
  }
  const { url } = record;
  if (url === null) return false;
  const outcome = judgeReport(record.payload, url);
  if (outcome.outcome !== 'fetched') return false;
  if (storable(stringified(outcome.record))) return false;
  await journal?.report(url, outcome, record);
  return true;
}

function acceptedEntry({ payload }: WaitingRecord): JudgedEntry | null {
  const entry = judgeEntry(jsonOf(payload));
  if (!entry.verdict.accepted || storable(stringified(entry.payload))) return null;
  return { ...entry, url: entry.verdict.record.url };
}

/** Entries that were received together make one window, because a window's time is that of its entries. */
class ReplayJournal {
  readonly #listing: AppendFile;
  readonly #reports: ReportsJournal;
  #window = 0;
  #receivedAt: string | null = null;

  constructor(folder: JournalFolder) {
    this.#listing = new AppendFile(folder.listing, 0);
    this.#reports = new ReportsJournal(folder);
  }

  async entry(entry: JudgedEntry, { position, received_at }: WaitingRecord): Promise<void> {
    if (this.#receivedAt !== received_at) await this.endWindow();
    this.#receivedAt = received_at;
    const place = { walk: REPLAY_WALK, window: this.#window, position: position ?? 0 };
    await this.#listing.append(entryText(entry, place));
  }

  report(url: string, outcome: ReportOutcome, { received_at }: WaitingRecord): Promise<void> {
    return this.#reports.record({ url, reason: 'replay' }, outcome, new Date(received_at));
  }

  close(): void {
    this.#listing.close();
    this.#reports.close();
  }

  async endWindow(): Promise<void> {
    if (this.#receivedAt === null) return;
    const window = { kind: 'window', walk: REPLAY_WALK, window: this.#window, at: this.#receivedAt, drift: [] };
    await this.#listing.append(journalLine(window));
    this.#window++;
  }
}
