import type { Allowance, Limiter } from '../../../src/serve/api/rate-limit.js';
import { type PaceNotice, Pacer } from '../../../src/source/pace/pacer.js';
import { readRate, retryAfterMs, ServerClock } from '../../../src/source/pace/rate-headers.js';
import { seededRandom } from '../../given/random.js';
import { type SimulatedLimit, simulatedLimiter } from './simulated-limiter.js';
import { VirtualTime } from './virtual-time.js';

const MINUTE_MS = 60_000;

export interface PacedKeyOptions extends Partial<Omit<SimulatedLimit, 'clock'>> {
  limit: number;
  /** Requests a minute that are configured, the service's limit if left out. */
  configured?: number;
  concurrency?: number;
  /** How long a request takes each way: a draw between the two. */
  travelMs?: [least: number, most: number];
  /** How late a timer rings at most. */
  lateMs?: number;
  /** How far the service's clock is from ours. */
  skewMs?: number;
  /** Random numbers. */
  seed?: number;
}

/** One key of a service that enforces its rate limit, in a time that passes at once. */
export class PacedKey {
  readonly time = new VirtualTime();
  readonly notices: PaceNotice[] = [];
  readonly pacer: Pacer;
  /** Requests that the service answered, and refused with 429. */
  readonly ours = { answered: 0, refused: 0 };
  limiter: { take(client: string): Pick<Allowance, 'allowed' | 'headers'> };
  #othersAnswered = 0;
  readonly #clock = new ServerClock();
  readonly #draw: () => number;

  constructor(private readonly options: PacedKeyOptions) {
    const { effects } = this.time;
    this.#draw = seededRandom(options.seed ?? 1);
    this.limiter = this.#limiterOf(options.limit);
    const lateMs = options.lateMs ?? 1;
    this.pacer = new Pacer({
      requestsPerMinute: options.configured ?? this.#allowed(MINUTE_MS),
      concurrency: options.concurrency ?? 8,
      effects: { ...effects, sleep: (ms, signal) => effects.sleep(Math.ceil(ms) + lateMs * this.#draw(), signal) },
      onNotice: (notice) => this.notices.push(notice),
    });
  }

  /** From now on the service allows another number of requests. */
  allow(limit: number): void {
    this.limiter = this.#limiterOf(limit);
  }

  /** Lets minutes pass with as many workers as may be under way, each asking again as soon as it has its answer. */
  async askFor(minutes: number): Promise<this> {
    for (let worker = 0; worker < (this.options.concurrency ?? 8); worker++) void this.#work();
    await this.time.pass(minutes * MINUTE_MS);
    return this;
  }

  /** Somebody else with the same key, who neither looks at headers nor minds a 429. */
  shareWithOthers(requestsPerMinute: number): void {
    void (async () => {
      for (;;) {
        await this.time.effects.sleep((MINUTE_MS / requestsPerMinute) * (0.5 + this.#draw()));
        if (this.limiter.take('key').allowed) this.#othersAnswered++;
      }
    })();
  }

  /** Our answered requests ÷ what the limit had left for us in the time that has passed. */
  get utilisation(): number {
    return this.ours.answered / (this.#allowed(this.time.elapsed) - this.#othersAnswered);
  }

  /** The paces that were reported as learned. */
  get learned(): number[] {
    return this.notices.flatMap((notice) => (notice.kind === 'learned_pace' ? [notice.perMinute] : []));
  }

  async #work(): Promise<void> {
    for (;;) {
      const slot = await this.pacer.slot({ lane: '' });
      const sentAt = this.time.effects.now();
      await this.#travel();
      const date = new Date(this.#serverNow()).toUTCString();
      const { allowed, headers } = this.limiter.take('key');
      await this.#travel();
      this.ours[allowed ? 'answered' : 'refused']++;
      const now = this.time.effects.now();
      this.#clock.observe(date, sentAt, now);
      if (allowed) slot.answered(readRate(headers, this.#clock, now));
      else slot.throttled(retryAfterMs(headers, this.#clock, now) ?? 0);
    }
  }

  #limiterOf(limit: number): Limiter {
    const { kind = 'first-request', headers = 'boundary', windowMs = MINUTE_MS } = this.options;
    return simulatedLimiter({ limit, kind, headers, windowMs, clock: () => this.#serverNow() });
  }

  #serverNow(): number {
    return this.time.effects.now() + (this.options.skewMs ?? 0);
  }

  /** Requests that the service allows in this time. */
  #allowed(ms: number): number {
    return (this.options.limit * ms) / (this.options.windowMs ?? MINUTE_MS);
  }

  #travel(): Promise<void> {
    const [least, most] = this.options.travelMs ?? [5, 25];
    return this.time.effects.sleep(least + (most - least) * this.#draw());
  }
}
