import type { NamedWebsite, Website } from '../base/config/websites.js';
import { messageOf } from '../base/exit.js';
import type { Logger } from '../base/observe/log.js';
import { isDiskFull } from '../base/storage/disk-error.js';
import { type Effects, HOUR_MS, MINUTE_MS } from '../base/time.js';
import { SourceError } from '../source/errors.js';
import type { Waiting } from '../warehouse/journal/run-file.js';

const FIRST_WAIT_MS = 5 * MINUTE_MS;
const LONGEST_WAIT_MS = 30 * MINUTE_MS;

/** From then on somebody should look: most outages are shorter, and need nobody. */
const LONG_MS = HOUR_MS;

/** An outage that lasts long, or is over after that. */
export interface LongOutage {
  /** Null if it stops several or all. */
  website: NamedWebsite | null;
  /** What failed, such as `the service`. */
  of: string;
  error: string;
  /** In milliseconds since 1970, like `overAt`. */
  since: number;
  /** Null while it lasts. */
  overAt: number | null;
}

interface OutageOptions {
  /** How long to wait for one outage at most, in milliseconds; 0: not at all. */
  retryFor: number;
  /** Called when an outage becomes a long one: once while it lasts, once when it is over. */
  onLongOutage?: ((outage: LongOutage) => Promise<unknown>) | undefined;
  effects: Pick<Effects, 'now' | 'sleep'>;
  logger: Logger;
  /** Shows what the run waits for; null if it does not wait any more. */
  onWaiting: (waiting: Waiting | null) => void;
  signal: AbortSignal;
}

/** The service answers the listing but no report. */
export class ReportsDown extends SourceError {}

/** Whom an outage stops: that of a service, all websites at its address; that of reports, a single website. */
type Whose = Pick<Website, 'id' | 'name' | 'baseUrl'>;

type Kind = 'service' | 'reports' | 'disk';

const WAITS_FOR: Record<Kind, string> = {
  service: 'the service',
  reports: 'the reports of the service',
  disk: 'space on the disk',
};

interface Known {
  kind: Kind;
  error: string;
  /** Milliseconds since 1970, like `until`: when it began, and when it is tried again. */
  since: number;
  until: number;
  /** How often it was waited for. */
  waits: number;
  told: Told;
}

/** What is logged and reported once of the outages of a kind at one address, however many websites they stop. */
interface Told extends Pick<LongOutage, 'website' | 'since'> {
  kind: Kind;
  address: string;
  /** When the wait that was logged last is over. */
  until: number;
  /** `due`: to be reported as long once its time has come. */
  long: 'no' | 'due' | 'reported';
}

/**
 * What a run does while the service, its reports alone, the network or the disk fails: it waits, and resumes from its
 * journal. The first wait takes 5 minutes, each further one twice as long, up to 30. Each wait is logged once, however
 * many websites it stops.
 */
export class Outage {
  readonly #known = new Map<string, Known>();
  #reported: Promise<unknown> = Promise.resolve();

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

  /** Whether the run waits for any outage to pass. */
  get isOn(): boolean {
    return this.#known.size > 0;
  }

  /** The outage of the service or of the reports that is not over yet: since when, and how often it was waited for. */
  ofService(whose: Whose): { kind: 'service' | 'reports'; since: number; waits: number } | null {
    for (const kind of ['reports', 'service'] as const) {
      const known = this.#known.get(keyOf(kind, whose));
      if (known) return { ...known, kind };
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
    const { effects, logger, onWaiting, retryFor } = this.options;
    const key = keyOf(kind, whose);
    const now = effects.now();
    const end = this.#endOf(key, now, deadline);
    const told = this.#toldOf(kind, now, whose);
    const known = this.#known.get(key) ?? { kind, error: messageOf(error), since: now, until: now, waits: 0, told };
    this.#known.set(key, known);
    // The time that has passed, plus the first wait: 5, 10, 20, then 30 minutes.
    known.until = now + Math.min(now - known.since + FIRST_WAIT_MS, LONGEST_WAIT_MS, end - now);
    known.waits++;
    const waiting = waitingOf(known);
    onWaiting(waiting);
    if (now >= told.until) {
      const long = { ...waiting, retry_until: isoOf(end), retry_for_ms: retryFor };
      if (told.until === 0) logger.warn(long, `outage: ${known.error}`);
      else logger.info(waiting, `still waiting for ${waiting.for}`);
      told.until = known.until;
    }
    await this.#sleep(known);
  }

  /** What was told of the outages of this kind at this address. */
  #toldOf(kind: Kind, since: number, { id, name, baseUrl }: Whose): Told {
    const address = kind === 'disk' ? '' : baseUrl;
    const same = [...this.#known.values()].find(({ told }) => told.kind === kind && told.address === address);
    const website = kind === 'reports' ? { id, name } : null;
    const told = same?.told ?? { kind, address, website, since, until: 0, long: 'no' };
    if (told.long !== 'reported' && told.website?.id !== id) told.website = null;
    return told;
  }

  #isOn(told: Told): boolean {
    return [...this.#known.values()].some((known) => known.told === told);
  }

  /** Sleeps, and reports the outage on the way if it becomes a long one. */
  async #sleep({ told, until, error }: Known): Promise<void> {
    const { effects, signal, onLongOutage } = this.options;
    const longAt = told.since + LONG_MS;
    if (onLongOutage && told.long === 'no' && longAt < until) {
      told.long = 'due';
      await effects.sleep(Math.max(0, longAt - effects.now()), signal);
      if (this.#isOn(told)) {
        told.long = 'reported';
        this.#report(told, error, null);
      }
    }
    await effects.sleep(Math.max(0, until - effects.now()), signal);
  }

  #report({ kind, website, since }: Told, error: string, overAt: number | null): void {
    const outage = { website, of: WAITS_FOR[kind], error, since, overAt };
    this.#reported = this.#reported.then(() => this.options.onLongOutage?.(outage));
  }

  /** Resolves once all reports of long outages are done. */
  get reported(): Promise<unknown> {
    return this.#reported;
  }

  /** Called whenever the service answers, reports are answered again, or a commit was written. */
  over(kind: Kind, whose: Whose): void {
    const key = keyOf(kind, whose);
    const known = this.#known.get(key);
    if (known === undefined) return;
    this.#known.delete(key);
    const [other] = this.#known.values();
    this.options.onWaiting(other ? waitingOf(other) : null);
    const { told, error } = known;
    if (this.#isOn(told)) return;
    const now = this.options.effects.now();
    this.options.logger.info({ lasted_ms: now - told.since }, `the outage of the ${kind} is over`);
    if (told.long === 'reported') this.#report(told, error, now);
  }

  #endOf(key: string, now: number, deadline: number): number {
    return Math.min((this.#known.get(key)?.since ?? now) + this.options.retryFor, deadline);
  }
}

function waitingOf({ kind, error, since, until }: Known): Waiting {
  return { for: WAITS_FOR[kind], error, since: isoOf(since), until: isoOf(until) };
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
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
