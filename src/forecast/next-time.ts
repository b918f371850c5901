import { createTask } from 'node-cron';

/**
 * When a cron expression comes next, in a time zone; null where it never does.
 *
 * @param cron as the configuration was checked to hold
 * @param timeZone IANA name
 */
export function nextTime(cron: string, timeZone: string): Date | null {
  const [next] = createTask(cron, () => {}, { timezone: timeZone }).getNextRuns(1);
  return next ?? null;
}
