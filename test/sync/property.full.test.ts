import { expect, onTestFinished, test } from 'vitest';
import { indexed, SHOP, scriptedProperty } from './scripted-property.js';

test('half of the inspections are a rotation, which pages that were just found do not lead', async () => {
  const { pass } = await scriptedProperty(onTestFinished, { inspections_per_day: 4 });
  const old = ['a', 'b', 'c', 'd'].map((name) => `${SHOP}/${name}`);
  const fresh = ['e', 'f', 'g', 'h'].map((name) => `${SHOP}/${name}`);
  const traffic = old.map((url) => [url, 1, 10, 1] as const);
  expect(await pass({ sitemap: old, traffic })).toMatchObject({ reports_status: 'complete', reports: { left: 0 } });
  const second = await pass({ sitemap: [...old, ...fresh], traffic });
  expect(second.inspected.filter((url) => fresh.includes(url))).toHaveLength(2);
  // The day is complete only once every page was inspected, also those that search shows.
  expect(second).toMatchObject({ reports_status: 'budget', reports: { planned: 4, left: 2 } });
});

test('a page that search shows a week after it was found not indexed is inspected again for that reason', async () => {
  const { pass, rows } = await scriptedProperty(onTestFinished);
  const [fine, out] = [`${SHOP}/fine`, `${SHOP}/out`];
  const inspect = (url: string) => (url === out ? { verdict: 'NEUTRAL', coverageState: 'Soft 404' } : indexed(url));
  const traffic = [[fine, 1, 10, 3] as const, [out, 1, 10, 3] as const];
  await pass({ sitemap: [fine, out], inspect });
  await pass({ sitemap: [fine, out], inspect, traffic }, 11);
  const again = "select url, reason from url_reports where snapshot_date = '2026-03-12' order by url";
  expect(await rows(again)).toEqual([
    { url: fine, reason: 'turn' },
    { url: out, reason: 'contradicted' },
  ]);
});

test('a lastmod that moves every night is no reason for an inspection, beside one that means something', async () => {
  const { pass, rows } = await scriptedProperty(onTestFinished, { inspections_per_day: 8 });
  const urls = (directory: string) => Array.from({ length: 20 }, (_, at) => `${SHOP}/${directory}/${at}`);
  const night = (day: string, modified: readonly string[] = []) => {
    // All pages of the first sitemap but one, and in the second those that were modified.
    const moving = urls('a').map((url, at) => `${url} ${at === 7 ? '2026-02-01' : `${day}T09:59:00Z`}`);
    const still = urls('b').map((url) => `${url} ${modified.includes(url) ? day : '2026-02-01'}`);
    return pass({ sitemap: moving, sitemaps: { [`${SHOP}/b.xml`]: still }, inspect: indexed });
  };
  const { inspected: first } = await night('2026-03-01');
  const [modified = ''] = first.filter((url) => url.includes('/b/'));
  // One is inspected again as a random check.
  expect((await night('2026-03-02')).inspected.filter((url) => first.includes(url)).length).toBeLessThanOrEqual(1);
  expect((await night('2026-03-03', [modified])).inspected).toContain(modified);
  expect(await rows("select url from url_reports where reason = 'modified'")).toEqual([{ url: modified }]);
  const said = `select source, count(*)::int as nights from listing_sources
    where kind = 'sitemap' and remark is not null group by source`;
  expect(await rows(said)).toEqual([{ source: `${SHOP}/sitemap.xml`, nights: 3 }]);
});
