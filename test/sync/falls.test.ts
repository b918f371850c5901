import { expect, onTestFinished, test } from 'vitest';
import { RUN_LIMITS } from '../../src/sync/context.js';
import { run } from '../given/cli.js';
import { indexed, type ScriptedNight, SHOP, scriptedProperty } from './scripted-property.js';

const UNKNOWN = { verdict: 'NEUTRAL', coverageState: 'URL is unknown to Google' };
const OUT = { verdict: 'NEUTRAL', coverageState: 'Crawled - currently not indexed' };
const page = (at: number) => `${SHOP}/blog/${at}`;
const sitemap = Array.from({ length: 22 }, (_, at) => page(at));

/** Answers each inspection of a page with the next of its answers, the last one again and again; others are indexed. */
function answering(said: Record<string, object[]>): ScriptedNight {
  return { sitemap, inspect: (url) => (said[url]?.length === 1 ? said[url][0] : said[url]?.shift()) ?? indexed(url) };
}

test('a page that leaves the index is inspected again, alone and later; what cannot be keeps its status until the next night', async () => {
  // Twenty-two pages, and ten second looks.
  const quota = { inspections_per_day: 32 };
  const limits = { confirmation: RUN_LIMITS.confirmation };
  const { pass, rows, config } = await scriptedProperty(onTestFinished, quota, {}, limits);
  const states = () =>
    rows("select url, status, is_confirmed from pages where status <> 'indexed' or not is_confirmed order by url");
  await pass(answering({ [page(3)]: [OUT] }));
  const fine = indexed(page(1));
  const second = await pass(
    answering({
      [page(0)]: [UNKNOWN, fine],
      [page(1)]: [UNKNOWN, UNKNOWN, fine],
      [page(2)]: [UNKNOWN],
      [page(3)]: [UNKNOWN, OUT],
      // The only fall with a crawl since it was indexed.
      [page(4)]: [{ ...OUT, lastCrawlTime: '2026-03-01T20:00:00Z' }],
      [page(5)]: [OUT, fine],
    }),
  );
  expect(second.inspected).toHaveLength(30);
  expect(second.inspected.filter((url) => url === page(2))).toHaveLength(3);
  expect(second).toMatchObject({ reports: { planned: 22, fetched: 22, unconfirmed: 0 }, requests: { retried: 0 } });
  expect(await states()).toEqual([2, 3, 4].map((at) => ({ url: page(at), status: 'not_indexed', is_confirmed: true })));
  expect(await rows('select inspections::varchar as used from snapshots order by snapshot_id desc limit 1')).toEqual([
    { used: '[{"property":"sc-domain:shop.example","day":"2026-03-02","inspections":30}]' },
  ]);

  // Of the nineteen that fall now, ten can be asked again.
  const third = await pass(answering(Object.fromEntries(sitemap.map((url) => [url, [OUT]]))));
  expect(third).toMatchObject({ reports_status: 'complete', reports: { planned: 22, fetched: 13, unconfirmed: 9 } });
  expect(third.error).toBeUndefined();
  const doubtful = (await states()).filter(({ is_confirmed }) => !is_confirmed);
  expect(doubtful.map(({ status }) => status)).toEqual(Array(9).fill('indexed'));
  const falls = `select snapshot_date::varchar as night, is_uncrawled, count(*)::int as falls from page_changes
    where change = 'deindexed' group by all order by all`;
  expect(await rows(falls)).toEqual([
    { night: '2026-03-02', is_uncrawled: false, falls: 1 },
    { night: '2026-03-02', is_uncrawled: true, falls: 1 },
    { night: '2026-03-03', is_uncrawled: true, falls: 10 },
  ]);
  const { stdout } = await run(['status', '--config', config]);
  expect(stdout).toContain('9 more look as if they fell; not confirmed');
  const fourth = await pass({ sitemap });
  expect(fourth.reports.by_reason).toMatchObject({ unconfirmed: 9 });
  expect(fourth.inspected).toEqual(expect.arrayContaining(doubtful.map(({ url }) => url)));
  expect(await states()).toEqual([]);
});
