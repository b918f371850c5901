import { z } from 'zod';
import { sizeOf } from '../../base/storage/durable.js';
import { MINUTE_MS } from '../../base/time.js';
import {
  type Interrupted,
  RecentUrls,
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
const entryLine = z.object({ kind: z.enum(['entry', 'reject', 'source']), walk: z.int(), url: z.string().nullish() });
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
export async function readListing(folder: JournalFolder, now: number): Promise<ListingLeft> {
  const reader = new ListingReader(seedOf(folder));
  for await (const line of readLines(folder.listing, anyLine)) {
    const damage = reader.line(line);
    if (damage !== null) throw new JournalError(`${folder.listing} is damaged: ${damage}`);
  }
  const { listed, bytes, crc, windows } = reader;
  if (listed && (await sizeOf(folder.listing)) > bytes)
    throw new JournalError(`${folder.listing} is damaged: there is data after its end`);
  const left = { bytes, crc, windows };
  return listed ? { kind: 'listed', listed, ...left } : { kind: 'walking', from: reader.interrupted(now), ...left };
}

/** Takes line after line for as long as they are intact. */
class ListingReader {
  listed: JournaledWalk | null = null;
  /** Offset after the last valid seal, and the checksum up to there. */
  bytes = 0;
  crc: number;
  windows = 0;
  /** The checksum of all lines so far. */
  #running: number;
  #recent = new RecentUrls();
  /** Entries that no window has sealed yet. */
  #pending: { url: string | null }[] = [];
  #last: { state: WalkState; at: number } | null = null;
  #finished: WalkState | null = null;

  constructor(seed: number) {
    this.crc = seed;
    this.#running = seed;
  }

  /** @returns what is wrong, or null */
  line({ value, text, end, number }: JournalLine<z.infer<typeof anyLine>>): string | null {
    if (this.listed) return `line ${number} comes after its end`;
    if (value.kind !== 'window' && value.kind !== 'listed') {
      this.#running = passOver(text, this.#running);
      if (value.kind !== 'source') this.#pending.push({ url: value.url ?? null });
      return null;
    }
    const { isWhole, crc } = openSeal(text, this.#running);
    if (!isWhole) return `line ${number}, or one since the window before it, is not as it was written`;
    this.#running = crc;
    this.crc = crc;
    this.bytes = end;
    if (value.kind === 'listed') this.listed = value;
    if (value.kind === 'window') this.#window(value);
    return null;
  }

  #window({ state, keep, at }: z.infer<typeof windowLine>): void {
    const before = this.#last?.state;
    if (before && before.walk !== state.walk) {
      this.#recent = new RecentUrls();
      if (before.ended) this.#finished = before;
    }
    remember(this.#recent, before?.walk === state.walk ? before.kept : 0, { keep, fresh: this.#pending });
    this.#pending = [];
    this.#last = { state, at: Date.parse(at) };
    this.windows++;
  }

  interrupted(now: number): Interrupted | undefined {
    if (!this.#last) return undefined;
    const { state, at } = this.#last;
    if (now - at <= WALK_RESUME_WITHIN_MS) return { state, recent: this.#recent, finished: this.#finished };
    const from = { ...restartedWalk(state, now), doubt: null, previous: null, finished: 0 };
    return { state: from, recent: new RecentUrls(), finished: null };
  }
}
