import { Failure } from '../base/exit.js';
import { duration, moment } from '../base/observe/format.js';
import { HOUR_MS, MINUTE_MS } from '../base/time.js';

/** A difference up to this is not worth a word. */
const NOTABLE_MS = 10 * MINUTE_MS;

/** With a clock that is further off, a night would get the date of another one. */
export const MAX_SKEW_MS = HOUR_MS;

/** Nothing may be dated by this machine's clock: it contradicts the service's, or a snapshot. */
export class ClockError extends Failure {}

/** What this machine's clock is compared with. Times are in milliseconds, those of day since 1970. */
export interface ClockEvidence {
  now: number;
  /** By how much the clock of each service is ahead of ours; null if that is unknown. */
  services: readonly { baseUrl: string; ahead: number | null }[];
  latest: { snapshotId: string; at: number } | null;
}

/** Compares this machine's clock with the services' and the newest snapshot; null if it differs by ten minutes at most. */
export function judgeClock({ now, services, latest }: ClockEvidence) {
  const differences = services.map(({ baseUrl, ahead }) => ({ ahead: ahead ?? 0, by: Math.abs(ahead ?? 0), baseUrl }));
  if (latest) differences.push({ ahead: latest.at - now, by: latest.at - now, baseUrl: '' });
  const [worst] = differences.sort((one, other) => other.by - one.by);
  if (!worst || worst.by <= NOTABLE_MS) return null;
  const { ahead, by, baseUrl } = worst;
  const whose = baseUrl ? `that of the service at ${baseUrl}` : `the newest snapshot, ${latest?.snapshotId}`;
  const [here, there] = [now, now + ahead].map((at) => moment(at));
  const otherwise = baseUrl
    ? 'or have that of the service set'
    : 'or, if it ran ahead when that snapshot was taken, wait until then, or restore a backup that is older';
  return {
    level: by > MAX_SKEW_MS ? ('error' as const) : ('warning' as const),
    message: `this machine's clock is ${duration(by)} ${ahead < 0 ? 'ahead of' : 'behind'} ${whose}: it is ${here} here, ${there} there`,
    remedy: `set this clock if it is wrong (\`timedatectl\` shows whether it is synchronized), ${otherwise}`,
  };
}
