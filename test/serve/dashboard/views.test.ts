import { expect, test } from 'vitest';
import { run } from '../../given/cli.js';
import { writeConfig } from '../../given/config-file.js';
import { temporaryFolder } from '../../given/folder.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';
import { NIGHTS, SHOP_TOKEN, startDashboard } from './given.js';
import { linksOf, rowsOf, shownText } from './visitor.js';

const VIEWS = [
  { name: 'Out <b>', pages: { directory: '/p/', indexed: 'no' } as const },
  { name: 'Fell', website: 'shop', pages: { changed: 'fell_out', from: '2025-03-02' } as const },
  { name: 'Elsewhere', website: 'other', pages: { q: 'a' } },
];

const shop = sharedWarehouse(() => buildWarehouse(NIGHTS));

test('a view has one count: on the overview, where its link leads, and in the answer of `pages`', async () => {
  const dashboard = await startDashboard(shop.path, { views: VIEWS });
  const visitor = await dashboard.visitor(SHOP_TOKEN);

  const overview = await visitor.get('/dashboard/websites/shop?days=1');
  const views = rowsOf(overview, 'views');
  // Which pages fall out, no listing before can say.
  expect(views.map(([name]) => name)).toEqual(['Out <b>', 'Fell']);
  expect([views[0]?.[2], views[1]?.[2]]).toEqual(['±0', '–']);
  const older = rowsOf(await visitor.get('/dashboard/websites/shop?days=7'), 'views');
  // Pages 1 to 9 fell out in the second night, 4 and 8 of which were out before.
  expect(older[0]?.[2]).toBe('+7');

  const sections = { warehouse: { path: shop.path }, views: VIEWS };
  const config = writeConfig(temporaryFolder(), { baseUrl: 'http://127.0.0.1:9', sections });
  const links = linksOf(overview).filter((link) => /pages\?(directory=|changed=fell_out&from=2025-03-02$)/.test(link));
  for (const [at, [name = '', pages]] of views.entries()) {
    const list = shownText((await visitor.get(links[at] ?? '')).text);
    expect(list).toMatch(new RegExp(`\\b${pages} pages\\b`));
    const asked = await run(['query', 'pages', `view=${name}`, 'website=shop', '--json', '--config', config]);
    expect(JSON.parse(asked.stdout)).toHaveLength(Number(pages));
  }
  const { code, stderr } = await run(['query', 'pages', 'view=Nowhere', '--config', config]);
  expect([code, stderr]).toEqual([2, expect.stringContaining('has no view "Nowhere"; its views: "Out <b>", "Fell"')]);
});
