import { z } from 'zod';
import { BadWindow, type Drift, type JudgedEntry } from '../source/coverage-window.js';
import type { SourceError } from '../source/errors.js';
import type { WalkResult } from '../source/walk.js';
import {
  type AcceptedWindow,
  type Interrupted,
  newRecentUrls,
  remember,
  type WalkState,
  walkAnew,
  walkStateSchema,
} from '../source/walk-state.js';
import { AppendFile } from '../storage/durable.js';
import { journalLine, payloadText, payloadUrl, storable, stringified, wellFormedJson } from './embed.js';
import type { JournalFolder } from './folder.js';
import { readLines } from './lines.js';

/** A walk that was interrupted for longer begins anew: too much of the listing may have moved. */
const WALK_RESUME_WITHIN_MS = 10 * 60_000;
/** Of one window; a hostile service can send any number of unknown fields. */
const MAX_DRIFT = 100;

/** The walk as it ended, read from the journal. */
export interface Listed {
  walk: number;
  walks: number;
  complete: boolean;
  reason: string | null;
  count: number | null;
  startedAt: number;
}

const windowLine = z.object({ kind: z.literal('window'), state: walkStateSchema, keep: z.int(), at: z.iso.datetime() });
const listedLine = z.object({
  kind: z.literal('listed'),
  walk: z.int(),
  walks: z.int(),
  complete: z.boolean(),
  reason: z.string().nullable(),
  count: z.int().nullable(),
  startedAt: z.number(),
});
const entryLine = z.object({ kind: z.enum(['entry', 'reject']), walk: z.int(), url: z.string().nullish() });
const anyLine = z.union([windowLine, listedLine, entryLine]);

/**
 * Writes the listing's journal. The entries of a window come before the window's own line, in one write: a window
 * whose line is missing was never accepted.
 */
export class ListingJournal {
  readonly #file: AppendFile;

  constructor(folder: JournalFolder, bytes: number) {
    this.#file = new AppendFile(folder.listing, bytes);
  }

  accept({ keep, fresh, drift, state }: AcceptedWindow, at: Date): Promise<void> {
    const place = { walk: state.walk, window: state.windows };
    const entries = fresh.map((entry, index) => entryText(entry, { ...place, position: keep + index }));
    const told = drift.slice(0, MAX_DRIFT);
    const window = { kind: 'window', ...place, keep, at: at.toISOString(), drift: told, state };
    return this.#file.append(`${entries.join('')}${journalLine(window)}`);
  }

  /** Keeps the text of a window that broke the contract as a whole and ended the walk. */
  async finish(result: WalkResult, at: Date, redact: (text: string) => string): Promise<void> {
    const { kept, walks, complete, reason } = result;
    const { walk, count, startedAt } = kept;
    const broken = result.error ? brokenWindow(result.error, kept, at, redact) : '';
    const listed = { kind: 'listed', walk, walks, complete, reason, count, startedAt };
    await this.#file.append(`${broken}${journalLine(listed)}`);
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
export function entryText(entry: JudgedEntry, place: Place): string {
  if (!('verdict' in entry)) return placedEntry(entry.url, '', entry.text, place);
  const { verdict, url, payload } = entry;
  const text = stringified(payload);
  const unstorable = storable(text);
  if (!verdict.accepted || unstorable) {
    const issues = verdict.accepted ? [unstorable] : verdict.issues;
    return journalLine({
      kind: 'reject',
      ...place,
      url: payloadUrl(url),
      issues: wellFormedJson(issues),
      payload: payloadText(text),
    });
  }
  const present = Object.hasOwn(verdict.record, 'canonicals_match');
  const absent = verdict.absent.filter((field) => field !== 'canonicals_match' || hasInspectionData(verdict.record));
  const rest = [
    present ? '' : ',"canonicals_match_present":false',
    absent.length > 0 ? `,"absent":${JSON.stringify(absent)}` : '',
    verdict.extra ? `,"extra":${JSON.stringify(JSON.stringify(verdict.extra))}` : '',
  ].join('');
  return placedEntry(url, rest, text, place);
}

/** @param rest more members of the line, a comma before each */
function placedEntry(url: string | null, rest: string, text: string | null, { walk, window, position }: Place): string {
  const place = `"walk":${walk},"window":${window},"position":${position}`;
  return `{"kind":"entry",${place},"url":${JSON.stringify(url)}${rest},"entry":${text}}\n`;
}

/** `canonicals_match` is omitted for pages without inspection data; elsewhere its absence is drift. */
function hasInspectionData(record: { index_summary?: string | null | undefined }): boolean {
  return typeof record.index_summary === 'string';
}

function brokenWindow(error: SourceError, state: WalkState, at: Date, redact: (text: string) => string): string {
  if (!(error instanceof BadWindow)) return '';
  const place = { walk: state.walk, window: state.windows + 1, position: state.kept };
  const reject = {
    kind: 'reject',
    ...place,
    url: null,
    issues: wellFormedJson(error.issues),
    payload: payloadText(redact(error.text)),
  };
  const drift: Drift[] = [];
  const after = { ...state, windows: state.windows + 1, kept: state.kept + 1 };
  return (
    journalLine(reject) +
    journalLine({ kind: 'window', ...place, keep: state.kept, at: at.toISOString(), drift, state: after })
  );
}

/** What an interrupted listing left. */
export type ListingLeft =
  | { kind: 'listed'; listed: Listed; bytes: number; windows: number }
  | { kind: 'walking'; from: Interrupted | undefined; bytes: number; windows: number };

/**
 * Reads the journal of a listing back.
 *
 * @param now milliseconds since 1970; a walk that was interrupted for more than ten minutes begins anew
 * @returns the end of the walk, or where to go on, and how many bytes of the file are whole
 * @throws JournalError where a line in the middle is damaged
 */
export async function readListing(folder: JournalFolder, pageSize: number, now: number): Promise<ListingLeft> {
  const reader = new ListingReader(pageSize);
  let bytes = 0;
  let windows = 0;
  for await (const { value, end } of readLines(folder.listing, anyLine)) {
    if (value.kind === 'listed') return { kind: 'listed', listed: value, bytes: end, windows };
    if (value.kind === 'window') {
      reader.window(value.state, value.keep, Date.parse(value.at));
      bytes = end;
      windows++;
    } else reader.entry(value.url ?? null);
  }
  return { kind: 'walking', from: reader.interrupted(now), bytes, windows };
}

class ListingReader {
  #recent;
  #pending: { url: string | null }[] = [];
  #last: { state: WalkState; at: number } | null = null;
  #finished: WalkState | null = null;

  constructor(private readonly pageSize: number) {
    this.#recent = newRecentUrls(pageSize);
  }

  entry(url: string | null): void {
    this.#pending.push({ url });
  }

  window(state: WalkState, keep: number, at: number): void {
    const before = this.#last?.state;
    if (before && before.walk !== state.walk) {
      this.#recent = newRecentUrls(this.pageSize);
      if (before.ended) this.#finished = before;
    }
    remember(this.#recent, before?.walk === state.walk ? before.kept : 0, { keep, fresh: this.#pending });
    this.#pending = [];
    this.#last = { state, at };
  }

  interrupted(now: number): Interrupted | undefined {
    if (!this.#last) return undefined;
    const { state, at } = this.#last;
    const stale = now - at > WALK_RESUME_WITHIN_MS;
    const from = stale ? { ...walkAnew(state, now), doubt: null, previous: null, finished: 0 } : state;
    const recent = stale ? newRecentUrls(this.pageSize) : this.#recent;
    return { state: from, recent, finished: stale ? null : this.#finished };
  }
}
