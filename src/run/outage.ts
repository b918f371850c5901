import type { Website } from '../config/websites.js';
import type { Logger } from '../observe/log.js';
import type { Effects } from '../source/effects.js';
import { SourceError } from '../source/errors.js';
import { isDiskFull } from '../storage/disk-error.js';
import { MINUTE_MS } from '../time.js';
import type { RunProgress } from './run-progress.js';

const FIRST_WAIT_MS = 5 * MINUTE_MS;
const LONGEST_WAIT_MS = 30 * MINUTE_MS;

interface OutageOptions {
  /** How long to wait for one outage at most, in milliseconds; 0: not at all. */
  retryFor: number;
  effects: Pick<Effects, 'now' | 'sleep'>;
  log: Logger;
  progress: RunProgress;
  signal: AbortSignal;
}

/** The service answers the listing but no report. */
export class ReportsDown extends SourceError {
  constructor(message: string) {
    super('server', message);
  }
}

/** Whom an outage stops: that of a service, all websites at its address; that of reports, a single website. */
type Whose = Pick<Website, 'id' | 'baseUrl'>;

type Kind = 'service' | 'reports' | 'disk';

/**
 * What a run does while the service, its reports alone, the network or the disk fails: it waits, and resumes from its
 * journal. The first wait takes 5 minutes, each further one twice as long, up to 30. An outage is logged once, however many
 * websites it stops.
 */
export class Outage {
  /** When each began, in milliseconds since 1970, and how often it was waited for. */
  readonly #known = new Map<string, { since: number; waits: number }>();

  constructor(private readonly options: OutageOptions) {}

  /**
   * Whether a run should wait for this to pass.
   *
   * @param deadline milliseconds since 1970; after it the run has nothing left to do
   */
  isWaitedFor(error: unknown, deadline: number, whose: Whose): boolean {
    const kind = kindOf(error);
    if (kind === null) return false;
    const now = this.options.effects.now();
    return now < this.#endOf(keyOf(kind, whose), now, deadline);
  }

  /** The outage of the service or of the reports that is not over yet, and how often it was waited for. */
  ofService(whose: Whose): { kind: 'service' | 'reports'; waits: number } | null {
    for (const kind of ['reports', 'service'] as const) {
      const known = this.#known.get(keyOf(kind, whose));
      if (known) return { kind, waits: known.waits };
    }
    return null;
  }

  /**
   * Does some work, and repeats it while it is stopped by an outage to wait for.
   *
   * @param again called before each further try
   * @throws what the work throws otherwise; Stopped
   */
  async during<T>(
    { deadline, whose }: { deadline: number; whose: Whose },
    work: () => Promise<T>,
    again: () => void = () => {},
  ): Promise<T> {
    for (;;) {
      try {
        const done = await work();
        this.over('disk', whose);
        return done;
      } catch (error) {
        const kind = kindOf(error);
        if (kind === null || !this.isWaitedFor(error, deadline, whose)) throw error;
        await this.#wait(kind, error, { deadline, whose });
        again();
      }
    }
  }

  async #wait(kind: Kind, error: unknown, { deadline, whose }: { deadline: number; whose: Whose }): Promise<void> {
    const { effects, log, progress, signal, retryFor } = this.options;
    const key = keyOf(kind, whose);
    const now = effects.now();
    const until = this.#endOf(key, now, deadline);
    const known = this.#known.get(key) ?? { since: now, waits: 0 };
    if (known.waits === 0) {
      const told = { retry_until: new Date(until).toISOString(), retry_for_ms: retryFor };
      log.warn(told, `outage: ${error instanceof Error ? error.message : error}`);
    }
    this.#known.set(key, { ...known, waits: known.waits + 1 });
    // The time that has passed, plus the first wait: 5, 10, 20, then 30 minutes.
    const pause = Math.min(now - known.since + FIRST_WAIT_MS, LONGEST_WAIT_MS, until - now);
    progress.waiting(new Date(now + pause).toISOString(), kind === 'disk' ? 'the full disk' : 'the service');
    await effects.sleep(pause, signal);
  }

  /** Called whenever the service answers, reports are answered again, or a commit was written. */
  over(kind: Kind, whose: Whose): void {
    const key = keyOf(kind, whose);
    const known = this.#known.get(key);
    if (known === undefined) return;
    this.#known.delete(key);
    this.options.log.info({ lasted_ms: this.options.effects.now() - known.since }, `the outage of the ${kind} is over`);
  }

  #endOf(key: string, now: number, deadline: number): number {
    return Math.min((this.#known.get(key)?.since ?? now) + this.options.retryFor, deadline);
  }
}

function keyOf(kind: Kind, { id, baseUrl }: Whose): string {
  return kind === 'disk' ? kind : `${kind} ${kind === 'service' ? baseUrl : id}`;
}

/** The kind of outage that an error stands for; null if it is none. */
function kindOf(error: unknown): Kind | null {
  if (error instanceof ReportsDown) return 'reports';
  if (error instanceof SourceError) return error.retryable ? 'service' : null;
  return isDiskFull(error) ? 'disk' : null;
}
