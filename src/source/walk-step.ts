import type { Pagination } from '../contract/coverage.js';
import type { Drift, JudgedEntry, Window } from './coverage-window.js';
import { skipOf } from './links.js';
import type { RecentUrls } from './ring.js';
import type { AcceptedWindow, WalkState } from './walk-state.js';

/** Windows without an anchor, or without progress, in a row before the walk begins anew. */
const MAX_LOOKBACKS = 8;
/** Walks of one run, the ones that were given up included. */
export const MAX_WALKS = 3;

/** What a window means for the walk. */
export type Step =
  | { kind: 'accepted'; window: AcceptedWindow }
  | { kind: 'look_back'; state: WalkState }
  | { kind: 'anew'; mode: WalkState['mode'] }
  | { kind: 'stuck'; reason: string };

/** Fits a window that was asked for one entry early to what is kept. */
export function stepByOverlap(state: WalkState, window: Window, recent: RecentUrls, nextLink: string | null): Step {
  const asked = state.nextSkip;
  const received = window.entries.length;
  const { skip, count } = window.pagination;
  const seen = counted(state, window);
  const start = skip ?? asked;
  if (typeof skip === 'number' && skip !== asked && asked < (count ?? Number.MAX_SAFE_INTEGER)) {
    return { kind: 'anew', mode: 'links' };
  }
  if (received === 0) return asked === 0 ? emptyAtTheStart(seen, window) : lookBack(seen, asked);

  const placed = asked === 0 ? { keep: 0, from: 0, doubt: null } : placeBehindAnchor(window.entries, recent);
  if (!placed) return lookBack(seen, asked);
  const fresh = window.entries.slice(placed.from);
  const signals = endSignals(window.pagination, start + received, nextLink);
  const unanimous = signals.every((signal) => signal === signals[0]);
  const ended = unanimous && signals.length > 0 ? signals[0] === true : fresh.length === 0;
  if (!ended && fresh.length === 0) return lookBack(seen, asked);
  if (!ended && received === 1 && asked === 0) return { kind: 'anew', mode: 'links' };
  const after: WalkState = {
    ...seen,
    windows: state.windows + 1,
    kept: placed.keep + fresh.length,
    offset: start + received,
    nextSkip: start + received - 1,
    windowSize: Math.max(state.windowSize, received),
    lookbacks: fresh.length > 0 ? 0 : state.lookbacks,
    doubt: state.doubt ?? placed.doubt,
    ended,
  };
  const drift = [...window.drift, ...paginationDisputes(window.pagination, start, received, nextLink)];
  return { kind: 'accepted', window: { keep: placed.keep, fresh, drift, state: after } };
}

/** Follows `next_page` as given; what it lists is proven by a second walk. */
export function stepByLink(state: WalkState, window: Window, nextLink: string | null): Step {
  const received = window.entries.length;
  const { skip: answered, end, count } = window.pagination;
  const skip = answered ?? state.offset;
  if (state.windows > 0 && skip <= state.nextSkip) {
    return { kind: 'stuck', reason: `next_page led back to entry ${skip}` };
  }
  if (nextLink !== null && (nextLink === state.nextLink || (skipOf(nextLink) ?? Number.POSITIVE_INFINITY) <= skip)) {
    return { kind: 'stuck', reason: `next_page repeats (${nextLink})` };
  }
  const emptyWindows = received === 0 ? state.lookbacks + 1 : 0;
  if (emptyWindows > MAX_LOOKBACKS) {
    return { kind: 'stuck', reason: `${MAX_LOOKBACKS} empty windows in a row still have a next_page` };
  }
  const beyond = received === 0 && (end === true || (typeof count === 'number' && skip >= count));
  const after: WalkState = {
    ...counted(state, window),
    windows: state.windows + 1,
    kept: state.kept + received,
    offset: skip + received,
    nextSkip: skip,
    nextLink,
    windowSize: Math.max(state.windowSize, received),
    lookbacks: emptyWindows,
    ended: nextLink === null || beyond,
  };
  const drift = [...window.drift, ...paginationDisputes(window.pagination, skip, received, nextLink)];
  return { kind: 'accepted', window: { keep: state.kept, fresh: window.entries, drift, state: after } };
}

/** `count` belongs to every window, the useless ones too. */
function counted(state: WalkState, { pagination }: Window): WalkState {
  const count = pagination.count ?? null;
  const moved = state.count !== null && count !== null && count !== state.count;
  return { ...state, count: count ?? state.count, countMoved: state.countMoved || moved };
}

function emptyAtTheStart(state: WalkState, window: Window): Step {
  if (window.pagination.count !== 0) {
    if (state.lookbacks < MAX_LOOKBACKS)
      return { kind: 'look_back', state: { ...state, lookbacks: state.lookbacks + 1 } };
    return { kind: 'stuck', reason: `the service counts ${window.pagination.count} pages but lists none` };
  }
  const after = { ...state, windows: state.windows + 1, kept: 0, offset: 0, ended: true };
  return { kind: 'accepted', window: { keep: 0, fresh: [], drift: window.drift, state: after } };
}

/** Pages were removed before the offset, so that the window starts behind the last entry seen: go back half a window. */
function lookBack(state: WalkState, asked: number): Step {
  if (state.lookbacks >= MAX_LOOKBACKS) {
    if (state.walk < MAX_WALKS) return { kind: 'anew', mode: state.mode };
    return { kind: 'stuck', reason: `no window behind entry ${state.kept} fits to the one before it` };
  }
  const step = Math.max(1, Math.floor(state.windowSize / 2));
  const nextSkip = Math.max(0, Math.min(asked, state.count ?? asked) - step);
  return { kind: 'look_back', state: { ...state, nextSkip, lookbacks: state.lookbacks + 1 } };
}

/**
 * Finds the last entry of the window that was seen recently. Entries that were seen in another order than they arrive
 * in now are evidence that pages move.
 */
function placeBehindAnchor(
  entries: JudgedEntry[],
  recent: RecentUrls,
): { keep: number; from: number; doubt: string | null } | null {
  let anchor: { position: number; at: number } | null = null;
  let doubt: string | null = null;
  entries.forEach(({ url }, at) => {
    const position = url === null ? undefined : recent.positionOf(url);
    if (position === undefined) return;
    if (anchor && position < anchor.position) doubt = 'pages changed places while the listing was walked';
    anchor = { position, at };
  });
  const found = anchor as { position: number; at: number } | null;
  return found && { keep: found.position + 1, from: found.at + 1, doubt };
}

/** What each field that is there says of this window being the last. */
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
  if (typeof end === 'boolean' && end !== last) note('end', end);
  if (pagination.next_page !== undefined && (nextLink === null) !== last) note('next_page', nextLink);
  else if (nextLink !== null && (skipOf(nextLink) ?? offset) <= asked) note('next_page', nextLink);
  if (count && limit && typeof totalPage === 'number' && totalPage !== Math.ceil(count / limit))
    note('total_page', totalPage);
  return drift;
}
