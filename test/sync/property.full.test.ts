import { expect, onTestFinished, test } from 'vitest';
import { openReader, rowsOf } from '../answers/query/given.js';
import { givenProperty } from './given-property.js';

const NIGHTS = 30;

/**
 * Nights in which the rotation took a page although one that was neither inspected nor shown for longer was left. Pages
 * that search showed within seven final days are none of its business.
 */
const OUT_OF_TURN = `
with ends as (
  select snapshots.snapshot_id, max("date") as last_final_date
  from snapshots
  join search_fetches on search_fetches.snapshot_id <= snapshots.snapshot_id and is_final
  group by all
),
shown as (
  select coverage.snapshot_id, coverage.url, max("date") as shown_on
  from coverage
  join ends using (snapshot_id)
  join search_final
    on search_final.url = coverage.url
    and search_final.snapshot_id <= coverage.snapshot_id
    and "date" > last_final_date - 90
  group by all
),
listed as (
  select
    snapshot_id,
    reason,
    coalesce(shown_on > last_final_date - 7, false) as is_shown,
    coalesce(
      greatest(
        california_date(lag(inspected_at) over (partition by coverage.url order by snapshot_id)),
        shown_on
      ),
      '-infinity'
    ) as unseen_since
  from coverage
  join ends using (snapshot_id)
  left join shown using (snapshot_id, url)
  left join (select snapshot_id, url, reason from url_reports) as reports using (snapshot_id, url)
),
nights as (
  select
    snapshot_id,
    max(unseen_since) filter (reason = 'oldest') as newest_taken,
    min(unseen_since) filter (reason is null and not is_shown) as oldest_left
  from listed
  group by snapshot_id
)
from nights where newest_taken > oldest_left`;

test.each([
  { pages: 4_000, perDay: 100 },
  { pages: 600, perDay: 50 },
])(
  'in thirty nights $pages pages are inspected in turn, none earlier without a reason',
  async ({ pages, perDay }) => {
    const { home, service, pass } = await givenProperty(onTestFinished, {
      pages,
      entry: { inspections_per_day: perDay },
      inspectionsPerDay: perDay,
    });
    for (let night = 0; night < NIGHTS; night++) {
      if (night > 0) pass();
      expect(await home.syncOne()).toMatchObject({
        status: 'committed',
        listing_status: 'complete',
        reports: { fetched: perDay },
      });
    }
    const reader = await openReader(home.warehouse);
    for (const never of [
      OUT_OF_TURN,
      'select snapshot_id, url from url_reports group by all having count(*) > 1',
      // The whole share of the reasons and the random checks.
      `select snapshot_id from url_reports where reason not in ('oldest', 'turn') group by all having count(*) > 0.6 * ${perDay}`,
      'from drift_observations',
    ]) {
      expect([never, await rowsOf(reader, never)]).toEqual([never, []]);
    }
    expect([...service.inspected.values()].reduce((sum, times) => sum + times, 0)).toBe(NIGHTS * perDay);
    // Nothing followed these nights.
    expect((await home.wrong()).filter(({ level }) => level !== 'lag')).toEqual([]);
  },
  300_000,
);
