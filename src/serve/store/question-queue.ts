import pLimit, { type LimitFunction } from 'p-limit';
import { ServiceError } from '../api/errors.js';
import type { RequestContext } from '../api/store.js';

/** `quick`: reads a few rows by their position. `slow`: may read every page of a website. `sql`: may never end. */
export type QuestionKind = 'quick' | 'slow' | 'sql';

/**
 * How many questions of a kind run at a time, in all and for one key, and how many of one key may wait. Node has four
 * threads for such work and for files: `quick` and `slow` together never take all of them for long. `sql` has processes
 * of its own, of up to 0.9 GB each.
 */
const LIMITS = {
  quick: { all: 2, perKey: 2, waitingPerKey: 200 },
  slow: { all: 2, perKey: 1, waitingPerKey: 20 },
  sql: { all: 2, perKey: 1, waitingPerKey: 20 },
} as const;
/** From the time when a question is asked until it is abandoned. */
const TIME_LIMIT_MS = 30_000;
/** How long a statement may run while other keys wait for its place, so that endless ones do not use up their time. */
const SHARED_SQL_MS = 5000;
const LOOK_MS = 250;

/**
 * Lets questions run side by side while keys take turns: a key has one place in the common queue, and its other
 * questions wait behind that. So however many it asks, every other key's next question runs soon.
 */
export class QuestionQueue {
  readonly #all = { quick: pLimit(LIMITS.quick.all), slow: pLimit(LIMITS.slow.all), sql: pLimit(LIMITS.sql.all) };
  readonly #perKey = new Map<string, LimitFunction>();
  readonly #waiting = new Set<AbortController>();
  readonly #running = new Set<AbortController>();
  #isEnding = false;

  constructor(
    private readonly timeLimitMs = TIME_LIMIT_MS,
    private readonly sharedSqlMs = SHARED_SQL_MS,
  ) {}

  /**
   * Runs `work` when it is this key's turn. Its signal is aborted when the client is gone, the time is over (for
   * `sql`: sooner while other keys wait), or the service ends.
   *
   * @throws ServiceError 503 with `Retry-After`: too many of this key wait, the time is over, or the service ends
   */
  async run<T>(
    { keyId, signal }: RequestContext,
    kind: QuestionKind,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (this.#isEnding) throw ending();
    signal.throwIfAborted();
    const ofKey = this.#limitOf(kind, keyId);
    if (ofKey.pendingCount >= LIMITS[kind].waitingPerKey) throw busy('Too many requests of this API key are waiting.');
    const asked = new AbortController();
    const leave = () => asked.abort(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    const timer = setTimeout(() => asked.abort(busy('This answer takes too long.')), this.timeLimitMs).unref();
    this.#waiting.add(asked);
    const answer = ofKey(() => this.#all[kind](() => this.#answer(asked, kind, work)));
    try {
      return await Promise.race([answer, aborted(asked.signal)]);
    } finally {
      signal.removeEventListener('abort', leave);
      clearTimeout(timer);
      this.#waiting.delete(asked);
    }
  }

  /** Takes no more questions, and refuses those that wait; running ones may finish. */
  refuse(): void {
    this.#isEnding = true;
    for (const asked of [...this.#waiting]) if (!this.#running.has(asked)) asked.abort(ending());
  }

  /** Interrupts the questions that still run. */
  interrupt(): void {
    this.refuse();
    for (const asked of [...this.#running]) asked.abort(ending());
  }

  async #answer<T>(asked: AbortController, kind: QuestionKind, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    asked.signal.throwIfAborted();
    this.#running.add(asked);
    const startedAt = performance.now();
    const share = () => {
      // The more wait, the less time each has, but enough to start a process and to read a table.
      const waiting = this.#all.sql.pendingCount;
      const mayTake = this.sharedSqlMs * Math.max(0.4, Math.min(1, LIMITS.sql.all / waiting));
      if (waiting > 0 && performance.now() - startedAt >= mayTake)
        asked.abort(busy('Statements of others wait for this one.'));
    };
    const looks = kind === 'sql' ? setInterval(share, LOOK_MS).unref() : undefined;
    try {
      return await work(asked.signal);
    } finally {
      clearInterval(looks);
      this.#running.delete(asked);
    }
  }

  #limitOf(kind: QuestionKind, keyId: string): LimitFunction {
    const name = `${kind} ${keyId}`;
    const limit = this.#perKey.get(name) ?? pLimit(LIMITS[kind].perKey);
    for (const [other, { activeCount, pendingCount }] of this.#perKey) {
      if (activeCount + pendingCount === 0) this.#perKey.delete(other);
    }
    this.#perKey.set(name, limit);
    return limit;
  }
}

/** Rejects with the signal's reason once it is aborted. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

function busy(message: string): ServiceError {
  return new ServiceError(503, `${message} Try again later.`, { 'retry-after': '5' });
}

function ending(): ServiceError {
  return new ServiceError(503, 'The service is shutting down.', { 'retry-after': '5', connection: 'close' });
}
