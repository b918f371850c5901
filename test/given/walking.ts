import { API_PLACES } from '../../src/source/errors.js';
import { type WalkDeps, type WalkResult, walkListing } from '../../src/source/walk/walk.js';
import type { AcceptedWindow, Interrupted } from '../../src/source/walk/walk-state.js';

/** An upper bound that no walk of the small worlds of these tests may need. */
const REQUESTS_AT_MOST = 2_000;

/** A walk whose windows are kept in memory instead of in a journal. */
export class Walking {
  readonly windows: AcceptedWindow[] = [];

  constructor(
    private readonly get: (path: string) => Promise<string>,
    private readonly pageSize = 10,
  ) {}

  walk(from?: Interrupted): Promise<WalkResult> {
    let requests = 0;
    const get = async (path: string) => {
      if (++requests > REQUESTS_AT_MOST) throw new Error(`more than ${REQUESTS_AT_MOST} requests`);
      return this.get(path);
    };
    const deps: WalkDeps = {
      website: { id: 'w', baseUrl: 'https://api.example.com/tenant', places: API_PLACES },
      pageSize: this.pageSize,
      now: () => 1_700_000_000_000,
      get,
      accept: async (window) => void this.windows.push(window),
      countDistinct: async (walk) => new Set(this.listed(walk)).size,
      sameListing: async (one, other) => sorted(this.listed(one)) === sorted(this.listed(other)),
    };
    return walkListing(deps, from);
  }

  /** What a walk lists, each page once, in the order in which it was kept. */
  listed(walk: number): string[] {
    return [...new Set(this.kept(walk))];
  }

  /**
   * Every entry that a walk keeps, pages that are listed twice included. The rule of the journal: an entry counts while
   * its position is below the least `keep` of the windows that follow.
   */
  kept(walk: number): string[] {
    let kept: string[] = [];
    for (const { keep, fresh } of this.windows.filter(({ state }) => state.walk === walk)) {
      kept = [...kept.slice(0, keep), ...fresh.map(({ url }, at) => url ?? `(entry ${keep + at})`)];
    }
    return kept;
  }
}

function sorted(urls: string[]): string {
  return JSON.stringify([...urls].sort());
}
