import { MINUTE_MS } from '../../base/time.js';
import { minutePace, type Pace } from './spacing.js';

/** After a refusal, the pace is set slightly below what was answered. */
const CAREFUL = 0.97;
/** A pace that is refused again before this many answers is much too fast. */
const SOON_ANSWERS = 100;
/** A single refusal may be chance, but not before this many answers. */
const VERY_SOON_ANSWERS = 20;
const MORE_CAREFUL = 0.9;
/** Fewer answers say nothing about the pace. */
const FEW_ANSWERS = 5;
/** Refusals that continue after this many steps down have another cause: nothing is learned for this many answers. */
const MAX_STEPS_DOWN = 15;
const ANSWERS_WITHOUT_LESSON = 1000;
/** Pauses are rounded up to whole seconds, so the key may have been ready this much earlier. */
const ROUNDED_MS = 1000;
/** Never slower than this share of the configured pace, or of this many requests per minute if that is less. */
const FLOOR_SHARE = 0.1;
const FLOOR_OF_PER_MINUTE = 600;
/** The pace rises by a step after this many answers per refused request, and this long after the last step. */
const ANSWERS_PER_REFUSAL = 50;
const STEP_MS = 10_000;
/** The first step up; each further one is twice as large, up to the largest, until a request is refused. */
const FIRST_STEP = 0.01;
const LARGEST_STEP = 0.05;

/**
 * A pace that no header states: learned from refused requests, and raised slowly while none is refused. It starts from
 * the highest rate of answers over any stretch that ends when the service answers again, pauses included. That is what
 * a limit allows, whatever its kind.
 */
export class LearnedPace {
  #perMinute = Number.POSITIVE_INFINITY;
  /** When requests were answered since the pace was last learned. */
  #answeredAt: number[] = [];
  #refused = 0;
  /** Outcomes of the requests that were in flight when a pause began. */
  #pause = { refused: 0, answered: 0 };
  #nextStep = { share: FIRST_STEP, answers: 0, at: 0 };
  #stepsDown = 0;
  #ignoresRefusals = false;

  /** @param configuredPerMinute Infinity for no limit */
  constructor(private readonly configuredPerMinute: number) {}

  get pace(): Pace {
    return minutePace(this.#perMinute);
  }

  /** Infinity while nothing was learned. */
  get perMinute(): number {
    return this.#perMinute;
  }

  /** @param isFirst whether this refusal begins a pause */
  refused(isFirst: boolean): void {
    if (isFirst) this.#pause = { refused: 0, answered: 0 };
    this.#pause.refused++;
    this.#refused++;
  }

  answered(now: number): void {
    this.#pause.answered++;
    this.#answeredAt.push(now);
    const { answers, at, share } = this.#nextStep;
    if (this.#perMinute === Number.POSITIVE_INFINITY || this.#answeredAt.length < answers || now < at) return;
    this.#perMinute *= 1 + share;
    if (this.#perMinute >= this.configuredPerMinute) this.#perMinute = Number.POSITIVE_INFINITY;
    this.#setNextStep(Math.min(2 * share, LARGEST_STEP), now);
  }

  /** The key answers again after a pause. */
  learn(now: number): void {
    if (this.#ignoresRefusals && this.#answeredAt.length < ANSWERS_WITHOUT_LESSON) return;
    this.#ignoresRefusals = false;
    const answers = this.#answeredAt.length;
    const { refused, answered } = this.#pause;
    // An exhausted limit answers nothing, so this one is not exhausted. The first request of all probes without a refusal.
    if (refused === 0 || answered > refused) return;
    const isAgain = answers < SOON_ANSWERS && this.#perMinute < Number.POSITIVE_INFINITY;
    const isSoon = isAgain && (refused > 1 || answers < VERY_SOON_ANSWERS);
    this.#stepsDown = isAgain ? this.#stepsDown + 1 : 0;
    const best = answers < FEW_ANSWERS ? this.#known : bestPerMinute(this.#answeredAt, now);
    if (this.#stepsDown > MAX_STEPS_DOWN) this.#forget();
    else this.#slowTo(Math.min(CAREFUL * best, (isSoon ? MORE_CAREFUL : CAREFUL) * this.#known));
    this.#answeredAt = [];
    this.#setNextStep(FIRST_STEP, now);
    this.#refused = 0;
  }

  #slowTo(perMinute: number): void {
    const least = FLOOR_SHARE * Math.min(this.configuredPerMinute, FLOOR_OF_PER_MINUTE);
    this.#perMinute = Math.max(least, perMinute);
  }

  get #known(): number {
    return Math.min(this.#perMinute, this.configuredPerMinute);
  }

  /** Forgets the learned pace, because slowing down did not help. */
  #forget(): void {
    this.#perMinute = Number.POSITIVE_INFINITY;
    this.#stepsDown = 0;
    this.#ignoresRefusals = true;
  }

  #setNextStep(share: number, now: number): void {
    const answers = this.#answeredAt.length + ANSWERS_PER_REFUSAL * Math.max(1, this.#refused);
    this.#nextStep = { share, answers, at: now + STEP_MS };
  }
}

/** The highest rate of answers over any stretch that ends now, in requests per minute. */
function bestPerMinute(answeredAt: number[], now: number): number {
  const perMinute = (at: number, index: number) =>
    ((answeredAt.length - index) / Math.max(ROUNDED_MS, now - at - ROUNDED_MS)) * MINUTE_MS;
  return answeredAt.reduce((best, at, index) => Math.max(best, perMinute(at, index)), 0);
}
