import type { SourceError } from '../../source/errors.js';
import { BadWindow, type Drift, type JudgedEntry } from '../../source/walk/coverage-window.js';
import type { WalkResult } from '../../source/walk/walk.js';
import type { AcceptedWindow, WalkState } from '../../source/walk/walk-state.js';
import type { JournalFolder } from '../../warehouse/journal/folder.js';
import type { ListingLeft } from '../../warehouse/journal/listing.js';
import { endingWith, payloadText, payloadUrl, storable, stringified, wellFormedJson } from './embed.js';
import { SealedFile } from './sealed-file.js';

/** Drift kept per window; a hostile service can send any number of unknown fields. */
const MAX_DRIFT = 100;

/**
 * Writes the listing's journal. The entries of a window come before the window's own line, in one write: a window
 * whose line is missing was never accepted.
 */
export class ListingJournal {
  readonly #file: SealedFile;

  /** @param left what an interrupted run left; anything after it is cut off */
  constructor(folder: JournalFolder, left?: Pick<ListingLeft, 'bytes' | 'crc'>) {
    this.#file = new SealedFile(folder.listing, folder, left);
  }

  accept({ keep, fresh, drift, state, sources = [] }: AcceptedWindow, at: Date): Promise<void> {
    const place = { walk: state.walk, window: state.windows };
    const entries = [
      ...fresh.map((entry, index) => entryText(entry, { ...place, position: keep + index })),
      ...sources.map((source) => `${wellFormedJson({ kind: 'source', ...place, source })}\n`),
    ];
    const window = { kind: 'window', ...place, keep, at: at.toISOString(), drift: drift.slice(0, MAX_DRIFT), state };
    return this.#file.append(entries.join(''), window);
  }

  /** Ends the journal; keeps the text of a window that broke the contract as a whole, if one ended the walk. */
  async finish(result: WalkResult, at: Date, redact: (text: string) => string): Promise<void> {
    const { kept, walks, complete, reason } = result;
    const { walk, count, startedAt } = kept;
    const broken = result.error ? brokenWindow(result.error, kept, at, redact) : null;
    if (broken) await this.#file.append(broken.entries, broken.window);
    await this.#file.append('', { kind: 'listed', walk, walks, complete, reason, count, startedAt });
  }

  close(): void {
    this.#file.close();
  }
}

interface Place {
  walk: number;
  window: number;
  position: number;
}

/** The line of one entry, accepted or refused. */
function entryText(entry: JudgedEntry, place: Place): string {
  const { verdict, url, payload } = entry;
  const text = stringified(payload);
  const unstorable = storable(text);
  if (!verdict.accepted || unstorable) {
    const issues = verdict.accepted ? [unstorable] : verdict.issues;
    return rejectText(place, { url: payloadUrl(url), issues, payload: payloadText(text) });
  }
  const present = Object.hasOwn(verdict.record, 'canonicals_match');
  const absent = verdict.absent.filter((field) => field !== 'canonicals_match' || hasInspectionData(verdict.record));
  const line = endingWith(text, 'entry', {
    ...{ kind: 'entry', ...place, url },
    ...(present ? {} : { canonicals_match_present: false }),
    ...(absent.length > 0 ? { absent } : {}),
    ...(verdict.extra ? { extra: JSON.stringify(verdict.extra) } : {}),
  });
  return `${line}\n`;
}

/** `canonicals_match` is omitted for pages without inspection data; elsewhere its absence is drift. */
function hasInspectionData(record: { index_summary?: string | null | undefined }): boolean {
  return typeof record.index_summary === 'string';
}

/**
 * A refused record as one line. Text from the service, cut in the middle of an emoji, may hold half of a surrogate pair,
 * and DuckDB refuses a whole file for one.
 */
function rejectText(place: Place, rejected: { url: string | null; issues: unknown; payload: string }): string {
  return `${wellFormedJson({ kind: 'reject', ...place, ...rejected, issues: wellFormedJson(rejected.issues) })}\n`;
}

function brokenWindow(
  error: SourceError,
  state: WalkState,
  at: Date,
  redact: (text: string) => string,
): { entries: string; window: object } | null {
  if (!(error instanceof BadWindow)) return null;
  const place = { walk: state.walk, window: state.windows + 1, position: state.kept };
  const entries = rejectText(place, { url: null, issues: error.issues, payload: payloadText(redact(error.text)) });
  const drift: Drift[] = [];
  const after = { ...state, windows: state.windows + 1, kept: state.kept + 1 };
  const window = { kind: 'window', ...place, keep: state.kept, at: at.toISOString(), drift, state: after };
  return { entries, window };
}
