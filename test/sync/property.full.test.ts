import { expect, onTestFinished, test } from 'vitest';
import { openReader, rowsOf } from '../answers/query/given.js';
import { givenProperty } from './given-property.js';

const NIGHTS = 30;

/** Pages that neither an inspection nor search showed for longer than a plain rotation takes, and three days until days of search are final. */
const UNSEEN_TOO_LONG = `
with listed as (
  select url, min(snapshot_date) as first_listed, max(snapshot_date) as last_listed from coverage group by url
),
seen as (
  select url, snapshot_date as seen_on from url_reports
  union select url, "date" from search_final
  union select url, first_listed from listed
  union select url, last_listed from listed
)
select url, seen_on, lag(seen_on) over (partition by url order by seen_on) as before
from seen
join listed using (url)
where seen_on between first_listed and last_listed
qualify seen_on - before > $period`;

test.each([
  { pages: 4_000, perDay: 100 },
  { pages: 600, perDay: 50 },
])(
  'in thirty nights $pages pages are inspected in turn, none is unseen for longer than a plain rotation',
  async ({ pages, perDay }) => {
    const { home, service, pass } = await givenProperty(onTestFinished, {
      pages,
      entry: { inspections_per_day: perDay },
      inspectionsPerDay: perDay,
    });
    for (let night = 0; night < NIGHTS; night++) {
      if (night > 0) pass();
      const { status, listing_status, reports } = await home.syncOne();
      expect([status, listing_status, reports.failed, reports.rejected]).toEqual(['committed', 'complete', 0, 0]);
    }
    const reader = await openReader(home.warehouse);
    for (const never of [
      UNSEEN_TOO_LONG.replace('$period', String(Math.ceil(pages / perDay) + 3)),
      'select snapshot_id, url from url_reports group by all having count(*) > 1',
      // The whole share of the reasons and the random checks.
      `select snapshot_id from url_reports where reason not in ('oldest', 'turn', 'unconfirmed') group by all having count(*) > 0.6 * ${perDay}`,
      'from drift_observations',
    ]) {
      expect([never, await rowsOf(reader, never)]).toEqual([never, []]);
    }
    // What is held back for second looks is at most a fifth of a day.
    const inspections = [...service.inspected.values()].reduce((sum, times) => sum + times, 0);
    expect(inspections).toBeLessThanOrEqual(NIGHTS * perDay);
    expect(inspections).toBeGreaterThan(0.95 * NIGHTS * perDay);
    // Nothing followed these nights.
    expect((await home.wrong()).filter(({ level }) => level !== 'lag')).toEqual([]);
  },
  300_000,
);
