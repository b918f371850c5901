import { expect, onTestFinished, test } from 'vitest';
import { keyOf } from '../../src/base/url.js';
import { RUN_LIMITS } from '../../src/sync/context.js';
import { openReader, rowsOf } from '../answers/query/given.js';
import { run } from '../given/cli.js';
import { sync } from '../given/client-clock.js';
import { pagesOf } from '../given/pages-of.js';
import { given } from '../given/synced.js';
import { givenProperty, PROPERTY } from './given-property.js';
import { indexed, type ScriptedNight, SHOP, scriptedProperty } from './scripted-property.js';

const CONFIRMATION = { confirmation: RUN_LIMITS.confirmation };
const UNKNOWN = { verdict: 'NEUTRAL', coverageState: 'URL is unknown to Google' };
const OUT = { verdict: 'NEUTRAL', coverageState: 'Crawled - currently not indexed' };
const page = (at: number) => `${SHOP}/${at}`;
const sitemap = Array.from({ length: 20 }, (_, at) => page(at));
const STATES = "select url, status, is_confirmed from pages where status <> 'indexed' or not is_confirmed order by url";

/** Answers each inspection of a page with the next of its answers, the last one again and again; others are indexed. */
function answering(said: Record<string, object[]>): Required<Pick<ScriptedNight, 'inspect'>> & ScriptedNight {
  return { sitemap, inspect: (url) => (said[url]?.length === 1 ? said[url][0] : said[url]?.shift()) ?? indexed(url) };
}

test('a page that leaves the index or becomes unknown is inspected again, alone and later', async () => {
  const { pass, rows, wrong, config } = await scriptedProperty(onTestFinished, {}, {}, CONFIRMATION);
  await pass(answering({ [page(3)]: [OUT] }));
  const fine = indexed(page(1));
  const said = {
    [page(0)]: [UNKNOWN, fine],
    [page(1)]: [UNKNOWN, UNKNOWN, fine],
    [page(2)]: [UNKNOWN],
    [page(3)]: [UNKNOWN, OUT],
    [page(4)]: [OUT],
    [page(5)]: [OUT, fine],
  };
  const night = await pass(answering(said));
  expect(night.inspected.filter((url, at, all) => all[at - 1] !== url)).toHaveLength(20);
  expect(night).toMatchObject({ reports: { planned: 20, fetched: 20, unconfirmed: 0 }, requests: { retried: 0 } });
  expect(night.inspected.filter((url) => url === page(2))).toHaveLength(3);
  expect(await rows(STATES)).toEqual(
    [2, 3, 4].map((at) => ({ url: page(at), status: 'not_indexed', is_confirmed: true })),
  );
  expect(await rows('select inspections::varchar as used from snapshots order by snapshot_id desc limit 1')).toEqual([
    { used: `[{"property":"sc-domain:shop.example","day":"2026-03-02","inspections":${night.inspected.length}}]` },
  ]);
  expect(await wrong()).toEqual([]);
  expect((await run(['status', '--config', config])).stdout).not.toContain('not confirmed');
});

test('what cannot be inspected again keeps its status, is counted, and comes first in the next night', async () => {
  const quota = { inspections_per_day: 20 };
  const { pass, rows, wrong, config } = await scriptedProperty(onTestFinished, quota, {}, CONFIRMATION);
  await pass({ sitemap });
  // A fifth of the day is held back.
  const fallen = Object.fromEntries(sitemap.map((url) => [url, [OUT]]));
  const night = await pass(answering(fallen));
  expect(night.inspected).toHaveLength(20);
  expect(night).toMatchObject({ reports_status: 'budget', reports: { planned: 16, fetched: 4, unconfirmed: 12 } });
  expect(night.error).toBeUndefined();
  const before = await rows(STATES);
  expect(before.filter(({ status }) => status === 'not_indexed')).toHaveLength(4);
  const doubtful = before.flatMap(({ url, is_confirmed: is }) => (is ? [] : [String(url)]));
  expect(before.filter(({ is_confirmed: is, status }) => !is && status === 'indexed')).toHaveLength(12);
  expect(await rows("select count(*)::int as n from page_changes where change = 'deindexed'")).toEqual([{ n: 4 }]);
  expect((await run(['status', '--config', config])).stdout).toContain('12 more look as if they fell; not confirmed');
  const { stdout } = await run(['report', '--config', config, '--brief', '--out', '-']);
  expect(stdout).toContain('12 more look as if they fell; not confirmed.');
  const listed = await run(['query', 'pages', 'problem=unconfirmed', '--config', config, '--format', 'json']);
  expect([...listed.stdout.matchAll(/"url":"([^"]*)"/g)].map(([, url]) => url)).toEqual(doubtful);
  const { stdout: said } = await run(['query', 'page', `url=${doubtful[0]}`, '--config', config]);
  expect(said).toContain('Now it looks as if it fell; not confirmed.');
  expect(await wrong()).toEqual([]);
  const next = await pass({ sitemap });
  expect(next.reports.by_reason).toMatchObject({ unconfirmed: 12 });
  expect(next.inspected).toEqual(expect.arrayContaining(doubtful));
  expect(await rows(STATES)).toEqual([]);
});

test('a run that is stopped in a pause goes on from what its journal holds, and no pause outlasts its deadline', async () => {
  const { home, service, pass } = await givenProperty(onTestFinished, { pages: 40 });
  await home.syncOne();
  pass();
  service.setProperties([{ siteUrl: PROPERTY, soundAtOnce: 0 }]);
  const stop = new AbortController();
  const sleep = (ms: number, signal?: AbortSignal) => {
    if (ms === CONFIRMATION.confirmation.pauses[1]) stop.abort();
    return home.effects.sleep(ms, signal);
  };
  const options = { config: await given(home.config), limits: CONFIRMATION, signal: stop.signal };
  await expect(sync({ ...options, effects: { ...home.effects, sleep } })).rejects.toThrow('resumes the run');
  const paid = [...service.inspected];
  service.inspected.clear();
  service.setProperties([{ siteUrl: PROPERTY }]);
  expect(await home.syncOne()).toMatchObject({ resumed: true, reports: { unconfirmed: 0 } });
  expect([...service.inspected.values()].every((times) => times === 1)).toBe(true);
  expect(paid.length).toBeGreaterThan(service.inspected.size);
});

test('a burst that degrades Google makes no page fall, and pressure and cut answers fail none', async () => {
  const { home, service, pass } = await givenProperty(onTestFinished, { pages: 200, latencyMs: 10 });
  await home.syncOne();
  service.setProperties([{ siteUrl: PROPERTY, soundAtOnce: 4 }]);
  service.setFaults({ '403': 0.02, cut: 0.05 }, ['inspect']);
  service.inspected.clear();
  pass();
  const config = await given(home.config);
  const { websites } = await sync({ config, effects: home.effects, limits: CONFIRMATION });
  const [{ reports_status, reports } = {}] = websites;
  expect([reports_status, (reports?.failed ?? 9) < 4, (reports?.unconfirmed ?? 9) < 9]).toEqual([
    'complete',
    true,
    true,
  ]);
  expect([...service.inspected.values()].filter((times) => times > 1).length).toBeGreaterThan(100);
  const fallen = "select url from page_changes where to_value = 'URL is unknown to Google' or change = 'deindexed'";
  const truth = new Map(pagesOf(service.world, 'w').map(({ report }) => [keyOf(report.url), report.index_summary]));
  const wrong = await rowsOf(await openReader(home.warehouse), fallen);
  expect(wrong.filter(({ url }) => truth.get(String(url)) === 'Indexed')).toEqual([]);
});
