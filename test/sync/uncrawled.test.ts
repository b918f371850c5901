import { expect, onTestFinished, test } from 'vitest';
import { readReport } from '../../src/answers/report/report.js';
import { readFacts } from '../../src/app/notify/facts.js';
import { openReader } from '../answers/query/given.js';
import { given } from '../given/synced.js';
import { indexed, scriptedProperty } from './scripted-property.js';

const URLS = Array.from({ length: 30 }, (_, at) => `https://shop.example/blog/${at}`);
const unknown = () => ({ verdict: 'NEUTRAL', coverageState: 'URL is unknown to Google' });
const fallen = (lastCrawlTime: string) => () => ({
  ...{ verdict: 'NEUTRAL', coverageState: 'Crawled - currently not indexed', lastCrawlTime },
});

test('a fall without a crawl is said to be one, in the notice and in the report, and no other', async () => {
  const { pass, rows, warehouse, config } = await scriptedProperty(onTestFinished);
  const said = async (date: string, inspect: (url: string) => object) => {
    const { snapshot_id: id } = await pass({ sitemap: URLS, inspect });
    const reader = await openReader(warehouse, onTestFinished);
    const { sections } = await readReport(reader, { since: date, until: date, version: 'test', now: 0 });
    const input = { seen: {}, unsynced: {}, maxAge: Number.POSITIVE_INFINITY, now: 0 };
    const { notices } = await readFacts(reader, { ...input, config: await given(config) });
    const [{ kind = null, what = '' } = {}] = notices;
    const uncrawled = await rows(`select count_if(is_uncrawled)::integer as n from page_changes
      where snapshot_id = '${id}' and change in ('indexed', 'deindexed')`);
    return {
      story: sections[0]?.story[0]?.replaceAll('\u00a0', ' ').split('of the index')[1],
      kind,
      what,
      n: uncrawled[0]?.['n'],
    };
  };
  await said('2026-03-01', indexed);
  expect(await said('2026-03-02', unknown)).toEqual({
    story: '; on Mar 2, none of the 30 was crawled since.',
    kind: 'indexed_drop',
    what: expect.stringMatching(/ in \/blog\/; none of the 30 was crawled since$/),
    n: 30,
  });
  // Their crawls of before are no new ones.
  expect(await said('2026-03-03', indexed)).toMatchObject({ kind: null, n: 30 });
  const crawled = await said('2026-03-04', fallen('2026-03-03T20:00:00Z'));
  expect(crawled).toEqual({ story: '.', kind: 'indexed_drop', what: expect.stringMatching(/ in \/blog\/$/), n: 0 });
});
