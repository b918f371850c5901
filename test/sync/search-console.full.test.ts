import { expect, onTestFinished, test } from 'vitest';
import { openReader, rowsOf } from '../answers/query/given.js';
import { atEnd, temporaryFolder } from '../given/folder.js';
import { Home } from '../given/home.js';
import { clockFrom, SHOP, scriptedProperty, startGoogle, WITHOUT_LIMITS } from './scripted-property.js';

const [PAGES, PER_DAY, NIGHTS] = [400, 40, 14];

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
qualify seen_on - before > ${PAGES / PER_DAY + 3}`;

test('no page is unseen for longer than a plain rotation takes', async () => {
  const clock = clockFrom('2026-01-01');
  const start = new Date(clock.now()).toISOString();
  const given = { start, websites: [{ id: 'w', pages: PAGES }], clock: clock.now, ...WITHOUT_LIMITS };
  const { service, google } = await startGoogle({ ...given, inspectionsPerDay: PER_DAY }, atEnd);
  const websites = [{ id: 'sc-domain:example.com', source: 'google', inspections_per_day: PER_DAY }];
  const sections = { google, reports: { refresh_after: '30d' } };
  const home = new Home(temporaryFolder(), service, websites, sections, clock.effects);
  for (let night = 0; night < NIGHTS; night++) {
    clock.pass(night && 1);
    if (night > 0) service.advance();
    const { status, listing_status, reports } = await home.syncOne();
    expect([status, listing_status, reports.failed, reports.rejected]).toEqual(['committed', 'complete', 0, 0]);
  }
  const reader = await openReader(home.warehouse);
  for (const never of [
    UNSEEN_TOO_LONG,
    'select snapshot_id, url from url_reports group by all having count(*) > 1',
    // The whole share of the reasons and the random checks.
    `select snapshot_id from url_reports where reason not in ('oldest', 'turn', 'unconfirmed')
      group by all having count(*) > 0.6 * ${PER_DAY}`,
    'from drift_observations',
  ]) {
    expect([never, await rowsOf(reader, never)]).toEqual([never, []]);
  }
  // What is held back for second looks is at most a fifth of a day.
  const inspections = [...service.inspected.values()].reduce((sum, times) => sum + times, 0);
  expect(inspections).toBeLessThanOrEqual(NIGHTS * PER_DAY);
  expect(inspections).toBeGreaterThan(0.95 * NIGHTS * PER_DAY);
  expect((await home.wrong()).filter(({ level }) => level !== 'lag')).toEqual([]);
});

test('a day with 50,000 pages is marked as cut', async () => {
  const quota = { inspections_per_day: 1 };
  const { pass, calls, rows } = await scriptedProperty(onTestFinished, quota, { history: '30d' }, { searchDays: 10 });
  const all = Array.from({ length: 60_000 }, (_, at) => [`${SHOP}/${at}`, 0, 1, 9] as const);
  await pass({ search: (date, type) => (date === '2026-02-26' && type === 'web' ? all : []) });
  expect(calls.searched.filter((call) => call.startsWith('web page'))).toHaveLength(2);
  expect(await rows('select pages, is_cut, impressions::int as impressions from search_dates where pages > 0')).toEqual(
    [{ pages: 50_000, is_cut: true, impressions: 60_000 }],
  );
});
