import type { Logger } from '../observe/log.js';
import type { Effects } from '../source/effects.js';
import { SourceError } from '../source/errors.js';
import { isDiskFull } from '../storage/disk-error.js';
import { MINUTE_MS } from '../time.js';
import type { RunProgress } from './run-progress.js';

const FIRST_WAIT_MS = 5 * MINUTE_MS;
const LONGEST_WAIT_MS = 30 * MINUTE_MS;

interface OutageOptions {
  /** Milliseconds that one outage is waited for at most; 0: none is. */
  retryFor: number;
  effects: Pick<Effects, 'now' | 'sleep'>;
  log: Logger;
  progress: RunProgress;
  signal: AbortSignal;
}

type Kind = 'service' | 'disk';

/**
 * While the service, the network or the disk fails: a run leaves its journal as it is, waits, and resumes from it. The
 * first wait takes 5 minutes, each further one twice as long, up to 30. One outage is told once, whatever it stops.
 */
export class Outage {
  /** When each began, in milliseconds since 1970. */
  readonly #since = new Map<Kind, number>();

  constructor(private readonly options: OutageOptions) {}

  /**
   * Whether a run should wait for this to pass.
   *
   * @param deadline milliseconds since 1970: later the run has nothing left to do
   */
  isWaitedFor(error: unknown, deadline: number): boolean {
    const kind = kindOf(error);
    if (kind === null) return false;
    const now = this.options.effects.now();
    return now < this.#endOf(kind, now, deadline);
  }

  /**
   * Does some work, and does it again for as long as what stops it is an outage that is waited for.
   *
   * @param again called before each further try
   * @throws what the work throws otherwise; Stopped
   */
  async during<T>(deadline: number, work: () => Promise<T>, again: () => void = () => {}): Promise<T> {
    for (;;) {
      try {
        const done = await work();
        this.over('disk');
        return done;
      } catch (error) {
        if (!this.isWaitedFor(error, deadline)) throw error;
        await this.#wait(error, deadline);
        again();
      }
    }
  }

  async #wait(error: unknown, deadline: number): Promise<void> {
    const { effects, log, progress, signal, retryFor } = this.options;
    const kind = kindOf(error) ?? 'service';
    const now = effects.now();
    if (!this.#since.has(kind)) {
      this.#since.set(kind, now);
      const told = { retry_until: new Date(this.#endOf(kind, now, deadline)).toISOString() };
      log.warn({ ...told, retry_for_ms: retryFor }, `outage: ${error instanceof Error ? error.message : error}`);
    }
    // What has passed and the first wait: 5 minutes, 10, 20, 30.
    const pause = Math.min(now - this.#startOf(kind, now) + FIRST_WAIT_MS, LONGEST_WAIT_MS);
    const until = Math.min(now + pause, this.#endOf(kind, now, deadline));
    progress.waiting(new Date(until).toISOString(), kind === 'disk' ? 'the full disk' : 'the service');
    await effects.sleep(until - now, signal);
  }

  /** Told whenever the service answers, or the disk has taken a commit. */
  over(kind: Kind): void {
    const since = this.#since.get(kind);
    if (since === undefined) return;
    this.#since.delete(kind);
    this.options.log.info({ lasted_ms: this.options.effects.now() - since }, `the outage of the ${kind} is over`);
  }

  #startOf(kind: Kind, now: number): number {
    return this.#since.get(kind) ?? now;
  }

  #endOf(kind: Kind, now: number, deadline: number): number {
    return Math.min(this.#startOf(kind, now) + this.options.retryFor, deadline);
  }
}

/** What fails for everybody, and most likely not for long; null for the rest. */
function kindOf(error: unknown): Kind | null {
  if (error instanceof SourceError) return error.retryable ? 'service' : null;
  return isDiskFull(error) ? 'disk' : null;
}
