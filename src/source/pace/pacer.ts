import { Stopped } from '../../base/exit.js';
import { type Effects, MINUTE_MS, realEffects } from '../../base/time.js';
import { TooLate } from '../errors.js';
import { Allowance } from './allowance.js';
import { LearnedPace } from './learned-pace.js';
import type { RateReading } from './rate-headers.js';
import { Lanes, type Slot, type SlotRequest, type Waiter } from './slot.js';
import { minutePace, SentLog, Spacing, slower } from './spacing.js';

/** A learned pace is reported again when it has changed by this factor. */
const REPORTED_CHANGE = 1.5;
/** The resolution of timers. */
const TIMER_STEP_MS = 1;
/** A wait without a 429 is reported when it is this much longer than the pace alone explains. */
const LONG_WAIT_MS = MINUTE_MS;
/** A pause that another answer lengthens by this much is reported again. */
const LONGER_PAUSE_MS = 10_000;

/** What a user should know about the pace. */
export type PaceNotice =
  /** After a 429, or after a 403 without a reason. */
  | { kind: 'throttled' | 'forbidden'; waitMs: number }
  /** The rate headers leave little or nothing until then. */
  | { kind: 'spent'; waitMs: number }
  /** The service is unavailable, and says for how long. */
  | { kind: 'unavailable'; waitMs: number }
  /** Somebody else uses the key. */
  | { kind: 'shared_key'; othersPerMinute: number }
  /** What the service seems to allow, reported once and after large changes; Infinity: as much as configured. */
  | { kind: 'learned_pace'; perMinute: number };

export interface PacerOptions {
  /** More than 0; Infinity for no limit. */
  requestsPerMinute: number;
  /** Most requests in flight at once. */
  concurrency: number;
  /** Whether the first request goes alone, because others may have used up what is allowed. */
  probesFirst?: boolean;
  effects?: Effects | undefined;
  onNotice?: ((notice: PaceNotice) => void) | undefined;
}

/**
 * Paces the requests of one API key, whatever website they are for: evenly spaced with a small burst, never above the
 * configured rate, slower where the rate headers say so, and with at most `concurrency` in flight. A 429 stops the
 * whole key for as long as the service asks; then **one** request probes while the others wait for its answer, because
 * all at once would only be throttled again.
 *
 * | state     | slots are granted                       | left when                                                  |
 * |-----------|-----------------------------------------|------------------------------------------------------------|
 * | `paced`   | when the spacing says, `concurrency` at most | an answer is a 429: `paused`                          |
 * | `paused`  | to nobody                               | the time that the 429 asked for is over: `probing`         |
 * | `probing` | to one request, and the next if that fails | it is answered: `paced`; it gets a 429: `paused`        |
 */
export class Pacer {
  readonly #options: PacerOptions;
  readonly #effects: Effects;
  readonly #sent = new SentLog();
  readonly #spacing: Spacing;
  readonly #allowance = new Allowance(this.#sent);
  readonly #learned: LearnedPace;
  readonly #waiting = new Lanes();
  #underWay = 0;
  #pausedUntil = 0;
  #mustProbe: boolean;
  #probe: Slot | null = null;
  #sleepingUntil: number | null = null;
  /** Ends the sleep once nobody waits: a pause of an hour must not keep the process alive. */
  #alarm = new AbortController();
  #clock = { last: 0, shift: 0 };
  #reportedOthers = false;
  #reportedWaitUntil = 0;
  #reportedPerMinute = Number.POSITIVE_INFINITY;
  readonly #usage = { answered: 0, firstAt: 0, lastAt: 0 };

  constructor(options: PacerOptions) {
    this.#options = options;
    this.#mustProbe = options.probesFirst ?? false;
    this.#effects = options.effects ?? realEffects;
    this.#spacing = new Spacing(minutePace(options.requestsPerMinute), this.#sent);
    this.#learned = new LearnedPace(options.requestsPerMinute);
  }

  /** Waits for the next slot. Rejects with `Stopped` when the signal fires, `TooLate` if it comes after `notAfter`. */
  slot({ lane, signal, notAfter = Number.POSITIVE_INFINITY }: SlotRequest): Promise<Slot> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(new Stopped());
      const isOwn = (other: Waiter) => other === waiter;
      const stop = () => this.#refuse(this.#waiting.take(isOwn), () => new Stopped());
      const settle = () => signal?.removeEventListener('abort', stop);
      const waiter: Waiter = {
        notAfter,
        grant: (slot) => {
          settle();
          resolve(slot);
        },
        refuse: (error) => {
          settle();
          reject(error);
        },
      };
      signal?.addEventListener('abort', stop, { once: true });
      this.#waiting.add(lane, waiter);
      this.#grantWhatIsDue();
    });
  }

  /**
   * Share of what the configured rate would have allowed between the first request and the last one that was answered,
   * 0 to 1; null if there is no limit, or no answer yet.
   */
  get utilisation(): number | null {
    const { answered, firstAt, lastAt } = this.#usage;
    const { requestsPerMinute } = this.#options;
    if (!Number.isFinite(requestsPerMinute) || answered === 0) return null;
    return Math.min(1, answered / (1 + ((lastAt - firstAt) / MINUTE_MS) * requestsPerMinute));
  }

  /** Cancels the pending timer. */
  close(): void {
    this.#sleepingUntil = null;
    this.#alarm.abort();
    this.#alarm = new AbortController();
  }

  /** Refuses a slot to everyone who waits, with this error. */
  end(error: Error): void {
    const everyone = this.#waiting.take(() => true);
    this.#refuse(everyone, () => error);
  }

  #grantWhatIsDue(): void {
    while (!this.#waiting.isEmpty && this.#isFree) {
      const now = this.#now();
      const waitMs = this.#dueAt - now;
      const slotAt = this.#effects.now() + Math.max(0, waitMs);
      // Whoever needs a slot earlier than the next one need not wait for it.
      const late = this.#waiting.take(({ notAfter }) => notAfter < slotAt);
      this.#refuse(late, () => new TooLate());
      if (this.#waiting.isEmpty) return;
      if (waitMs > 0) {
        this.#wakeAt(now + waitMs);
        this.#reportWait(now, waitMs);
        return;
      }
      this.#waiting.next()?.grant(this.#granted(now));
    }
  }

  get #isFree(): boolean {
    return this.#underWay < this.#options.concurrency && this.#probe === null;
  }

  get #dueAt(): number {
    return Math.max(this.#pausedUntil, this.#spacing.dueAt);
  }

  /** Reports a long wait that only the rate headers explain. */
  #reportWait(now: number, waitMs: number): void {
    const until = now + waitMs;
    const withoutHeaders = this.#spacing.dueAtPace(this.#learned.pace);
    const explained = Math.max(now, this.#pausedUntil, withoutHeaders, this.#reportedWaitUntil);
    if (until - explained < LONG_WAIT_MS) return;
    this.#reportedWaitUntil = until;
    this.#options.onNotice?.({ kind: 'spent', waitMs });
  }

  /** @param why makes the error, because its stack costs more than a slot */
  #refuse(refused: readonly Waiter[], why: () => Error): void {
    if (this.#waiting.isEmpty) this.close();
    for (const waiter of refused) waiter.refuse(why());
  }

  #wakeAt(at: number): void {
    if (this.#sleepingUntil !== null && this.#sleepingUntil <= at + TIMER_STEP_MS) return;
    // The next slot has become due before the timer fires.
    if (this.#sleepingUntil !== null) this.close();
    this.#sleepingUntil = at;
    const { signal } = this.#alarm;
    this.#effects.sleep(at - this.#now(), signal).then(
      () => {
        this.#sleepingUntil = null;
        this.#grantWhatIsDue();
      },
      (error) => {
        if (!signal.aborted) this.end(error);
      },
    );
  }

  #granted(now: number): Slot {
    this.#spacing.sentOne(now);
    if (this.#sent.count === 1) this.#usage.firstAt = now;
    this.#underWay++;
    const slot: Slot = {
      sequence: this.#sent.count,
      isProbe: this.#mustProbe,
      answered: (reading) => this.#answered(slot, reading),
      throttled: (waitMs) => this.#throttled(slot, waitMs),
      failed: () => this.#ended(slot),
    };
    if (this.#mustProbe) this.#probe = slot;
    return slot;
  }

  #answered(slot: Slot, reading: RateReading | null): void {
    this.#usage.answered++;
    this.#usage.lastAt = this.#now();
    if (this.#probe === slot) this.#learned.learn(this.#usage.lastAt);
    this.#learned.answered(this.#usage.lastAt);
    if (reading) this.#observe(reading, slot.sequence);
    this.#setPace();
    if (this.#probe === slot) this.#mustProbe = false;
    this.#ended(slot);
  }

  #throttled(slot: Slot, waitMs: number): void {
    this.#spacing.limitBursts();
    this.#learned.refused(!this.#mustProbe);
    this.#pause(waitMs);
    this.#mustProbe = true;
    this.#ended(slot);
  }

  #observe(reading: RateReading, sequence: number): void {
    // The reading uses the system clock, the allowance a clock that never goes back.
    const resetAt = reading.resetAt + this.#now() - this.#effects.now();
    this.#allowance.observe({ ...reading, resetAt }, sequence, this.#now());
    const others = this.#allowance.othersPerMinute;
    if (others === null || this.#reportedOthers) return;
    this.#reportedOthers = true;
    this.#options.onNotice?.({ kind: 'shared_key', othersPerMinute: others });
  }

  #setPace(): void {
    const { pace, perMinute } = this.#learned;
    this.#spacing.slowTo(slower(pace, this.#allowance.pace ?? pace));
    const [low, high] = [perMinute, this.#reportedPerMinute].sort((one, other) => one - other);
    if (low === high || (low ?? 0) * REPORTED_CHANGE > (high ?? 0)) return;
    this.#reportedPerMinute = perMinute;
    this.#options.onNotice?.({ kind: 'learned_pace', perMinute });
  }

  #pause(waitMs: number): void {
    const until = this.#now() + waitMs;
    const isReported = this.#pausedUntil > this.#now() && until < this.#pausedUntil + LONGER_PAUSE_MS;
    this.#pausedUntil = Math.max(this.#pausedUntil, until);
    if (!isReported) this.#options.onNotice?.({ kind: 'throttled', waitMs });
  }

  #ended(slot: Slot): void {
    this.#underWay--;
    if (this.#probe === slot) this.#probe = null;
    this.#grantWhatIsDue();
  }

  /** Milliseconds that never go back: setting the system clock back must not stall the pace. */
  #now(): number {
    const time = this.#effects.now() + this.#clock.shift;
    if (time < this.#clock.last) this.#clock.shift += this.#clock.last - time;
    else this.#clock.last = time;
    return this.#clock.last;
  }
}
