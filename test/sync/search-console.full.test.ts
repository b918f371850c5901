import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { SearchConsole } from '../../src/app/demo/search-console/search-console.js';
import { createLogger } from '../../src/base/observe/log.js';
import { addDays, HOUR_MS, MINUTE_MS } from '../../src/base/time.js';
import { keyOf } from '../../src/base/url.js';
import { RUN_LIMITS } from '../../src/sync/context.js';
import { openReader, type Row, rowsOf } from '../answers/query/given.js';
import { startSimulator, sync } from '../given/client-clock.js';
import { writeConfig } from '../given/config-file.js';
import { pagesOf } from '../given/pages-of.js';
import { given } from '../given/synced.js';
import { givenSchemas } from '../given/warehouse.js';
import { SHOP, SIMULATED, scriptedProperty, simulatedProperty } from './scripted-property.js';

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
  const { home, service, pass, now } = await simulatedProperty({ pages: 20 });
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
  // A site that cannot be read holds a night up until its deadline.
  service.setFaults({ '503': 1 }, ['web']);
  pass();
  home.sections['reports'] = { deadline: '2s' };
  home.configure(home.websites);
  expect(await home.syncOne()).toMatchObject({
    listing_status: 'partial',
    error: expect.stringMatching(/^\d places? of sc-domain:example.com .*not read in time/),
    reports_status: 'deadline',
  });
});

const heldAnswer = z.object({ rows: z.array(z.object({ keys: z.tuple([z.string()]), impressions: z.int() })) });

/** What the simulated Search Console holds of web search from a date on, by date. */
async function heldSince({ url }: SearchConsole, startDate: string) {
  const path = `/webmasters/v3/sites/${encodeURIComponent(SIMULATED)}/searchAnalytics/query`;
  const headers = { authorization: 'Bearer given', 'content-type': 'application/json' };
  const query = { startDate, endDate: '2026-12-31', dimensions: ['date'], type: 'web', aggregationType: 'byPage' };
  const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(query) });
  return heldAnswer.parse(await answer.json()).rows.map(({ keys: [date], impressions }) => ({ date, impressions }));
}

test('late, missing and corrected days are unknown or right on every night, and right at last', async () => {
  const late = { from: -8, to: -3, until: 4, share: 0 };
  const missing = { type: 'web', from: -20, to: -19, until: 12, share: 0 } as const;
  const corrected = { type: 'web', from: -30, to: -21, until: 2, share: 0.5 } as const;
  const { home, service, pass } = await simulatedProperty({
    ...{ pages: 100, token: 'given', days: [late, missing, corrected] },
    ...{ entry: { inspections_per_day: 1 }, settings: { history: '40d' } },
  });
  const sums = `select "date"::varchar as "date", impressions::int as impressions from search_dates
    where is_final and "type" = 'web' order by "date"`;
  const unknown: string[][] = [];
  let known: Row[] = [];
  for (const later of [0, 1, 1, 1, 1, 8]) {
    if (later > 0) pass(later);
    expect(await home.syncOne({ follow: false })).toMatchObject({ status: 'committed', listing_status: 'complete' });
    known = await rowsOf(await openReader(home.warehouse, onTestFinished), sums);
    expect(known.filter(({ impressions }) => impressions === 0)).toEqual([]);
    unknown.push(known.filter(({ impressions }) => impressions === null).map(({ date }) => String(date)));
  }
  const missed = ['2025-12-12', '2025-12-13'];
  const isLate = [...missed, ...Array.from({ length: 6 }, (_, at) => addDays('2025-12-24', at))];
  expect(unknown).toEqual([isLate, isLate, isLate, isLate, missed, []]);
  expect(known).toEqual(await heldSince(service, String(known[0]?.['date'])));
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
