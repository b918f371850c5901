import { count } from '../observe/format.js';
import type { WebsiteForecast } from './key-forecast.js';
import { many } from './sentence.js';

/** Why the reports of a website never are all young, and what would help; null where they are some night. */
export function whyNeverYoung(
  { nights, reports }: WebsiteForecast,
  rules: { capacity: number; maxPerRun: number; youngDays: number; refreshDays: number },
): string | null {
  if (nights.nights !== null) return null;
  if (rules.maxPerRun === 0) return 'no report is fetched while reports.max_per_run is 0';
  if (rules.capacity === 0) {
    return 'the listing takes all the time until reports.deadline: raise that, or api.requests_per_minute';
  }
  const age = many(rules.youngDays, 'day');
  if (rules.refreshDays > rules.youngDays) {
    return `reports.refresh_after keeps the report of an unchanged page for ${many(Math.ceil(rules.refreshDays), 'day')}, longer than ${age}: lower it, or raise --younger-than`;
  }
  const aging = Math.ceil(nights.pages / rules.youngDays);
  const reached = Math.floor(nights.refreshed);
  const limit = nights.reports >= rules.maxPerRun ? 'reports.max_per_run' : 'reports.deadline';
  const longer = reached > 0 ? `, or take --younger-than ${Math.ceil(nights.pages / reached) + 1}d` : '';
  const why = `each night reaches ${count(reached)} of the ${count(aging)} reports that grow ${age} old`;
  return reports > 0 && reached < aging
    ? `${why}: raise ${limit}${longer}`
    : `${why}, in no order that keeps all young`;
}
