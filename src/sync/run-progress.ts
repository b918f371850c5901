import type { Website } from '../base/config/websites.js';
import { count, counted, duration, moment } from '../base/observe/format.js';
import type { Logger } from '../base/observe/log.js';
import type { Progress } from '../base/observe/progress.js';
import type { Effects } from '../base/time.js';
import type { PaceNotice } from '../source/pace/pacer.js';
import type { Source } from '../source/source.js';
import type { ReportCounts } from '../warehouse/journal/plan.js';
import type { Waiting } from '../warehouse/journal/run-file.js';

/** The parts of a website's run that show how fast it is. */
interface PacedRun {
  website: Website;
  source: Pick<Source, 'client' | 'limits'>;
  effects: Pick<Effects, 'now'>;
}

/** The least time between two updates of the line. */
const SHOW_EVERY_MS = 100;

/**
 * The progress of all websites of a run as one line: first the pages that are listed, then the reports. Websites run
 * side by side, so the figures are sums.
 */
export class RunProgress {
  readonly #totals = { pages: new Map<string, number>(), reports: new Map<string, number>() };
  /** Reports that are answered, and that failed: of each website, and of all. */
  readonly #endedOf = new Map<string, { answered: number; failed: number }>();
  readonly #ended = { answered: 0, failed: 0 };
  #planned = 0;
  #shownAt = Number.NEGATIVE_INFINITY;
  #phase: 'pages' | 'reports' | null = null;
  #isWaiting = false;

  constructor(private readonly progress: Progress | null) {}

  /** Adds the pages of an accepted window; `expected` is how many the service counts. */
  listed(website: Website, pages: number, expected: number | null): void {
    if (this.#isWaiting) this.progress?.note('');
    this.#isWaiting = false;
    this.#advance('pages', website, pages, expected);
  }

  /** Shows how many days of search analytics are read. */
  searched(website: Website, days: number, all: number): void {
    if (this.#phase === null) this.progress?.start('pages', null);
    this.#phase ??= 'pages';
    this.progress?.note(
      `${website.name ?? website.id}: search analytics, ${count(days)} of ${count(all)} days of all types`,
    );
    this.#isWaiting = days < all;
  }

  /** Shows that a run waits, because nothing else moves meanwhile. The next answer removes the text. */
  waiting({ for: what, until }: Pick<Waiting, 'for' | 'until'>): void {
    if (this.#phase === null) this.progress?.start('pages', null);
    this.#phase ??= 'pages';
    this.#isWaiting = true;
    this.progress?.note(`waiting for ${what} until ${moment(until)}`);
  }

  /** Adds a website's plan, of which some reports have ended already. */
  planned(website: Website, reports: number, { failed, ...answered }: ReportCounts): void {
    // A run that resumes after an outage adds its plan again.
    const before = this.#endedOf.get(website.id) ?? { answered: 0, failed: 0 };
    const ended = { answered: answered.fetched + answered.missing + answered.rejected, failed };
    this.#endedOf.set(website.id, ended);
    this.#ended.answered += ended.answered - before.answered;
    this.#ended.failed += failed - before.failed;
    this.#advance('reports', website, ended.answered - before.answered, reports);
  }

  /** Called for each report at full speed: whatever takes longer than counting is done now and then, and at the end. */
  ended(run: PacedRun, isFailed: boolean): void {
    if (!this.progress) return;
    const how = isFailed ? 'failed' : 'answered';
    for (const counts of [this.#ended, this.#endedOf.get(run.website.id)]) if (counts) counts[how]++;
    if (!isFailed) this.progress.advance(1);
    const { answered, failed } = this.#ended;
    const left = Math.max(0, this.#planned - answered - failed);
    const now = run.effects.now();
    if (now - this.#shownAt < SHOW_EVERY_MS && left > 0) return;
    this.#shownAt = now;
    const apart = failed === 0 ? [] : [`${count(failed)} failed`];
    this.progress.note([...apart, ...this.#pace(run), this.#whose(run.website)].join('  '));
    this.progress.advance(0, { requestsLeft: left });
  }

  /** Shows what is done without requests: staging, committing, following. */
  note(text: string): void {
    this.progress?.note(text);
  }

  finish(): void {
    this.progress?.finish();
    this.#phase = null;
  }

  /** How well the key is used. */
  #pace({ source: { client, limits } }: PacedRun): string[] {
    const { utilisation } = client;
    return utilisation === null ? [] : [`${Math.round(utilisation * 100)}% of ${limits.requests_per_minute}/min`];
  }

  #whose(website: Website): string {
    const websites = this.#totals.reports.size;
    return websites > 1 ? `${websites} websites` : (website.name ?? website.id);
  }

  #advance(phase: 'pages' | 'reports', website: Website, done: number, total: number | null): void {
    const totals = this.#totals[phase];
    if (total !== null) totals.set(website.id, total);
    const sum = totals.size > 0 ? [...totals.values()].reduce((all, each) => all + each, 0) : null;
    // Reports of one website may begin while another is still listed; the line then shows the reports.
    if (this.#phase === 'reports' && phase === 'pages') return;
    if (this.#phase !== phase) this.progress?.start(phase, sum);
    else this.progress?.setTotal(sum);
    this.#phase = phase;
    if (done !== 0) this.progress?.advance(done, { isEarlier: phase === 'reports' });
    if (phase === 'reports') this.#planned = sum ?? 0;
  }
}

const SAYS: Record<Exclude<PaceNotice['kind'], 'shared_key' | 'learned_pace'>, string> = {
  throttled: 'the service asked for a pause (429)',
  forbidden: 'the service refused a request without a reason (403), which often passes',
  spent: 'the rate headers say that the key has no requests left',
  unavailable: 'the service is unavailable and asked for a pause',
};

/**
 * Says why requests are slower than the configured rate, and until when.
 *
 * @param key the configuration key of the API key
 * @param now milliseconds since 1970
 */
export function reportPace(
  { logger, onWaiting }: { logger: Logger; onWaiting: (waiting: Waiting) => void },
  notice: PaceNotice,
  { key, now }: { key: string; now: number },
): void {
  if (notice.kind === 'shared_key') {
    const others = notice.othersPerMinute;
    logger.info(
      { key, others_per_minute: others },
      `another client uses the same API key for about ${counted(others, 'request')} a minute, which this run leaves to it; ` +
        'a separate key would be faster',
    );
    return;
  }
  if (notice.kind === 'learned_pace') {
    const { perMinute } = notice;
    const rounded = perMinute < 10 ? Math.round(perMinute * 10) / 10 : Math.round(perMinute);
    const isBack = perMinute === Number.POSITIVE_INFINITY;
    const message =
      `the service refused requests (429) and seems to allow fewer than configured: ${key} slows down to ${counted(rounded, 'request')} a ` +
      `minute and tries more from time to time; set ${key.startsWith('google') ? 'google' : 'api'}.requests_per_minute to what the service allows`;
    logger.info(
      { key, learned_per_minute: isBack ? null : rounded },
      isBack ? `${key} is back at the configured pace` : message,
    );
    return;
  }
  const { kind, waitMs } = notice;
  const until = new Date(now + waitMs).toISOString();
  logger.info(
    { key, reason: kind, wait_ms: waitMs, until },
    `${SAYS[kind]}: ${key} waits ${duration(waitMs)}, until ${until}; then one request probes`,
  );
  onWaiting({ for: `the service (it pauses ${key})`, error: SAYS[kind], since: new Date(now).toISOString(), until });
}
