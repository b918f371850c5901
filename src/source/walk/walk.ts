import type { Website } from '../../base/config/websites.js';
import { count, counted } from '../../base/observe/format.js';
import { SourceError } from '../errors.js';
import { followable, listingPath } from '../links.js';
import { BadWindow, readWindow, type Window } from './coverage-window.js';
import {
  type AcceptedWindow,
  firstWalk,
  type Interrupted,
  RecentUrls,
  remember,
  restartedWalk,
  type WalkState,
  WINDOW_ENTRIES,
  walkAgain,
} from './walk-state.js';
import { MAX_WALKS, type Step, stepByLink, stepByOverlap } from './walk-step.js';

/** Statuses after which `limit` is left out. */
const LIMIT_REFUSED: ReadonlySet<number> = new Set([400, 413, 422]);
/** Tries per window while the body is not a listing (a maintenance page, say), before the walk gives up. */
const BAD_BODY_TRIES = 3;

/** Where walks are kept. */
export interface WalkJournal {
  /** Journals the window; resolves once the kernel has it, and the walk continues. */
  accept(window: AcceptedWindow): Promise<void>;
  /** Number of distinct entries that a walk kept; each entry without a URL counts. */
  countDistinct(walk: number): Promise<number>;
  /** Whether two walks kept the same set of URLs. */
  sameListing(walk: number, other: number): Promise<boolean>;
}

export interface WalkDeps extends WalkJournal {
  website: Pick<Website, 'id' | 'baseUrl' | 'places'>;
  /** Entries of a window; `WINDOW_ENTRIES` if left out. */
  pageSize?: number;
  /** Milliseconds since 1970. */
  now(): number;
  /** Text of a 200 answer. */
  get(path: string): Promise<string>;
}

export interface WalkResult {
  /** The state of the one walk whose entries are kept; walks are never merged. */
  kept: WalkState;
  /** Number of walks started. */
  walks: number;
  complete: boolean;
  /** Why it is not complete. */
  reason: string | null;
  /** The error that ended it, if one did. */
  error: SourceError | null;
}

/**
 * Walks the whole coverage listing of a website, window by window.
 *
 * The listing is paged by offset and may change meanwhile, so each window starts one entry early: it must hold an entry
 * that was listed before and has stayed (the anchor), and what follows that entry is new. `complete` means that every
 * page that was monitored throughout the walk is listed, provided that pages that stay keep their order; where there is
 * evidence against that, two walks must agree.
 *
 * | state of one walk | what the next answer does (`walk-step.ts` decides)                                           |
 * |-------------------|----------------------------------------------------------------------------------------------|
 * | `overlap`         | holds the anchor: what follows is kept. No anchor: look back further, then start over (`restart`) |
 * | `links`           | for a service that gives no overlap: each `next_page` is followed, and doubted                 |
 * | `ended`           | the window is the last: the walk is judged                                                   |
 *
 * A judged walk is proven, or `walkAgain` begins another one that must list the same pages, `MAX_WALKS` in all. An error
 * that passes ends it as it is, incomplete; each accepted window is journaled, so that the next run goes on from there.
 *
 * @throws SourceError if the listing is unavailable for good (`final`) or nothing of it arrived; `Stopped`
 */
export async function walkListing(deps: WalkDeps, from?: Interrupted): Promise<WalkResult> {
  let state = from?.state ?? firstWalk(deps.pageSize ?? WINDOW_ENTRIES, deps.now());
  let recent = from?.recent ?? new RecentUrls();
  let finished = from?.finished ?? null;
  for (;;) {
    const end = await walkToTheEnd(deps, state, recent);
    const { walk } = end.state;
    if (end.error && end.state.windows === 0 && !finished) throw end.error;
    if (end.reason) {
      return { kept: finished ?? end.state, walks: walk, complete: false, reason: end.reason, error: end.error };
    }
    const verdict = await judge(deps, end.state, finished);
    if (verdict !== 'again')
      return { kept: end.state, walks: walk, complete: verdict.reason === null, reason: verdict.reason, error: null };
    finished = end.state;
    state = walkAgain(end.state, deps.now());
    recent = new RecentUrls();
  }
}

/** How a walk ended; `reason` is null if it reached the end. */
type WalkEnd = Pick<WalkResult, 'reason' | 'error'> & { state: WalkState };

/** Whether a walk that reached the end is proven, and if not, whether another one may settle it. */
async function judge(
  deps: WalkDeps,
  state: WalkState,
  before: WalkState | null,
): Promise<'again' | { reason: string | null }> {
  const doubt = state.doubt ?? (await doubtFromCount(deps, state));
  if (doubt === null && state.mode === 'overlap' && state.previous === null) return { reason: null };
  // If pages came or went during both, both may have missed the same ones.
  const bothMoved = state.countMoved && before?.countMoved === true;
  if (state.previous !== null && !bothMoved && (await deps.sameListing(state.walk, state.previous))) {
    return { reason: null };
  }
  if (state.finished + 1 < MAX_WALKS) return 'again';
  return { reason: `${doubt ?? 'the service allows no overlapping windows'}, and ${MAX_WALKS} walks did not agree` };
}

async function doubtFromCount(deps: WalkDeps, state: WalkState): Promise<string | null> {
  if (state.count === null || state.countMoved) return null;
  const distinct = await deps.countDistinct(state.walk);
  return distinct === state.count
    ? null
    : `the service counts ${counted(state.count, 'page')} but lists ${distinct === 0 ? 'none' : count(distinct)}`;
}

async function walkToTheEnd(deps: WalkDeps, from: WalkState, recentUrls: RecentUrls): Promise<WalkEnd> {
  let state = from;
  let recent = recentUrls;
  while (!state.ended) {
    let step: Step;
    try {
      step = await ask(deps, state, recent);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      if (error.final) throw withRemedy(error, deps);
      if (state.limit !== null && state.nextLink === null && LIMIT_REFUSED.has(error.status ?? 0)) {
        state = { ...state, limit: null };
        continue;
      }
      return {
        state,
        reason: `the listing broke off ${state.kept > 0 ? `after ${counted(state.kept, 'entry', 'entries')}` : 'at the start'}: ${error.message}`,
        error,
      };
    }
    if (step.kind === 'stuck') return { state, reason: step.reason, error: null };
    if (step.kind === 'look_back') state = step.state;
    if (step.kind === 'restart') {
      state = restartedWalk({ ...state, mode: step.mode }, deps.now());
      recent = new RecentUrls();
    }
    if (step.kind === 'accepted') {
      await deps.accept(step.window);
      remember(recent, state.kept, step.window);
      state = step.window.state;
      if (step.deadEnd !== null) return { state, reason: step.deadEnd, error: null };
    }
  }
  return { state, reason: null, error: null };
}

async function ask(deps: WalkDeps, state: WalkState, recent: RecentUrls): Promise<Step> {
  const { website } = deps;
  const path = state.nextLink ?? listingPath(website.id, state.nextSkip, state.limit);
  const window = await getWindow(deps, path);
  const next = window.pagination.next_page ?? null;
  const nextLink = next === null ? null : followable(next, website.baseUrl, website.places.baseUrl);
  const step = state.mode === 'links' ? stepByLink : stepByOverlap;
  return step(state, window, recent, nextLink);
}

async function getWindow(deps: WalkDeps, path: string): Promise<Window> {
  for (let tries = 1; ; tries++) {
    try {
      return readWindow(await deps.get(path), deps.website.places.baseUrl);
    } catch (error) {
      if (!(error instanceof BadWindow) || tries >= BAD_BODY_TRIES) throw error;
    }
  }
}

/** For a listing, a 404 means something else than for a page's report. */
function withRemedy(error: SourceError, { website: { id, baseUrl, places } }: WalkDeps): SourceError {
  if (error.kind !== 'not_found') return error;
  const asked = `${baseUrl}/v1/urls/${encodeURIComponent(id)}`;
  const remedy = `asked for ${asked}: check the id under websites, and the path of ${places.baseUrl}`;
  return new SourceError(error.kind, `${error.message}; ${remedy}`, error.detail);
}
