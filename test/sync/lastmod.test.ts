import { expect, onTestFinished, test } from 'vitest';
import { SITEMAP, scriptedProperty } from './scripted-property.js';

const urls = (directory: string) => Array.from({ length: 20 }, (_, at) => `https://shop.example/${directory}/${at}`);

test('a lastmod that moves every night is no reason for an inspection, beside one that means something', async () => {
  const { pass, rows } = await scriptedProperty(onTestFinished, { inspections_per_day: 8 });
  const night = (day: string, modified: readonly string[] = []) => {
    // All pages of the first sitemap but one, and in the second those that were modified.
    const moving = urls('a').map((url, at) => `${url} ${at === 7 ? '2026-02-01' : `${day}T09:59:00Z`}`);
    const still = urls('b').map((url) => `${url} ${modified.includes(url) ? day : '2026-02-01'}`);
    return pass({ sitemap: moving, sitemaps: { 'https://shop.example/b.xml': still } });
  };
  const { inspected: first } = await night('2026-03-01');
  const [modified = ''] = first.filter((url) => url.includes('/b/'));
  // One is inspected again as a random check.
  expect((await night('2026-03-02')).inspected.filter((url) => first.includes(url)).length).toBeLessThanOrEqual(1);
  expect((await night('2026-03-03', [modified])).inspected).toContain(modified);
  expect(await rows("select url from url_reports where reason = 'modified'")).toEqual([{ url: modified }]);
  expect(await rows('select count(distinct url)::integer as pages from url_reports')).toEqual([{ pages: 21 }]);
  const said =
    "select source, count(*)::integer as nights from listing_sources where kind = 'sitemap' and remark is not null group by source";
  expect(await rows(said)).toEqual([{ source: SITEMAP, nights: 3 }]);
});
