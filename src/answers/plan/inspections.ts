import { z } from 'zod';
import type { Config } from '../../base/config/schema.js';
import { websiteOf } from '../../base/config/websites.js';
import { count, counted, duration } from '../../base/observe/format.js';
import { MINUTE_MS, SECOND_MS } from '../../base/time.js';
import { askRows } from '../query/ask-rows.js';
import type { Reader } from '../query/reader.js';

/** Rotation has at least this share of a day's inspections. */
const ROTATION = 0.4;
const INSPECTION_MS = 6 * SECOND_MS;

const countsRow = z.object({ website_id: z.string(), pages: z.int(), not_inspected: z.int() });

/** At least this many nights if no page has a reason, at most this many if reasons take all that they may; null: never. */
interface Nights {
  at_least: number | null;
  at_most: number | null;
}

/** What the nights of a property take, under the names of `plan --json`. */
export interface InspectionPlan extends z.infer<typeof countsRow> {
  inspections_a_night: number;
  seconds: number;
  nights_until_inspected: Nights;
  nights_for_all_pages: Nights;
}

/** What the nights of these properties of Search Console take, by their newest states. */
export async function inspectionPlans(
  reader: Reader,
  ids: readonly string[],
  config: Config,
): Promise<InspectionPlan[]> {
  const { google, reports } = config;
  const pace = Math.min(google.requests_per_minute, (google.concurrency * MINUTE_MS) / INSPECTION_MS);
  const plans: InspectionPlan[] = [];
  // A reader answers one question at a time.
  for (const website of ids) {
    const perDay = websiteOf(config, website).google?.inspectionsPerDay;
    if (perDay === undefined) continue;
    const perNight = Math.min(perDay, reports.max_per_run);
    const nights = (number: number, share: number) => (perNight > 0 ? Math.ceil(number / (share * perNight)) : null);
    const nightsFor = (number: number): Nights => ({ at_least: nights(number, 1), at_most: nights(number, ROTATION) });
    for (const counts of await askRows(reader, 'answers/plan/inspected_counts', countsRow, { website }, website)) {
      const inspections = Math.min(perNight, counts.pages);
      plans.push({
        ...counts,
        inspections_a_night: inspections,
        seconds: Math.ceil((inspections / pace) * 60),
        nights_until_inspected: nightsFor(counts.not_inspected),
        nights_for_all_pages: nightsFor(counts.pages),
      });
    }
  }
  return plans;
}

/** The same in one sentence or two. */
export function inspectionSentence(plan: InspectionPlan): string {
  const { website_id, pages, not_inspected: left, inspections_a_night: perNight, seconds } = plan;
  const { nights_until_inspected: first, nights_for_all_pages: all } = plan;
  const known = `${website_id}: ${counted(pages, 'page')}, ${left > 0 ? `${count(left)} not inspected yet` : 'all inspected'}.`;
  if (perNight === 0) return `${known} reports.max_per_run is 0, so none is inspected.`;
  const a = `Up to ${counted(perNight, 'inspection')} a night, in about ${duration(seconds * SECOND_MS)}`;
  if (all.at_most === 1) return `${known} ${a}. All of them are inspected every night.`;
  const between = ({ at_least: least, at_most: most }: Nights) =>
    least === most ? counted(least ?? 0, 'night') : `${count(least ?? 0)} to ${counted(most ?? 0, 'night')}`;
  const once = left > 0 ? `inspected once within ${between(first)}, then again every` : 'inspected every';
  return `${known} ${a}. All of them are ${once} ${between(all)}: the more pages have a reason, the longer the others wait.`;
}
