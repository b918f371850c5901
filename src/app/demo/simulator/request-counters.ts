/** How often something was requested, and how often a complete 200 without a fault was sent for it. */
export interface RequestCount {
  attempted: number;
  answered: number;
}

/**
 * Counts every request below the base address. Counts per path and query cost memory for each distinct one; without
 * them only the totals are kept.
 */
export class RequestCounters {
  attempted = 0;
  answered = 0;
  /** By path and query as they arrived. */
  byRequest = new Map<string, RequestCount>();

  constructor(private readonly perRequest: boolean) {}

  recordAttempt(request: string): void {
    this.attempted++;
    if (this.perRequest) countOf(this.byRequest, request).attempted++;
  }

  /** Records a 200 that was sent completely and without a fault. */
  recordAnswer(request: string): void {
    this.answered++;
    if (this.perRequest) countOf(this.byRequest, request).answered++;
  }

  reset(): void {
    Object.assign(this, { attempted: 0, answered: 0, byRequest: new Map() });
  }

  /** Counts per page URL whose report was requested. */
  reports(): Map<string, RequestCount> {
    return this.#grouped(({ pathname, searchParams }) =>
      pathname.endsWith('/v1/url-report') ? searchParams.get('url') : null,
    );
  }

  /** Counts per listing window, as `<website_id>?skip=<n>&limit=<n>` with the id as it was sent. */
  windows(): Map<string, RequestCount> {
    return this.#grouped(({ pathname, search }) => {
      const id = /\/v1\/urls\/([^/]+)$/.exec(pathname)?.[1];
      return id === undefined ? null : id + search;
    });
  }

  #grouped(keyOf: (request: URL) => string | null): Map<string, RequestCount> {
    const groups = new Map<string, RequestCount>();
    for (const [request, { attempted, answered }] of this.byRequest) {
      const key = URL.canParse(request, 'http://localhost') ? keyOf(new URL(request, 'http://localhost')) : null;
      if (key === null) continue;
      const group = countOf(groups, key);
      group.attempted += attempted;
      group.answered += answered;
    }
    return groups;
  }
}

/** The count of a key; a new one starts at 0. */
function countOf(counts: Map<string, RequestCount>, key: string): RequestCount {
  const count = counts.get(key) ?? { attempted: 0, answered: 0 };
  counts.set(key, count);
  return count;
}
