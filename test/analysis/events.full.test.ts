import { expect, test } from 'vitest';
import { run } from '../given/cli.js';
import { temporaryFolder } from '../given/folder.js';

test('the incident of the demo is one event, and its sitemap with an effect', async () => {
  const folder = `${temporaryFolder()}/demo`;
  expect(await run(['demo', '--folder', folder, '--pages', '600'])).toMatchObject({ code: 0 });
  const asked = await run(['query', 'events', '--warehouse', `${folder}/warehouse`, '--format', 'json']);
  expect(JSON.parse(asked.stdout)).toEqual([
    expect.objectContaining({
      what: 'website',
      direction: 'left',
      directory: '/blog/',
      state: 'Crawled - currently not indexed',
    }),
  ]);
  const effect = await run(['query', 'sitemap_effect', '--warehouse', `${folder}/warehouse`, '--format', 'json']);
  expect(JSON.parse(effect.stdout)).toContainEqual(
    expect.objectContaining({ sitemap: 'https://www.example.com/sitemap-docs.xml' }),
  );
});
