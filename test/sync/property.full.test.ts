import { expect, onTestFinished, test } from 'vitest';
import { openReader, rowsOf } from '../answers/query/given.js';
import { givenProperty } from './given-property.js';

const NIGHTS = 30;

/** Pages that were inspected by rotation although one with an older inspection was listed and not inspected. */
const OUT_OF_TURN = `
with listed as (
  select
    snapshot_id,
    reason,
    coalesce(lag(inspected_at) over (partition by url order by snapshot_id), '1970-01-01') as before
  from coverage
  left join (select snapshot_id, url, reason from url_reports) using (snapshot_id, url)
),
nights as (
  select
    snapshot_id,
    max(before) filter (reason = 'oldest') as newest_inspected,
    min(before) filter (reason is null) as oldest_left
  from listed
  group by snapshot_id
)
from nights where newest_inspected > oldest_left`;

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
      `select snapshot_id from url_reports where reason <> 'oldest' group by all having count(*) > 0.6 * ${perDay}`,
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
