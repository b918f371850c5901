import { expect, onTestFinished, test } from 'vitest';
import type { SearchConsoleOptions } from '../../src/app/demo/search-console/search-console.js';
import { createLogger } from '../../src/base/observe/log.js';
import { HOUR_MS, MINUTE_MS } from '../../src/base/time.js';
import { keyOf } from '../../src/base/url.js';
import { RUN_LIMITS } from '../../src/sync/context.js';
import { openReader, rowsOf } from '../answers/query/given.js';
import { startSimulator, sync } from '../given/client-clock.js';
import { writeConfig } from '../given/config-file.js';
import { atEnd, temporaryFolder } from '../given/folder.js';
import { Home } from '../given/home.js';
import { pagesOf } from '../given/pages-of.js';
import { given } from '../given/synced.js';
import { givenSchemas } from '../given/warehouse.js';
import { clockFrom, SHOP, scriptedProperty, startGoogle, WITHOUT_LIMITS } from './scripted-property.js';

const SIMULATED = 'sc-domain:example.com';
const CONFIRMATION = { confirmation: RUN_LIMITS.confirmation };
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

/** A simulated property whose pages live as the demo's do; its nights are a day apart, for those who sync it, too. */
async function simulatedProperty({
  pages,
  entry = {},
  ...options
}: SearchConsoleOptions & { pages: number; entry?: object }) {
  const clock = clockFrom('2026-01-01');
  const start = new Date(clock.now()).toISOString();
  const given = { start, websites: [{ id: 'w', pages }], clock: clock.now, ...WITHOUT_LIMITS, ...options };
  const { service, google } = await startGoogle(given, atEnd);
  const pass = () => {
    clock.pass(1);
    service.advance();
  };
  const websites = [{ id: SIMULATED, source: 'google', ...entry }];
  const sections = { google, reports: { refresh_after: '30d' } };
  const home = new Home(temporaryFolder(), service, websites, sections, clock.effects);
  return { home, service, pass, now: clock.now };
}

test('no page is unseen for longer than a plain rotation takes', async () => {
  const quota = { entry: { inspections_per_day: PER_DAY }, inspectionsPerDay: PER_DAY };
  const { home, service, pass } = await simulatedProperty({ pages: PAGES, ...quota });
  for (let night = 0; night < NIGHTS; night++) {
    if (night > 0) pass();
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

test('a burst that degrades Google makes no page fall, and pressure and cut answers fail none', async () => {
  const { home, service, pass } = await simulatedProperty({ pages: 150, latencyMs: 10 });
  await home.syncOne();
  service.setProperties([{ siteUrl: SIMULATED, soundAtOnce: 4 }]);
  service.setFaults({ '403': 0.02, cut: 0.05 }, ['inspect']);
  service.inspected.clear();
  pass();
  const config = await given(home.config);
  const { websites } = await sync({ config, effects: home.effects, limits: CONFIRMATION });
  const [{ reports_status, reports } = {}] = websites;
  const few = [(reports?.failed ?? 9) < 4, (reports?.unconfirmed ?? 9) < 9];
  expect([reports_status, ...few]).toEqual(['complete', true, true]);
  expect([...service.inspected.values()].filter((times) => times > 1).length).toBeGreaterThan(75);
  const fallen = "select url from page_changes where to_value = 'URL is unknown to Google' or change = 'deindexed'";
  const truth = new Map(pagesOf(service.world, 'w').map(({ report }) => [keyOf(report.url), report.index_summary]));
  const wrong = await rowsOf(await openReader(home.warehouse), fallen);
  expect(wrong.filter(({ url }) => truth.get(String(url)) === 'Indexed')).toEqual([]);
});

test('an outage of Search Console is waited for, beside a website of the API in the same warehouse', async () => {
  const { home, service, now } = await simulatedProperty({ pages: 20 });
  await givenSchemas(home.warehouse);
  const api = await startSimulator({ websites: [{ id: 'a', pages: 5 }], clock: now });
  writeConfig(home.folder, { baseUrl: api.url, websites: [...home.websites, { id: 'a' }], sections: home.sections });
  service.setFaults({ '503': 1 });
  const lines: string[] = [];
  const { websites } = await sync({
    config: await given(home.config),
    logger: createLogger({ destination: { write: (line) => lines.push(JSON.parse(line).msg) } }),
    effects: { ...home.effects, sleep: async (ms) => service.setFaults(ms < MINUTE_MS ? { '503': 1 } : {}) },
    retryFor: HOUR_MS,
  });
  expect(websites).toMatchObject([
    { website_id: SIMULATED, status: 'committed', reports_status: 'complete' },
    { website_id: 'a', status: 'committed', pages: { listed: 5 } },
  ]);
  expect(lines.filter((line) => line.includes('outage'))).toEqual([
    expect.stringMatching(/^outage: .*503/),
    'the outage of the service is over',
  ]);
  const reader = await openReader(home.warehouse, onTestFinished);
  expect(await rowsOf(reader, 'select website_id, source from snapshots order by all')).toEqual([
    { website_id: 'a', source: 'api' },
    { website_id: SIMULATED, source: 'google' },
  ]);
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
