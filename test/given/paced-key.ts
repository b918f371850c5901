import { RateLimiter } from '../../src/service/rate-limit.js';
import { type PaceNotice, Pacer } from '../../src/source/pacer.js';
import { readRate, ServerClock } from '../../src/source/rate-headers.js';
import { VirtualTime } from './virtual-time.js';

export interface PacedKeyOptions {
  /** What the service allows, and what the pacer is told (the same if left out). */
  limit: number;
  configured?: number;
  concurrency?: number;
  /** How long a request takes each way: a draw between the two. */
  travelMs?: [least: number, most: number];
  /** How late a timer rings at most. */
  lateMs?: number;
  /** Whether the service sends rate headers. */
  headers?: boolean;
}

/** One key of a service that enforces its rate limit, in a time that passes at once. */
export class PacedKey {
  readonly time = new VirtualTime();
  readonly notices: PaceNotice[] = [];
  readonly pacer: Pacer;
  /** Requests that the service answered, and refused with 429. */
  readonly ours = { answered: 0, refused: 0 };
  readonly others = { answered: 0, refused: 0 };
  readonly #limiter: RateLimiter;
  readonly #clock = new ServerClock();
  #draws = 1;

  constructor(private readonly options: PacedKeyOptions) {
    const { effects } = this.time;
    this.#limiter = new RateLimiter(options.limit, () => effects.now());
    const lateMs = options.lateMs ?? 1;
    this.pacer = new Pacer({
      requestsPerMinute: options.configured ?? options.limit,
      concurrency: options.concurrency ?? 8,
      effects: { ...effects, sleep: (ms, signal) => effects.sleep(Math.ceil(ms) + lateMs * this.#draw(), signal) },
      onNotice: (notice) => this.notices.push(notice),
    });
  }

  /** As many workers as may be under way, each asking again as soon as it has its answer. */
  askAllTheTime(): void {
    for (let worker = 0; worker < (this.options.concurrency ?? 8); worker++) void this.#work();
  }

  /** Somebody else with the same key, who neither looks at headers nor minds a 429. */
  shareWithOthers(requestsPerMinute: number): void {
    void (async () => {
      for (;;) {
        await this.time.sleep((60_000 / requestsPerMinute) * (0.5 + this.#draw()));
        this.#count(this.others, this.#limiter.take('key').allowed);
      }
    })();
  }

  /** Our answered requests ÷ what the limit had left for us in the time that has passed. */
  get utilisation(): number {
    return this.ours.answered / ((this.options.limit * this.time.elapsed) / 60_000 - this.others.answered);
  }

  async #work(): Promise<void> {
    for (;;) {
      const slot = await this.pacer.slot({ lane: '' });
      await this.#travel();
      const { allowed, headers } = this.#limiter.take('key');
      await this.#travel();
      this.#count(this.ours, allowed);
      if (!allowed) slot.throttled(Number(headers['retry-after']) * 1000);
      else if (this.options.headers === false) slot.answered(null);
      else slot.answered(readRate(headers, this.#clock, this.time.effects.now()));
    }
  }

  #travel(): Promise<void> {
    const [least, most] = this.options.travelMs ?? [5, 25];
    return this.time.sleep(least + (most - least) * this.#draw());
  }

  #count(counts: { answered: number; refused: number }, allowed: boolean): void {
    if (allowed) counts.answered++;
    else counts.refused++;
  }

  /** 0 ≤ x < 1, the same ones each time. */
  #draw(): number {
    this.#draws = (this.#draws * 1_103_515_245 + 12_345) % 2_147_483_648;
    return this.#draws / 2_147_483_648;
  }
}
