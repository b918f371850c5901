import { ClockError, judgeClock } from '../source/clock.js';
import type { RunContext, WebsiteRun } from './context.js';

/** Whether a run may rely on this machine's clock. */
export class RunClock {
  /** What is doubtful about the clock, though not enough to stop a run; null if nothing is. */
  warning: string | null = null;

  constructor(private readonly context: Pick<RunContext, 'config' | 'effects' | 'log'>) {}

  /** @throws ClockError if the clock contradicts the service's or the newest snapshot */
  check({ website, client, latest = null }: Pick<WebsiteRun, 'website' | 'client' | 'latest'>): void {
    const { config, effects, log } = this.context;
    const services = [{ baseUrl: website.baseUrl, ahead: client.clockAhead }];
    const found = judgeClock({ now: effects.now(), limit: config.sync.max_clock_skew, services, latest });
    if (found?.level === 'error') throw new ClockError(`${found.message}; ${found.remedy}`);
    if (!found || this.warning !== null) return;
    this.warning = `${found.message}; ${found.remedy}`;
    log.warn(this.warning);
  }

  /** Like `check`, after a request if the service has not answered any yet. Whatever it answers has a date. */
  async confirm(run: WebsiteRun): Promise<void> {
    const purpose = { lane: run.website.id, counts: run.requests, attempts: 1 };
    if (run.client.clockAhead === null) await run.client.get('/v1', purpose).catch(() => {});
    this.check(run);
  }
}
