import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { withEngine } from '../../src/base/storage/engine.js';
import { sql } from '../../src/base/storage/sql.js';
import { keyOf } from '../../src/base/url.js';
import { run } from '../given/cli.js';
import { temporaryFolder } from '../given/folder.js';
import { indexed, linkOf, scriptedProperty } from './scripted-property.js';

const SHOP = 'https://shop.example';

test('a page has one identity and one inspection a night, however its address is written', async () => {
  const { pass, rows, wrong, warehouse } = await scriptedProperty(onTestFinished);
  const sitemap = ['/caf%c3%a9/', '/%7Euser', '/a/../b#top', '/only%2dhere', '/plain'].map((path) => SHOP + path);
  const said = {
    sitemap: [...sitemap, 'HTTPS://Shop.Example:443/caf%C3%A9/', `${SHOP}/café/`],
    traffic: [
      [`${SHOP}/caf%C3%A9/`, 1, 30, 4],
      [`${SHOP}/caf%C3%A9/#menu`, 3, 10, 8],
      [`${SHOP}/%7euser`, 5, 7, 2],
    ] satisfies [string, number, number, number][],
    inspect: (url: string) =>
      indexed(url, {
        googleCanonical: url.replace(/%[\da-f]{2}/gi, (hex) => hex.toUpperCase()),
        userCanonical: url.replace('%C3%A9', '%c3%a9').replace('shop', 'SHOP'),
      }),
  };
  const asked = ['/%7euser', '/b', '/caf%C3%A9/', '/only%2dhere', '/plain'].map((path) => SHOP + path);
  expect(await pass(said)).toMatchObject({ inspected: asked, reports: { fetched: 5 } });
  expect(await pass(said)).toMatchObject({ inspected: asked, pages: { listed: 5 } });
  // Search analytics names only one any more.
  const { inspected } = await pass({ ...said, traffic: [[`${SHOP}/plain`, 1, 1, 1]] });
  expect(inspected).toContain(`${SHOP}/%7euser`);
  const keys = ['/b', '/caf%C3%A9/', '/only-here', '/plain', '/~user'].map((path) => SHOP + path);
  const columns = 'url, canonicals_match, searchengine_selected_canonical as canonical, spelling';
  expect(await rows(`select ${columns} from pages order by url`)).toEqual(
    keys.map((url) => {
      const spelling = { [`${SHOP}/~user`]: `${SHOP}/%7euser`, [`${SHOP}/only-here`]: `${SHOP}/only%2dhere` }[url];
      return {
        url,
        canonicals_match: true,
        canonical: url,
        spelling: spelling ?? null,
      };
    }),
  );
  const { stdout } = await run(['query', 'page', `url=${SHOP}/caf%c3%a9/#x`, '--warehouse', warehouse]);
  expect(stdout).toContain('Canonical: the page itself, as the page declares.');
  // One that is asked about, and one that nothing names any more, are inspected as ever.
  expect((await pass(said, [`${SHOP}/~user`])).inspected).toEqual([`${SHOP}/%7euser`]);
  const unnamed = { ...said, sitemap: sitemap.slice(0, 3) };
  expect((await pass(unnamed)).inspected).toContain(`${SHOP}/only%2dhere`);
  const kinds = await rows("select distinct change from page_changes where change <> 'first_data'");
  expect([kinds, await rows('from drift_observations'), await wrong()]).toEqual([[], [], []]);
});

test('rows of search analytics are summed for a page, their positions weighted by impressions', async () => {
  const { pass, rows } = await scriptedProperty(onTestFinished);
  const traffic: [string, number, number, number][] = [
    [`${SHOP}/guide/`, 40, 400, 2],
    [`${SHOP}/guide/#sizes`, 25, 100, 7],
    // The same row at the beginning of the next answer.
    [`${SHOP}/guide/`, 40, 400, 2],
  ];
  await pass({ sitemap: [`${SHOP}/guide/`], traffic });
  expect(await rows('select clicks, impressions, "position" from search_final')).toEqual([
    { clicks: 65, impressions: 500, position: 3 },
  ]);
});

test('coverage keeps the link of the last inspection', async () => {
  const { pass, rows } = await scriptedProperty(onTestFinished, { inspections_per_day: 1 });
  const sitemap = [`${SHOP}/1`, `${SHOP}/2`];
  const [first = ''] = (await pass({ sitemap })).inspected;
  const [second = ''] = (await pass({ sitemap })).inspected;
  const links = await rows(
    'select distinct inspection_link from coverage where inspection_link is not null order by 1',
  );
  expect(links.map(({ inspection_link: link }) => link)).toEqual([linkOf(first, 0), linkOf(second, 1)].toSorted());
  expect(await rows(`from coverage where inspection_link = '${linkOf(first, 0)}'`)).toHaveLength(2);
});

test.each([
  'HTTPS://SHOP.example:443/%7e%41%2e/caf%c3%a9?a=%2f%20#x',
  'https://shop.example',
  'https://shop.example/100%/%%34%31',
  'https://shop.example/שלום?q=ä',
])('SQL and the source agree on the identity of %s', async (url) => {
  const key = keyOf(url);
  await withEngine({ memoryLimit: 256e6, temporary: temporaryFolder() }, async (engine) => {
    await engine.run(sql('warehouse/macros/026_url_key'));
    const row = z.object({ key: z.string(), again: z.string() });
    const keys = await engine.rows(row, 'select url_key($url) as key, url_key($key) as again', { url, key });
    expect(keys).toEqual([{ key, again: key }]);
  });
});
