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
}

/** The count of a key; a new one starts at 0. */
function countOf(counts: Map<string, RequestCount>, key: string): RequestCount {
  const count = counts.get(key) ?? { attempted: 0, answered: 0 };
  counts.set(key, count);
  return count;
}
