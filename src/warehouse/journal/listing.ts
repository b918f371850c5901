import { z } from 'zod';
import { sizeOf } from '../../base/storage/durable.js';
import { MINUTE_MS } from '../../base/time.js';
import {
  type Interrupted,
  newRecentUrls,
  remember,
  restartedWalk,
  type WalkState,
  walkStateSchema,
} from '../../source/walk/walk-state.js';
import type { JournalFolder } from './folder.js';
import { JournalError } from './header.js';
import { type JournalLine, readLines } from './lines.js';
import { openSeal, passOver, seedOf } from './seal.js';

/** A walk that was interrupted for longer starts over: too much of the listing may have moved. */
const WALK_RESUME_WITHIN_MS = 10 * MINUTE_MS;

/** The walk as it ended, read from the journal. */
export interface JournaledWalk {
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

/** What an interrupted listing left: the first `bytes` of its file are intact, with the checksum `crc`. */
export type ListingLeft = { bytes: number; crc: number; windows: number } & (
  | { kind: 'listed'; listed: JournaledWalk }
  | { kind: 'walking'; from: Interrupted | undefined }
);

/**
 * Reads the journal of a listing back. Leaves out a last window that the process did not finish writing.
 *
 * @param now milliseconds since 1970; a walk that was interrupted for more than ten minutes starts over
 * @throws JournalError if anything else is damaged
 */
export async function readListing(folder: JournalFolder, pageSize: number, now: number): Promise<ListingLeft> {
  const reader = new ListingReader(pageSize);
  const reading = new ListingReading(reader, seedOf(folder));
  for await (const line of readLines(folder.listing, anyLine)) {
    const damage = reading.line(line);
    if (damage !== null) throw new JournalError(`${folder.listing} is damaged: ${damage}`);
  }
  const { listed, bytes, crc, windows } = reading;
  if (listed && (await sizeOf(folder.listing)) > bytes)
    throw new JournalError(`${folder.listing} is damaged: there is data after its end`);
  const left = { bytes, crc, windows };
  return listed ? { kind: 'listed', listed, ...left } : { kind: 'walking', from: reader.interrupted(now), ...left };
}

/** Takes line after line for as long as they are intact. */
class ListingReading {
  listed: JournaledWalk | null = null;
  /** Offset after the last valid seal. */
  bytes = 0;
  crc: number;
  windows = 0;
  #running: number;

  constructor(
    private readonly reader: ListingReader,
    seed: number,
  ) {
    this.crc = seed;
    this.#running = seed;
  }

  /** @returns what is wrong, or null */
  line({ value, text, end, number }: JournalLine<z.infer<typeof anyLine>>): string | null {
    if (this.listed) return `line ${number} comes after its end`;
    if (value.kind === 'entry' || value.kind === 'reject') {
      this.#running = passOver(text, this.#running);
      this.reader.entry(value.url ?? null);
      return null;
    }
    const { isWhole, crc } = openSeal(text, this.#running);
    if (!isWhole) return `line ${number}, or one since the window before it, is not as it was written`;
    this.#running = crc;
    this.crc = crc;
    this.bytes = end;
    if (value.kind === 'listed') this.listed = value;
    if (value.kind === 'window') {
      this.reader.window(value.state, value.keep, Date.parse(value.at));
      this.windows++;
    }
    return null;
  }
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
    const from = stale ? { ...restartedWalk(state, now), doubt: null, previous: null, finished: 0 } : state;
    const recent = stale ? newRecentUrls(this.pageSize) : this.#recent;
    return { state: from, recent, finished: stale ? null : this.#finished };
  }
}
