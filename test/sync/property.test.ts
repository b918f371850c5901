import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/base/config/load.js';
import { createLogger } from '../../src/base/observe/log.js';
import { HOUR_MS, MINUTE_MS } from '../../src/base/time.js';
import { realRunEffects } from '../../src/sync/context.js';
import { analysisRows, openReader, rowsOf } from '../answers/query/given.js';
import { atLength, testAtLength } from '../given/at-length.js';
import { run } from '../given/cli.js';
import { startSimulator, sync } from '../given/client-clock.js';
import { writeConfig } from '../given/config-file.js';
import { contentOf } from '../given/content.js';
import { dryRunOf } from '../given/dry-run.js';
import { atEnd, temporaryFolder } from '../given/folder.js';
import type { Home } from '../given/home.js';
import { leftBehind } from '../given/left-behind.js';
import type { StopAfter } from '../given/synced.js';
import { givenSchemas, noFollowers } from '../given/warehouse.js';
import { givenProperty, PROPERTY } from './given-property.js';

const STEPS = ['listed', 'wrote the plan', 'fetched', 'staged all'];
const STOPPED: [state: string, stopAfter: StopAfter][] = [
  ['in the listing', { pages: 1 }],
  ['in the inspections', { reports: 11 }],
];

/** Moments of inspections are our own, too. */
async function contentOfNights({ warehouse }: Home): Promise<Record<string, string[]>> {
  const content = await contentOf(warehouse);
  const own = (row: string) =>
    row.replace(/"(inspected_at|last_named_at|(?:report_)?inspection_date)":"[^"]*"/g, '"$1":true');
  return Object.fromEntries(Object.entries(content).map(([table, rows]) => [table, rows.map(own).sort()]));
}

async function asked({ warehouse }: Home, sql: string) {
  return rowsOf(await openReader(warehouse), sql);
}

async function wrong(home: Home) {
  return (await home.wrong()).filter(({ level }) => level !== 'lag');
}

describe('a night of Search Console that is interrupted', () => {
  let root: string;
  let given: Awaited<ReturnType<typeof givenProperty>>;
  let unbroken: Record<string, string[]>;

  beforeAll(async () => {
    root = temporaryFolder();
    given = await givenProperty(atEnd, { entry: { inspections_per_day: 30 }, inspectionsPerDay: 10_000 });
    await given.home.syncOne();
    given.pass(2);
    for (const [state, stopAfter] of atLength(STOPPED.slice(1), STOPPED)) {
      const died = given.home.copyTo(join(root, state));
      await expect(died.syncOne({ stopAfter })).rejects.toThrow('resumes the run');
    }
    const whole = given.home.copyTo(join(root, 'whole'));
    await leftBehind(
      whole.folder,
      STEPS,
      (step) => join(root, step),
      () => whole.syncOne(),
    );
    unbroken = await contentOfNights(whole);
  });

  const states = [...STOPPED.map(([state]) => state), ...STEPS];
  test.each(atLength(['in the inspections'], states))('ends as if it had not been: %s', async (state) => {
    const died = given.home.at(join(root, state));
    const paid = died.journaled(PROPERTY);
    given.service.inspected.clear();
    expect(await died.syncOne()).toMatchObject({ status: 'committed', resumed: true });
    expect([...given.service.inspected.keys()].filter((url) => paid.includes(url))).toEqual([]);
    expect(given.service.inspected.size + paid.length).toBe(30);
    expect(await contentOfNights(died)).toEqual(unbroken);
  });
});

describe('a property', () => {
  test('inspects again what search shows a week after it was found not indexed, and counts and reports it', async () => {
    const quota = { entry: { inspections_per_day: 2000 }, inspectionsPerDay: 10_000 };
    const { home, pass } = await givenProperty(onTestFinished, { pages: 1200, ...quota });
    pass(14);
    await home.syncOne();
    pass(10);
    await home.syncOne();
    const again = await asked(home, "select index_summary from url_reports where reason = 'contradicted'");
    expect(again.map((row) => row['index_summary'])).toContain('Not Indexed');
    const [found] = await asked(
      home,
      `select count(*)::int as pages from url_reports
      join (select url, max("date") as shown_on from search_final group by url) using (url)
      where snapshot_date = '2026-01-15' and index_summary = 'Not Indexed' and shown_on >= snapshot_date + 7`,
    );
    const trend = await analysisRows(await openReader(home.warehouse), 'indexing_trend');
    expect(trend.map((row) => row['contradicted'])).toEqual([0, found?.['pages']]);
    const { stdout } = await run(['report', '--config', home.config, '--brief', '--out', '-']);
    expect(stdout).toContain(`Search still shows ${found?.['pages']} pages that an inspection found not indexed.`);
  });

  test('says nothing new on its first night, and its day of inspections is counted in the warehouse', async () => {
    const { home, pass } = await givenProperty(onTestFinished, { entry: { inspections_per_day: 40 } });
    expect(await home.syncOne()).toMatchObject({ reports_status: 'budget', reports: { fetched: 40, failed: 0 } });
    expect(await home.syncOne()).toMatchObject({ listing_status: 'complete', reports: { planned: 0, left: 70 } });
    expect(await asked(home, 'from drift_observations')).toEqual([]);
    expect(await dryRunOf(home.config, home.effects)).toMatchObject([
      { reports: { planned: 0, left: 70 }, limit: 'quota' },
    ]);
    pass();
    expect(await dryRunOf(home.config, home.effects)).toMatchObject([{ reports: { planned: 40 }, limit: 'quota' }]);
    expect(await home.syncOne()).toMatchObject({ reports: { fetched: 40, by_reason: { oldest: expect.anything() } } });
    expect(await wrong(home)).toEqual([]);
  });

  testAtLength('whose day another tool used up ends the night as budget, with what it got', async () => {
    const { home } = await givenProperty(onTestFinished, {
      inspectionsPerDay: 50,
      usedElsewhere: 35,
    });
    const { reports_status, reports, requests } = await home.syncOne();
    expect({ reports_status, reports }).toMatchObject({
      reports_status: 'budget',
      reports: { fetched: 15, failed: 0 },
    });
    expect(requests.throttled).toBeLessThan(12);
  });

  testAtLength('has its night after an inspect that was killed, which is committed with what it paid for', async () => {
    const { home, service, pass } = await givenProperty(onTestFinished, { entry: { inspections_per_day: 40 } });
    await home.syncOne();
    pass();
    const pages = [...service.inspected.keys()].slice(0, 20);
    await expect(home.syncOne({ stopAfter: { reports: 5 }, asked: new Map([[PROPERTY, pages]]) })).rejects.toThrow(
      'stopped before the end',
    );
    const paid = home.journaled(PROPERTY).length;
    const { resumed, reports } = await home.syncOne();
    expect([resumed, reports.by_reason.asked, reports.fetched]).toEqual([false, 0, 40 - paid]);
    expect(await asked(home, 'select reports_status, reports_fetched from snapshots order by snapshot_id')).toEqual([
      { reports_status: 'budget', reports_fetched: 40 },
      { reports_status: 'interrupted', reports_fetched: paid },
      { reports_status: 'budget', reports_fetched: 40 - paid },
    ]);
  });

  test('takes no page away when a sitemap cannot be read, and says which', async () => {
    const { home, service, pass } = await givenProperty(onTestFinished);
    const { pages } = await home.syncOne();
    pass();
    service.setFaults({ '500': 1 }, ['web']);
    const { listing_status, error } = await home.syncOne();
    expect([listing_status, error]).toEqual(['partial', expect.stringContaining('robots.txt answered 500')]);
    const gone = await asked(home, "from page_changes where change = 'disappeared'");
    expect([gone, pages.listed]).toEqual([[], 110]);
  });

  test('lists and inspects until its deadline', async () => {
    const { home, service } = await givenProperty(onTestFinished);
    home.sections['reports'] = { deadline: '2s' };
    home.configure(home.websites);
    service.setFaults({ '503': 1 }, ['web']);
    const { listing_status, error, reports_status } = await home.syncOne();
    const reason = expect.stringMatching(/^\d places? of sc-domain:example.com .*not read in time/);
    expect([listing_status, error, reports_status]).toEqual(['partial', reason, 'deadline']);
  });

  test('waits for an outage to pass, and says when it is over', async () => {
    const { home, service, now } = await givenProperty(onTestFinished);
    await givenSchemas(home.warehouse);
    service.setFaults({ '503': 1 });
    const lines: string[] = [];
    const sleep = async (ms: number) => service.setFaults(ms < MINUTE_MS ? { '503': 1 } : {});
    const receipt = await sync({
      config: await loadConfig({ file: home.config, env: {}, cwd: '/' }),
      logger: createLogger({ destination: { write: (line) => lines.push(JSON.parse(line).msg) } }),
      effects: { ...realRunEffects, now: now, sleep, follow: noFollowers },
      retryFor: HOUR_MS,
    });
    expect(receipt.websites).toMatchObject([{ status: 'committed', reports_status: 'complete' }]);
    expect(lines.filter((line) => line.includes('outage'))).toEqual([
      expect.stringMatching(/^outage: .*503/),
      'the outage of the service is over',
    ]);
  });

  testAtLength('lives in one warehouse with a website of the API', async () => {
    const { home, now } = await givenProperty(onTestFinished);
    const api = await startSimulator({ websites: [{ id: 'a', pages: 30 }], clock: now });
    const sections = { ...home.sections, api: { base_url: api.url } };
    writeConfig(home.folder, { websites: [...home.websites, { id: 'a' }], sections });
    expect((await home.sync()).websites).toMatchObject([
      { website_id: PROPERTY, status: 'committed', pages: { listed: 110 } },
      { website_id: 'a', status: 'committed', pages: { listed: 30 } },
    ]);
    expect(await asked(home, 'select website_id, source from snapshots order by all')).toEqual([
      { website_id: 'a', source: 'api' },
      { website_id: PROPERTY, source: 'google' },
    ]);
    expect(await wrong(home)).toEqual([]);
  });
});
