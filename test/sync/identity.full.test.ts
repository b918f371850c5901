import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { withEngine } from '../../src/base/storage/engine.js';
import { sql } from '../../src/base/storage/sql.js';
import { keyOf } from '../../src/base/url.js';
import { temporaryFolder } from '../given/folder.js';
import { indexed, SHOP, scriptedProperty } from './scripted-property.js';

test('a page has one identity and one inspection a night, however its address is written', async () => {
  const { pass, rows } = await scriptedProperty(onTestFinished);
  const sitemap = ['/caf%c3%a9/', '/%7Euser', '/a/../b#top', '/only%2dhere', '/plain'].map((path) => SHOP + path);
  const guide = [`${SHOP}/guide/`, 40, 400, 2] as const;
  const said = {
    sitemap: [...sitemap, 'HTTPS://Shop.Example:443/caf%C3%A9/', `${SHOP}/café/`],
    traffic: [
      [`${SHOP}/caf%C3%A9/`, 1, 30, 4],
      [`${SHOP}/caf%C3%A9/#menu`, 3, 10, 8],
      [`${SHOP}/%7euser`, 5, 7, 2],
      // The same row may come again at the beginning of the next answer.
      ...[guide, [`${SHOP}/guide/#sizes`, 25, 100, 7] as const, guide],
    ] as const,
    inspect: (url: string) =>
      indexed(url, {
        googleCanonical: url.replace(/%[\da-f]{2}/gi, (hex) => hex.toUpperCase()),
        userCanonical: url.replace('%C3%A9', '%c3%a9').replace('shop', 'SHOP'),
      }),
  };
  const asked = ['/%7euser', '/b', '/caf%C3%A9/', '/guide/', '/only%2dhere', '/plain'].map((path) => SHOP + path);
  expect(await pass(said)).toMatchObject({ inspected: asked, reports: { fetched: 6 } });
  expect(
    await rows(`select clicks::int as clicks, impressions::int as impressions, "position" from search_final
    where url = '${SHOP}/guide/'`),
  ).toEqual([{ clicks: 65, impressions: 500, position: 3 }]);
  // What search analytics or the sitemap name no longer is inspected as it was spelt.
  const { inspected } = await pass({ ...said, sitemap: sitemap.slice(0, 3), traffic: [[`${SHOP}/plain`, 1, 1, 1]] });
  expect(inspected).toEqual(asked);
  const keys = ['/b', '/caf%C3%A9/', '/guide/', '/only-here', '/plain', '/~user'].map((path) => SHOP + path);
  const spellings: Record<string, string> = {
    [`${SHOP}/~user`]: `${SHOP}/%7euser`,
    [`${SHOP}/only-here`]: `${SHOP}/only%2dhere`,
  };
  const columns = 'url, canonicals_match, searchengine_selected_canonical as canonical, spelling';
  expect(await rows(`select ${columns} from pages order by url`)).toEqual(
    keys.map((url) => ({ url, canonicals_match: true, canonical: url, spelling: spellings[url] ?? null })),
  );
  const kinds = await rows("select distinct change from page_changes where change <> 'first_data'");
  expect([kinds, await rows('from drift_observations')]).toEqual([[], []]);
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
