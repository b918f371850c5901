import { z } from 'zod';
import type { Drift, JudgedEntry } from './coverage-window.js';

/** How many entries a window is asked to have: as many as the service gives at most. */
export const WINDOW_ENTRIES = 1000;
/** Several windows, so that the anchor in the window before is always found. */
const RECENT_URLS = 10 * WINDOW_ENTRIES;

/**
 * The state of a walk after its last window. It is journaled with each window, so that an interrupted walk resumes from
 * there; the recent URLs are read back from the journal's entries. The defaults are those of the first walk.
 */
export const walkStateSchema = z.object({
  /** 1 for the first walk of a run; a walk that starts over counts as the next one. */
  walk: z.int().default(1),
  /** `overlap` proves each window by an anchor; `links` follows `next_page` where a service allows no overlap. */
  mode: z.enum(['overlap', 'links']).default('overlap'),
  /** The `limit` to send; null once the service refused it. */
  limit: z.int().nullable(),
  windows: z.int().default(0),
  /** Entries kept so far. */
  kept: z.int().default(0),
  /** When the walk began, in milliseconds since 1970: the time of its snapshot. */
  startedAt: z.number(),
  /** Offset after the last entry that arrived. */
  offset: z.int().default(0),
  /** In `overlap`: where the next window starts. In `links`: where the last one did. */
  nextSkip: z.int().default(0),
  /** In `links`: the link to follow, null for the first window. */
  nextLink: z.string().nullable().default(null),
  /** In `links`: a link seen earlier, after 1, 2, 4… windows, to detect links that lead in a circle. */
  milestone: z.string().nullable().default(null),
  /** The largest window so far. */
  windowSize: z.int().default(0),
  /** Windows without an anchor, or without progress, in a row. */
  lookbacks: z.int().default(0),
  count: z.int().nullable().default(null),
  countMoved: z.boolean().default(false),
  /** Evidence that pages changed places while the listing was walked. */
  doubt: z.string().nullable().default(null),
  ended: z.boolean().default(false),
  /** The last walk before this one that reached the end, which this one must match; and how many reached it. */
  previous: z.int().nullable().default(null),
  finished: z.int().default(0),
});
export type WalkState = z.infer<typeof walkStateSchema>;

/** An accepted window: `fresh` replaces the kept entries from `keep` on. */
export interface AcceptedWindow {
  keep: number;
  fresh: JudgedEntry[];
  drift: Drift[];
  /** The walk's state after this window. */
  state: WalkState;
  /** The places that named the pages, if the source has many. */
  sources?: readonly object[];
}

/** Where a resumed walk starts. */
export interface Interrupted {
  state: WalkState;
  recent: RecentUrls;
  /** The walk that reached the end before this one, if one did. */
  finished: WalkState | null;
}

export function firstWalk(pageSize: number, now: number): WalkState {
  return walkStateSchema.parse({ limit: pageSize, startedAt: now });
}

/** The next walk after one that reached the end without proof. */
export function walkAgain(state: WalkState, now: number): WalkState {
  return { ...restartedWalk(state, now), previous: state.walk, finished: state.finished + 1 };
}

/** The next walk after one that was abandoned before its end, or interrupted for too long. */
export function restartedWalk(state: WalkState, now: number): WalkState {
  const { mode, limit, doubt, previous, finished } = state;
  return { ...firstWalk(0, now), walk: state.walk + 1, mode, limit, doubt, previous, finished };
}

export function remember(
  recent: RecentUrls,
  keptBefore: number,
  { keep, fresh }: { keep: number; fresh: readonly { url: string | null }[] },
): void {
  if (keep < keptBefore) recent.dropFrom(keep);
  fresh.forEach(({ url }, at) => {
    if (url !== null) recent.add(url, keep + at);
  });
}

/**
 * The URLs that a walk saw last, with their positions among the entries it keeps. Bounded, so that a listing of
 * millions of pages needs no more memory than one of thousands.
 *
 * Two maps take turns: when the young one is full, it becomes the old one, and the old one is dropped. Deleting the
 * oldest key of a single map with each new one is many times slower.
 */
export class RecentUrls {
  #young = new Map<string, number>();
  #old = new Map<string, number>();

  /** @param capacity at least this many of the newest URLs are known, at most twice as many */
  constructor(private readonly capacity = RECENT_URLS) {}

  /** This URL's position among the kept entries, the last if it has two; undefined if it was not seen recently. */
  positionOf(url: string): number | undefined {
    return this.#young.get(url) ?? this.#old.get(url);
  }

  /** `position` must be above all positions added before. */
  add(url: string, position: number): void {
    this.#young.set(url, position);
    if (this.#young.size < this.capacity) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  /** Forgets this position and all after it, which a window that was read again has replaced. */
  dropFrom(position: number): void {
    for (const generation of [this.#young, this.#old]) {
      for (const [url, at] of generation) if (at >= position) generation.delete(url);
    }
  }
}
