import { MINUTE_MS } from '../time.js';
import { minutePace, type Pace } from './spacing.js';

/** After a refusal a little less than what was answered is asked for. */
const CAREFUL = 0.97;
/** A pace that is refused again before so many are answered is too fast by more. */
const SOON_ANSWERS = 100;
/** One refusal alone may be a chance; not so soon. */
const VERY_SOON_ANSWERS = 20;
const MORE_CAREFUL = 0.9;
/** Fewer tell nothing of the pace. */
const FEW_ANSWERS = 5;
/** Refusals that go on after so many such steps are not for the pace: for so many answers there is no further lesson. */
const MAX_STEPS_DOWN = 15;
const ANSWERS_WITHOUT_LESSON = 1000;
/** A pause is rounded up to a whole second, so it may have been needed for this much less. */
const ROUNDED_MS = 1000;
/** No slower than this share of the configured pace, or of so many requests a minute. */
const FLOOR_SHARE = 0.1;
const FLOOR_OF_PER_MINUTE = 600;
/** The pace goes up by a step when so many were answered for each refused one, and so long after the last step. */
const ANSWERS_PER_REFUSAL = 50;
const STEP_MS = 10_000;
/** The first step up; each further one is twice as large, up to the largest, until a request is refused. */
const FIRST_STEP = 0.01;
const LARGEST_STEP = 0.05;

/**
 * A pace that nobody has told: learned from requests that were refused, slowly raised while none is. It begins with
 * what was answered in the best stretch until the service answered again, pauses included, which is what a limit allows
 * whatever kind it is.
 */
export class LearnedPace {
  #perMinute = Number.POSITIVE_INFINITY;
  /** When requests were answered since the last lesson. */
  #answeredAt: number[] = [];
  #refused = 0;
  /** What became of the requests that were under way when a pause began. */
  #pause = { refused: 0, answered: 0 };
  #nextStep = { share: FIRST_STEP, answers: 0, at: 0 };
  #stepsDown = 0;
  #isDeaf = false;

  /** @param configuredPerMinute Infinity for no limit */
  constructor(private readonly configuredPerMinute: number) {}

  get pace(): Pace {
    return minutePace(this.#perMinute);
  }

  /** Infinity where nothing was learned. */
  get perMinute(): number {
    return this.#perMinute;
  }

  /** @param isFirst of a pause */
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
    if (this.#isDeaf && this.#answeredAt.length < ANSWERS_WITHOUT_LESSON) return;
    this.#isDeaf = false;
    const answers = this.#answeredAt.length;
    const { refused, answered } = this.#pause;
    // A limit that is used up answers none, so this one is not.
    if (answered > refused) return;
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

  /** To be slower was no better. */
  #forget(): void {
    this.#perMinute = Number.POSITIVE_INFINITY;
    this.#stepsDown = 0;
    this.#isDeaf = true;
  }

  #setNextStep(share: number, now: number): void {
    const answers = this.#answeredAt.length + ANSWERS_PER_REFUSAL * Math.max(1, this.#refused);
    this.#nextStep = { share, answers, at: now + STEP_MS };
  }
}

/** The most requests a minute in any stretch that ends now. */
function bestPerMinute(answeredAt: number[], now: number): number {
  const perMinute = (at: number, index: number) =>
    ((answeredAt.length - index) / Math.max(ROUNDED_MS, now - at - ROUNDED_MS)) * MINUTE_MS;
  return answeredAt.reduce((best, at, index) => Math.max(best, perMinute(at, index)), 0);
}
