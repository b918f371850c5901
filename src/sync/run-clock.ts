import { validate as isUuid, v7 as uuidv7 } from 'uuid';
import type { Website } from '../base/config/websites.js';
import type { Logger } from '../base/observe/log.js';
import { type Effects, timeOfId } from '../base/time.js';
import type { RequestCounts } from '../source/client.js';
import { ClockError, judgeClock } from '../source/clock.js';
import type { Source } from '../source/source.js';
import type { latestOf } from '../warehouse/log/markers.js';

/** Of a website's run, whose latest snapshot may not be known yet. */
interface ClockedRun {
  website: Website;
  source: Source;
  latest?: ReturnType<typeof latestOf>;
}

/** Whether a run may rely on this machine's clock. */
export class RunClock {
  /** What is doubtful about the clock, though not enough to stop a run; null if nothing is. */
  warning: string | null = null;

  constructor(private readonly context: { effects: Effects; logger: Logger }) {}

  /** @throws ClockError if the clock contradicts the service's or the newest snapshot */
  check({ website, source, latest = null }: ClockedRun): void {
    const { effects, logger } = this.context;
    const services = [{ baseUrl: website.baseUrl, ahead: source.client.clockAhead }];
    const found = judgeClock({ now: effects.now(), services, latest });
    if (found?.level === 'error') throw new ClockError(`${found.message}; ${found.remedy}`);
    if (!found || this.warning !== null) return;
    this.warning = `${found.message}; ${found.remedy}`;
    logger.warn(this.warning);
  }

  /** Like `check`, after a request if the service has not answered any yet. Whatever it answers has a date. */
  async confirm(run: ClockedRun & { requests: RequestCounts }): Promise<void> {
    const purpose = { lane: run.website.id, counts: run.requests, attempts: 1 };
    if (run.source.client.clockAhead === null) await run.source.probe(purpose).catch(() => {});
    this.check(run);
  }
}

/** A new UUID of version 7, which sorts after another one even if the clock ran back since that was made. */
export function idAfter(other: string | null = null): string {
  const id = uuidv7();
  return other !== null && isUuid(other) && other >= id ? uuidv7({ msecs: timeOfId(other) + 1 }) : id;
}
