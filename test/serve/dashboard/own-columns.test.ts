import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { readStatus } from '../../../src/answers/status/status.js';
import { STATUS_DEFAULTS } from '../../../src/answers/status/status-input.js';
import { sqlTool } from '../../../src/serve/assistant/analysis-tools.js';
import { KeyClients, wholeClient } from '../../../src/serve/assistant/clients.js';
import { LiveReader } from '../../../src/serve/store/live-reader.js';
import { once } from '../../given/at-length.js';
import { temporaryFolder } from '../../given/folder.js';
import { keyTo } from '../../given/service.js';
import { buildWarehouse, sharedWarehouse } from '../../given/warehouse.js';
import { MARKUP, NIGHTS, NOW, SHOP_TOKEN, startDashboard } from './given.js';
import { linksOf, rowsOf, shownText, type Visitor } from './visitor.js';

const PAGES = '/dashboard/websites/shop/pages';
const shop = sharedWarehouse(() => buildWarehouse(NIGHTS));

/** A visitor of `shop`, whose pages a file with this text is about. */
async function visitorWith(text: string): Promise<Visitor> {
  const file = join(temporaryFolder(), 'owners.csv');
  writeFileSync(file, text);
  const reader = new LiveReader({ warehouse: shop.path, memoryLimit: 256e6, pagesFrom: file });
  const dashboard = await startDashboard(shop.path, { reader });
  onTestFinished(() => reader.close());
  return dashboard.visitor(SHOP_TOKEN);
}

once('columns of one’s own are in the table of pages and its downloads, and narrow it down', async () => {
  const visitor = await visitorWith(`pattern,owner,tier\n/p/00*,"${MARKUP.replaceAll('"', '""')}",a&b\n/p/*,Ben,\n`);
  const all = await visitor.get(`${PAGES}?per=200`);
  expect(rowsOf(all, 'pages')[0]?.slice(-2)).toEqual(['–', '–']);
  const shown = (rows: string[][]) => new Map(rows.map(([url = '', ...cells]) => [url, cells.slice(-2)]));
  expect(shown(rowsOf(all, 'pages')).get('https://shop.example/p/000')).toEqual([MARKUP, 'a&b']);
  expect(shown(rowsOf(all, 'pages')).get('https://shop.example/p/010')).toEqual(['Ben', '–']);
  expect(all.text).not.toContain('<script');
  expect(shownText(all.text)).toMatch(/owner\s*Ben 109\s*"'>.*10\s*none 4\s*tier\s*none 113\s*a&b 10/);
  const link = linksOf(all).find((one) => one.includes('own=tier')) ?? '';
  const narrowed = await visitor.get(link);
  expect(rowsOf(narrowed, 'pages')).toHaveLength(113);
  const both = linksOf(narrowed).find((one) => one.includes(encodeURIComponent('owner=Ben'))) ?? '';
  expect(rowsOf(await visitor.get(both), 'pages')).toHaveLength(109);
  const csv = await visitor.get(both.replace('/pages?', '/pages.csv?'));
  const [head = '', ...lines] = csv.text.trimEnd().split('\r\n');
  expect([head, lines.length]).toEqual([expect.stringMatching(/,owner,tier$/), 109]);
  expect(lines[0]).toMatch(/,Ben,$/);
});

once('a file of no use is named above the table of pages, which stays as it is', async () => {
  const visitor = await visitorWith('Address,owner\na,b\n');
  const answer = await visitor.get(`${PAGES}?own=owner%3DBen`);
  expect(shownText(answer.text)).toContain(
    'own: there is no column "owner"; pages_from: owners.csv has no column url or pattern; there are Address, owner.',
  );
  expect([answer.status, rowsOf(answer, 'pages')]).toEqual([200, []]);
  expect(rowsOf(await visitor.get(PAGES), 'pages')).toHaveLength(50);
});

once('assistants see no columns of one’s own, with a key or without', async () => {
  const file = join(temporaryFolder(), 'owners.csv');
  writeFileSync(file, 'pattern,owner\n*,Ben\n');
  const status = async () => readStatus({ ...STATUS_DEFAULTS, warehouse: shop.path, now: NOW });
  const given = { warehouse: shop.path, memoryLimit: 256e6, pagesFrom: file, version: 'test', status };
  const { signal } = new AbortController();
  const keys = new KeyClients({ ...given, statusInput: { ...STATUS_DEFAULTS, warehouse: shop.path, now: NOW } });
  const whole = wholeClient(given);
  for (const client of [whole, keys.clientOf(keyTo(['shop']), signal)]) {
    expect(await client.ask(signal, 'slow', async (reader) => reader.own.columns)).toEqual([]);
    await expect(sqlTool.run(client, { sql: 'select owner from pages' }, signal)).rejects.toThrow('"owner" not');
  }
  whole.close();
  keys.close();
});
