import type { Config } from '../config/schema.js';
import type { Website } from '../config/websites.js';
import { duration } from '../observe/format.js';
import type { Logger } from '../observe/log.js';
import type { Progress } from '../observe/progress.js';
import type { Client, RequestCounts } from '../source/client.js';
import type { Effects } from '../source/effects.js';
import type { PaceNotice } from '../source/pacer.js';

/** The parts of a website's run that show how fast it is. */
interface PacedRun {
  website: Website;
  config: Config;
  client: Pick<Client, 'utilisation' | 'othersPerMinute'>;
  requests: RequestCounts;
  effects: Pick<Effects, 'now'>;
}

/** The least time between two updates of the line. */
const TELL_EVERY_MS = 100;

/**
 * The progress of all websites of a run as one line: first the pages that are listed, then the reports. Websites run
 * side by side, so the figures are sums.
 */
export class RunProgress {
  readonly #totals = { pages: new Map<string, number>(), reports: new Map<string, number>() };
  readonly #throttled = new Map<string, number>();
  readonly #answeredOf = new Map<string, number>();
  /** Reports that are answered, and that are planned. */
  #answered = 0;
  #planned = 0;
  #toldAt = Number.NEGATIVE_INFINITY;
  #phase: 'pages' | 'reports' | null = null;
  #isWaiting = false;

  constructor(private readonly progress: Progress | null) {}

  /** Adds the pages of an accepted window; `expected` is how many the service counts. */
  listed(website: Website, pages: number, expected: number | null): void {
    if (this.#isWaiting) this.progress?.note('');
    this.#isWaiting = false;
    this.#advance('pages', website, pages, expected);
  }

  /**
   * Shows that a key waits, because nothing else moves meanwhile. The next answer removes the text.
   *
   * @param until ISO 8601
   * @param key what waits, such as `api.token` or `the service`
   */
  waiting(until: string, key: string): void {
    if (this.#phase === null) this.progress?.start('pages', null);
    this.#phase ??= 'pages';
    this.#isWaiting = true;
    this.progress?.note(`${key} waits until ${until.slice(0, 16).replace('T', ' ')} UTC`);
  }

  /** Adds a website's plan, of which `done` reports are answered already. */
  planned(website: Website, reports: number, done: number): void {
    // A run that resumes after an outage adds its plan again.
    const before = this.#answeredOf.get(website.id) ?? 0;
    this.#answeredOf.set(website.id, done);
    this.#advance('reports', website, done - before, reports);
  }

  /** Called for each answer at full speed: whatever takes longer than counting is done now and then, and at the end. */
  answered(run: PacedRun): void {
    if (!this.progress) return;
    this.#answered++;
    this.#answeredOf.set(run.website.id, (this.#answeredOf.get(run.website.id) ?? 0) + 1);
    this.progress.advance(1);
    const now = run.effects.now();
    if (now - this.#toldAt < TELL_EVERY_MS && this.#answered < this.#planned) return;
    this.#toldAt = now;
    this.#throttled.set(run.website.id, run.requests.throttled);
    this.progress.note([...this.#pace(run), this.#whose(run.website)].join('  '));
    this.progress.advance(0, { requestsLeft: Math.max(0, this.#planned - this.#answered) });
  }

  /** Shows what is done without requests: staging, committing, following. */
  note(text: string): void {
    this.progress?.note(text);
  }

  finish(): void {
    this.progress?.finish();
    this.#phase = null;
  }

  /** How well the key is used, and what slows it down. */
  #pace({ client, config }: PacedRun): string[] {
    const { utilisation } = client;
    const throttled = sumOf(this.#throttled);
    return [
      utilisation === null ? '' : `${Math.round(utilisation * 100)}% of ${config.api.requests_per_minute}/min`,
      throttled === 0 ? '' : `${throttled} throttled`,
      client.othersPerMinute === null ? '' : 'shared key',
    ].filter((text) => text !== '');
  }

  #whose(website: Website): string {
    const websites = this.#totals.reports.size;
    return websites > 1 ? `${websites} websites` : (website.name ?? website.id);
  }

  #advance(phase: 'pages' | 'reports', website: Website, done: number, total: number | null): void {
    const totals = this.#totals[phase];
    if (total !== null) totals.set(website.id, total);
    const sum = totals.size > 0 ? sumOf(totals) : null;
    // Reports of one website may begin while another is still listed; the line then shows the reports.
    if (this.#phase === 'reports' && phase === 'pages') return;
    if (this.#phase !== phase) this.progress?.start(phase, sum);
    else this.progress?.setTotal(sum);
    this.#phase = phase;
    if (phase !== 'reports') {
      if (done > 0) this.progress?.advance(done);
      return;
    }
    if (done !== 0) this.progress?.advance(done, { isEarlier: true });
    this.#planned = sum ?? 0;
    this.#answered += done;
  }
}

function sumOf(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((all, each) => all + each, 0);
}

const SAYS: Record<Exclude<PaceNotice['kind'], 'shared_key' | 'learned_pace'>, string> = {
  throttled: 'the service asked for a pause (429)',
  spent: 'the rate headers say that the key has no requests left',
  unavailable: 'the service is unavailable and asked for a pause',
};

/**
 * Says why requests are slower than the configured rate, and until when.
 *
 * @param key the configuration key of the API key
 * @param now milliseconds since 1970
 */
export function tellPace(
  { log, progress }: { log: Logger; progress: RunProgress },
  notice: PaceNotice,
  { key, now }: { key: string; now: number },
): void {
  if (notice.kind === 'shared_key') {
    const others = notice.othersPerMinute;
    log.warn(
      { key, others_per_minute: others },
      `another client uses the same API key for about ${others} requests a minute, which this run leaves to it; ` +
        'a separate key would be faster',
    );
    return;
  }
  if (notice.kind === 'learned_pace') {
    tellOfLearnedPace(log, notice.perMinute, key);
    return;
  }
  const { kind, waitMs } = notice;
  const until = new Date(now + waitMs).toISOString();
  log.info(
    { key, reason: kind, wait_ms: waitMs, until },
    `${SAYS[kind]}: ${key} waits ${duration(waitMs)}, until ${until}; then one request probes`,
  );
  progress.waiting(until, key);
}

function tellOfLearnedPace(log: Logger, perMinute: number, key: string): void {
  if (perMinute === Number.POSITIVE_INFINITY) {
    log.info({ key, learned_per_minute: null }, `${key} is back at the configured pace`);
    return;
  }
  const rounded = perMinute < 10 ? Math.round(perMinute * 10) / 10 : Math.round(perMinute);
  log.warn(
    { key, learned_per_minute: rounded },
    `the service refused requests (429) and seems to allow fewer than configured: ${key} slows down to ${rounded} requests a ` +
      'minute and tries more from time to time; set api.requests_per_minute to what the service allows',
  );
}
