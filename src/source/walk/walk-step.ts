import { counted } from '../../base/observe/format.js';
import type { Pagination } from '../contract/coverage.js';
import { skipOf } from '../links.js';
import type { Drift, JudgedEntry, Window } from './coverage-window.js';
import type { AcceptedWindow, RecentUrls, WalkState } from './walk-state.js';

/** Windows without an anchor, or without progress, in a row before the walk starts over. */
const MAX_LOOKBACKS = 8;
/** Windows with fewer entries overlap by one entry only. */
const SMALL_WINDOW = 10;
/** Most walks in one run, abandoned ones included. */
export const MAX_WALKS = 3;

/** What a window means for the walk. */
export type Step =
  /** `deadEnd`: why the walk cannot continue after this window, although it is not the last. */
  | { kind: 'accepted'; window: AcceptedWindow; deadEnd: string | null }
  | { kind: 'look_back'; state: WalkState }
  | { kind: 'restart'; mode: WalkState['mode'] }
  | { kind: 'stuck'; reason: string };

/** Joins a window that starts early, and so repeats some kept entries, to what is kept. */
export function stepByOverlap(state: WalkState, window: Window, recent: RecentUrls, nextLink: string | null): Step {
  const asked = state.nextSkip;
  const received = window.entries.length;
  const { skip, count } = window.pagination;
  const seen = withCount(state, window);
  const start = skip ?? asked;
  if (typeof skip === 'number' && skip !== asked && asked < (count ?? Number.MAX_SAFE_INTEGER)) {
    return { kind: 'restart', mode: 'links' };
  }
  if (received === 0) return asked === 0 ? emptyAtTheStart(seen, window) : lookBack(state, seen, asked);

  const signals = endSignals(window.pagination, start + received, nextLink);
  const unanimous = signals.length > 0 && signals.every((signal) => signal === signals[0]);
  const last = unanimous && signals[0] === true;
  const placed = asked === 0 ? AT_THE_START : placeBehindAnchor(window.entries, { start, last }, state, seen, recent);
  if (!placed) return lookBack(state, seen, asked);
  const fresh = window.entries.slice(placed.from);
  const nextSkip = start + received - overlapOf(seen, received);
  // Where the service contradicts itself, the listing ends where one more window holds nothing but its overlap.
  const ended = last || (!unanimous && asked > 0 && !placed.progress && nextSkip <= asked);
  if (!ended && !placed.progress && (nextSkip <= asked || state.lookbacks >= MAX_LOOKBACKS)) {
    return lookBack(state, seen, asked);
  }
  if (!ended && received === 1 && asked === 0) return { kind: 'restart', mode: 'links' };
  const after: WalkState = {
    ...seen,
    windows: state.windows + 1,
    kept: placed.keep + fresh.length,
    offset: start + received,
    nextSkip,
    windowSize: Math.max(state.windowSize, received),
    lookbacks: lookbacksAfter(state, asked, placed.progress),
    doubt: state.doubt ?? placed.doubt,
    ended,
  };
  const drift = [...window.drift, ...paginationDisputes(window.pagination, start, received, nextLink)];
  return { kind: 'accepted', window: { keep: placed.keep, fresh, drift, state: after }, deadEnd: null };
}

/** A return to the start is not progress in itself: it would lead back to where the walk was lost, forever. */
function lookbacksAfter({ lookbacks }: WalkState, asked: number, progress: boolean): number {
  if (asked === 0) return lookbacks;
  return progress ? 0 : lookbacks + 1;
}

/** Follows `next_page` as given; a second walk proves the result. */
export function stepByLink(state: WalkState, window: Window, recent: RecentUrls, nextLink: string | null): Step {
  const received = window.entries.length;
  const { skip: answered, end, count } = window.pagination;
  const linked = state.nextLink === null ? null : skipOf(state.nextLink);
  const skip = answered ?? linked ?? state.offset;
  if (state.windows > 0 && skip <= state.nextSkip && (answered ?? linked) !== null) {
    return { kind: 'stuck', reason: `next_page led back to entry ${skip}` };
  }
  const isNew = ({ url }: JudgedEntry) => url === null || recent.positionOf(url) === undefined;
  const idleWindows = window.entries.some(isNew) ? 0 : state.lookbacks + 1;
  const beyond = received === 0 && (end === true || (typeof count === 'number' && skip >= count));
  const noWayOn = nextLink === null ? deadEndWithoutLink(window.pagination, skip + received) : null;
  const after: WalkState = {
    ...withCount(state, window),
    windows: state.windows + 1,
    kept: state.kept + received,
    offset: skip + received,
    nextSkip: skip,
    nextLink,
    milestone: Number.isInteger(Math.log2(state.windows + 1)) ? nextLink : state.milestone,
    windowSize: Math.max(state.windowSize, received),
    lookbacks: idleWindows,
    ended: noWayOn === null && (nextLink === null || beyond),
  };
  const drift = [...window.drift, ...paginationDisputes(window.pagination, skip, received, nextLink)];
  const deadEnd = after.ended ? null : (noWayOn ?? badLink(state, after, skip));
  return { kind: 'accepted', window: { keep: state.kept, fresh: window.entries, drift, state: after }, deadEnd };
}

/** Why a link cannot be followed, or null. Links that lead in a circle return to the milestone sooner or later. */
function badLink(before: WalkState, { nextLink, lookbacks }: WalkState, skip: number): string | null {
  if (nextLink === null) return null;
  const { nextLink: last, milestone } = before;
  const repeats = nextLink === last || nextLink === milestone || (skipOf(nextLink) ?? Number.POSITIVE_INFINITY) <= skip;
  if (repeats) return `next_page repeats (${nextLink})`;
  if (lookbacks <= MAX_LOOKBACKS) return null;
  return `${MAX_LOOKBACKS} windows in a row listed nothing new but had a next_page`;
}

function deadEndWithoutLink({ end, count }: Pagination, offset: number): string | null {
  if (end === true || (end !== false && offset >= (count ?? 0))) return null;
  const more = end === false ? 'says that more follow' : `counts ${counted(count ?? 0, 'page')}`;
  return `there is no next_page after entry ${offset}, but the service ${more}`;
}

/** Every window updates `count`, even one that is not accepted. */
function withCount(state: WalkState, { pagination }: Window): WalkState {
  const count = pagination.count ?? null;
  const moved = state.count !== null && count !== null && count !== state.count;
  return { ...state, count: count ?? state.count, countMoved: state.countMoved || moved };
}

function emptyAtTheStart(state: WalkState, window: Window): Step {
  if (window.pagination.count !== 0) {
    if (state.lookbacks < MAX_LOOKBACKS)
      return { kind: 'look_back', state: { ...state, lookbacks: state.lookbacks + 1 } };
    const { count } = window.pagination;
    const why = count
      ? `counts ${counted(count, 'page')} but lists none`
      : 'lists no pages and gives no count that says so';
    return { kind: 'stuck', reason: `the service ${why}` };
  }
  const after = { ...state, windows: state.windows + 1, kept: 0, offset: 0, ended: true };
  return { kind: 'accepted', window: { keep: 0, fresh: [], drift: window.drift, state: after }, deadEnd: null };
}

/**
 * Goes back half a window: pages before the offset were removed, so that the window starts after the last entry seen.
 * The count of the last accepted window stays, to compare the next one with.
 */
function lookBack(state: WalkState, seen: WalkState, asked: number): Step {
  if (state.lookbacks >= MAX_LOOKBACKS) {
    if (state.walk < MAX_WALKS) return { kind: 'restart', mode: state.mode };
    return { kind: 'stuck', reason: `no window after entry ${state.kept} fits the one before it` };
  }
  const step = Math.max(1, Math.floor(state.windowSize / 2));
  const nextSkip = Math.max(0, Math.min(asked, seen.count ?? asked) - step);
  const { countMoved } = seen;
  return { kind: 'look_back', state: { ...state, countMoved, nextSkip, lookbacks: state.lookbacks + 1 } };
}

/** Where a window's entries go: those from `from` on are kept from position `keep` on. */
interface Place {
  keep: number;
  from: number;
  /** Whether the window holds a page that was not seen recently. */
  progress: boolean;
  doubt: string | null;
}

const AT_THE_START: Place = { keep: 0, from: 0, progress: true, doubt: null };

/**
 * Finds the anchor: the last of the recently seen entries with which the window begins. What follows it is new, and
 * replaces what was kept after it.
 *
 * A page that left and came back elsewhere was seen recently, too, so an anchor is trusted only
 * - in its place: where it was before, shifted by the change of `count`; or
 * - with others: at least two in all, and two more than the entries that are missing between or after them.
 *
 * No kept entry is dropped if the order of entries has changed, or if more are missing than `count` says were removed:
 * two walks must agree then.
 *
 * @returns null if no anchor can be trusted
 */
function placeBehindAnchor(
  entries: JudgedEntry[],
  { start, last }: { start: number; last: boolean },
  state: WalkState,
  seen: WalkState,
  recent: RecentUrls,
): Place | null {
  const known = entries.map(({ url }) => (url === null ? null : (recent.positionOf(url) ?? 'new')));
  const firstNew = known.indexOf('new');
  const progress = firstNew >= 0;
  const overlap = progress ? known.slice(0, firstNew) : known;
  const countChange = (seen.count ?? 0) - (state.count ?? seen.count ?? 0);
  const expected = start - countChange - (state.offset - state.kept);
  const inPlace = overlap.findLastIndex((position, at) => position === expected + at);
  const anchorAt = inPlace >= 0 ? inPlace : overlap.findLastIndex(isPosition);

  const before = overlap.slice(0, anchorAt + 1).filter(isPosition);
  const [first = 0, anchor = first] = [before[0], before.at(-1)];
  // Entries that a window among known entries lacks may follow it.
  const until = progress || last ? state.kept : anchor + 1;
  const listed = known.filter((position) => position === null || (isPosition(position) && position >= first)).length;
  const missing = Math.max(0, until - first - listed);
  if (before.length + (inPlace >= 0 ? 1 : 0) < 2 + missing) return null;

  const vanished = inPlace < 0 && missing > Math.max(0, -countChange);
  const moved = !isAscending(known.filter(isPosition));
  const drops = inPlace >= 0 || (!moved && !vanished && (progress || last));
  return { keep: drops ? anchor + 1 : state.kept, from: anchorAt + 1, progress, doubt: doubtOf(moved, vanished) };
}

function isPosition(position: number | 'new' | null): position is number {
  return typeof position === 'number';
}

function isAscending(positions: number[]): boolean {
  return positions.every((position, at) => at === 0 || position > (positions[at - 1] ?? 0));
}

function doubtOf(moved: boolean, vanished: boolean): string | null {
  if (moved) return 'pages changed places while the listing was walked';
  return vanished ? 'pages disappeared from where they had just been listed' : null;
}

/**
 * How many entries early the next window starts. One is often not enough where the listing is known to change; in small
 * windows, a second one costs more than looking back does.
 */
function overlapOf({ countMoved }: WalkState, received: number): number {
  return countMoved && received >= SMALL_WINDOW ? 2 : 1;
}

/** Whether this window is the last, according to each field that is present. */
function endSignals(pagination: Pagination, offset: number, nextLink: string | null): boolean[] {
  const signals: boolean[] = [];
  if (typeof pagination.end === 'boolean') signals.push(pagination.end);
  if (pagination.next_page !== undefined) signals.push(nextLink === null);
  if (typeof pagination.count === 'number') signals.push(offset >= pagination.count);
  return signals;
}

/** Pagination fields that contradict each other or the window they came with. */
function paginationDisputes(pagination: Pagination, asked: number, received: number, nextLink: string | null): Drift[] {
  const offset = asked + received;
  const { end, count, limit, total_page: totalPage } = pagination;
  const last = typeof count === 'number' ? offset >= count : end;
  const drift: Drift[] = [];
  const note = (field: string, value: unknown) => {
    drift.push({ kind: 'pagination', field: `pagination.${field}`, value: String(value) });
  };
  const isLast = typeof last === 'boolean';
  if (isLast && typeof end === 'boolean' && end !== last) note('end', end);
  if (isLast && pagination.next_page !== undefined && (nextLink === null) !== last) note('next_page', nextLink);
  else if (nextLink !== null && (skipOf(nextLink) ?? offset) <= asked) note('next_page', nextLink);
  if (count && limit && typeof totalPage === 'number' && totalPage !== Math.ceil(count / limit))
    note('total_page', totalPage);
  return drift;
}
