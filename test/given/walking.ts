import { API_PLACES } from '../../src/source/errors.js';
import { type WalkDeps, type WalkResult, walkListing } from '../../src/source/walk/walk.js';
import type { AcceptedWindow, Interrupted } from '../../src/source/walk/walk-state.js';

/** An upper bound that no walk of the small worlds of these tests may need. */
const REQUESTS_AT_MOST = 20_000;

class Endless extends Error {}

/** A walk whose windows are kept in memory instead of in a journal. */
export class Walking {
  readonly windows: AcceptedWindow[] = [];
  readonly paths: string[] = [];

  constructor(
    private readonly get: (path: string) => Promise<string>,
    private readonly settings: { pageSize?: number; baseUrl?: string; requestsAtMost?: number } = {},
  ) {}

  walk(from?: Interrupted): Promise<WalkResult> {
    return walkListing(this.deps(), from);
  }

  deps(): WalkDeps {
    const {
      pageSize = 10,
      baseUrl = 'https://api.example.com/tenant',
      requestsAtMost = REQUESTS_AT_MOST,
    } = this.settings;
    return {
      website: { id: 'w', baseUrl, places: API_PLACES },
      pageSize,
      now: () => 1_700_000_000_000,
      get: async (path) => {
        this.paths.push(path);
        if (this.paths.length > requestsAtMost) throw new Endless(`more than ${requestsAtMost} requests`);
        return this.get(path);
      },
      accept: async (window) => {
        this.windows.push(window);
      },
      countDistinct: async (walk) => new Set(this.listed(walk)).size,
      sameListing: async (one, other) => sorted(this.listed(one)) === sorted(this.listed(other)),
    };
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
