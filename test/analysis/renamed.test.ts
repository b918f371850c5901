import { afterAll, beforeAll, expect, test } from 'vitest';
import { analyses } from '../../src/analysis/catalog.js';
import type { Reader } from '../../src/analysis/reader.js';
import { listTableFiles } from '../../src/warehouse/layout.js';
import { rewrite } from '../given/tamper.js';
import type { BuiltWarehouse } from '../given/warehouse.js';
import { storiesWarehouse, urlOf } from './answers-given.js';
import { analysisRows, openReader } from './given.js';

let warehouse: BuiltWarehouse;
let reader: Reader;

/** The website `shop` is called otherwise on the first three nights. */
beforeAll(async () => {
  warehouse = await storiesWarehouse();
  for (const file of await listTableFiles(warehouse.path, 'snapshots')) {
    if (!/website=shop\/date=2025-03-0/.test(file)) continue;
    await rewrite(file, "select * replace ('https://old.example' as website_name) from self");
  }
  reader = await openReader(warehouse.path);
});

afterAll(() => {
  reader.close();
  warehouse.remove();
});

const taking = analyses().filter(({ parameters }) => parameters.some(({ name }) => name === 'website'));

test.each(taking)('$name takes a website by its id, its name and each that it had', async ({ name, parameters }) => {
  const given = parameters.some(({ name: parameter }) => parameter === 'url') ? { url: urlOf('flap') } : {};
  const byId = await analysisRows(reader, name, { ...given, website: 'shop' });
  expect(byId.length).toBeGreaterThan(0);
  for (const website of ['https://old.example', 'https://shop.example'])
    expect(await analysisRows(reader, name, { ...given, website })).toEqual(byId);
});
