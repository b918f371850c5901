import { z } from 'zod';
import type { Config } from '../../base/config/schema.js';
import { INSPECTIONS_PER_DAY, perDayOf, websiteOf } from '../../base/config/websites.js';
import { count, counted, duration } from '../../base/observe/format.js';
import { sql } from '../../base/storage/sql.js';
import { MINUTE_MS, SECOND_MS } from '../../base/time.js';
import { jsonOf } from '../../base/validate.js';
import { covers } from '../../source/search-console/property.js';
import { SEARCH_TYPES } from '../../source/source.js';
import { quotaSchema } from '../../warehouse/journal/plan.js';
import { askRows } from '../query/ask-rows.js';
import type { Reader } from '../query/reader.js';

/** Rotation has at least this share of a day's inspections. */
const ROTATION = 0.4;
const INSPECTION_MS = 6 * SECOND_MS;

/** A row of `answers/plan/inspectable`. */
export const inspectableRow = z.object({
  website_id: z.string(),
  /** Null from a version that did not store them. */
  quotas: z
    .string()
    .nullable()
    .transform((text) => z.array(quotaSchema).safeParse(jsonOf(text ?? '')).data ?? null),
  scope: z
    .string()
    .nullable()
    .transform((scope) => scope ?? ''),
  pages: z.int(),
  not_inspected: z.int(),
});
type Inspectable = z.infer<typeof inspectableRow>;

/** A row of `answers/plan/search_left`; the days are null from a version that did not fetch any. */
const searchLeftRow = z.object({ days_left: z.int().nullable(), types: z.int() });
type SearchLeft = z.infer<typeof searchLeftRow>;
/** Days that may still change, which every night fetches. */
const PRELIMINARY_DAYS = 3;

/**
 * How many pages of a website can be inspected in so many days: each through the narrowest property that has it, and what
 * is too much for that through the next wider.
 */
export function inspectedIn(days: number, rows: readonly Inspectable[], of: 'pages' | 'not_inspected' = 'pages') {
  const quotas = rows[0]?.quotas ?? [{ scope: '', per_day: INSPECTIONS_PER_DAY }];
  const waiting = new Map(rows.map((row) => [row.scope, row[of]]));
  let inspected = 0;
  for (const { scope, per_day } of quotas.toReversed()) {
    const here = waiting.get(scope) ?? 0;
    const done = Math.min(here, days * per_day);
    inspected += done;
    const wider = quotas.findLast((other) => other.scope !== scope && covers(other.scope, scope))?.scope;
    if (wider !== undefined) waiting.set(wider, (waiting.get(wider) ?? 0) + here - done);
  }
  return inspected;
}

/** At least this many nights if no page has a reason, at most this many if reasons take all that they may; null: never. */
interface Nights {
  at_least: number | null;
  at_most: number | null;
}

/** What the nights of a property take, under the names of `plan --json`. */
export type InspectionPlan = ReturnType<typeof planOf> &
  ReturnType<typeof searchPlan> & { shares_quota_with: string[] };

/** What the nights of these properties of Search Console take, by their newest states. */
export async function inspectionPlans(
  reader: Reader,
  ids: readonly string[],
  config: Config,
): Promise<InspectionPlan[]> {
  const plans: (ReturnType<typeof planOf> & ReturnType<typeof searchPlan>)[] = [];
  await reader.engine.run(sql('warehouse/plan/scopes_of'));
  // A reader answers one question at a time.
  for (const website of ids) {
    const own = websiteOf(config, website).google;
    if (own === null) continue;
    const rows = await askRows(reader, 'answers/plan/inspectable', inspectableRow, { website });
    const known = rows[0]?.quotas ?? [{ property: website, scope: '', per_day: INSPECTIONS_PER_DAY }];
    const quotas = known.map((quota) => ({ ...quota, per_day: perDayOf(config, quota.property, own) }));
    const now = rows.map((row) => ({ ...row, quotas }));
    const [left] = await askRows(reader, 'answers/plan/search_left', searchLeftRow, { website });
    if (now.length > 0) plans.push({ ...planOf(website, now, config), ...searchPlan(left, config) });
  }
  return plans.map((plan) => {
    const isShared = (other: typeof plan) => other.properties.some((property) => plan.properties.includes(property));
    const others = plans.filter((other) => other !== plan && isShared(other));
    return { ...plan, shares_quota_with: others.map(({ website_id }) => website_id) };
  });
}

function planOf(website_id: string, rows: readonly Inspectable[], { google, reports }: Config) {
  const pace = Math.min(google.requests_per_minute, (google.concurrency * MINUTE_MS) / INSPECTION_MS);
  const total = (of: 'pages' | 'not_inspected') => rows.reduce((all, row) => all + row[of], 0);
  const most = reports.max_per_run;
  const inspections = Math.min(most, inspectedIn(1, rows));
  const nights = (of: 'pages' | 'not_inspected', share: number) => {
    const all = total(of);
    if (inspections === 0 || inspectedIn(Number.MAX_SAFE_INTEGER, rows, of) < all) return null;
    let number = Math.ceil(all / (share * most));
    while (inspectedIn(share * number, rows, of) < all) number++;
    return number;
  };
  const nightsFor = (of: 'pages' | 'not_inspected'): Nights => {
    return { at_least: nights(of, 1), at_most: nights(of, ROTATION) };
  };
  return {
    website_id,
    pages: total('pages'),
    not_inspected: total('not_inspected'),
    properties: rows[0]?.quotas?.map(({ property }) => property) ?? [],
    inspections_a_night: inspections,
    seconds: Math.ceil((inspections / pace) * 60),
    nights_until_inspected: nightsFor('not_inspected'),
    nights_for_all_pages: nightsFor('pages'),
  };
}

/** What the days of search analytics take; null where none were fetched yet. */
function searchPlan(left: SearchLeft | undefined, { google }: Config) {
  const days = left?.days_left ?? null;
  const tonight = Math.min(google.history_days_per_night, (days ?? 0) + 1) + (google.fresh ? PRELIMINARY_DAYS : 0);
  return {
    search_days_left: days,
    nights_until_history: days === null ? null : Math.ceil(days / google.history_days_per_night),
    search_requests_a_night: days === null ? null : SEARCH_TYPES.length + (left?.types ?? 0) * tonight,
  };
}

/** The same in a few sentences. */
export function inspectionSentence(plan: InspectionPlan): string {
  return [inspectionsSentence(plan), ...searchSentence(plan)].join(' ');
}

function searchSentence({
  search_days_left: days,
  nights_until_history: nights,
  search_requests_a_night: requests,
}: InspectionPlan) {
  if (days === null || nights === null || requests === null) return [];
  const asks = `about ${counted(requests, 'request')} a night`;
  if (days === 0) return [`Search analytics are whole: ${asks}.`];
  return [`${counted(days, 'day')} of search analytics are left, whole in ${counted(nights, 'night')}: ${asks}.`];
}

function inspectionsSentence(plan: InspectionPlan): string {
  const { website_id, pages, not_inspected: left, inspections_a_night: perNight, seconds } = plan;
  const { nights_until_inspected: first, nights_for_all_pages: all } = plan;
  const known = `${website_id}: ${counted(pages, 'page')}, ${left > 0 ? `${count(left)} not inspected yet` : 'all inspected'}.`;
  if (perNight === 0)
    return `${known} reports.max_per_run is 0, or no property allows inspections, so none is inspected.`;
  const shared = plan.shares_quota_with.length > 0 ? `, a quota shared with ${plan.shares_quota_with.join(', ')}` : '';
  const a = `Up to ${counted(perNight, 'inspection')} a night, in about ${duration(seconds * SECOND_MS)}${shared}`;
  if (all.at_least === null) return `${known} ${a}. No property allows inspections of the others.`;
  if (all.at_most === 1) return `${known} ${a}. All of them are inspected every night.`;
  const between = ({ at_least: least, at_most: most }: Nights) =>
    least === most ? counted(least ?? 0, 'night') : `${count(least ?? 0)} to ${counted(most ?? 0, 'night')}`;
  const once = left > 0 ? `inspected once within ${between(first)}, then again every` : 'inspected every';
  return `${known} ${a}. All of them are ${once} ${between(all)}: the more pages have a reason, the longer the others wait.`;
}
