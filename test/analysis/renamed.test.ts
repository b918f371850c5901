import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { analyses } from '../../src/analysis/catalog.js';
import type { Reader } from '../../src/analysis/reader.js';
import { listTableFiles } from '../../src/warehouse/layout.js';
import { atLength, testAtLength } from '../given/at-length.js';
import { rewrite } from '../given/tamper.js';
import { type BuiltWarehouse, buildWarehouse } from '../given/warehouse.js';
import { storiesWarehouse, urlOf } from './answers-given.js';
import { analysisRows, openReader } from './given.js';

let warehouse: BuiltWarehouse;
let reader: Reader;

/** The website `shop` is called otherwise on the first nights. */
async function openRenamed({ path }: BuiltWarehouse): Promise<Reader> {
  for (const file of await listTableFiles(path, 'snapshots')) {
    if (!/website=shop\/date=2025-03-0/.test(file)) continue;
    await rewrite(file, "select * replace ('https://old.example' as website_name) from self");
  }
  return openReader(path);
}

beforeAll(async () => {
  warehouse = await storiesWarehouse();
  reader = await openRenamed(warehouse);
});

afterAll(() => {
  reader.close();
  warehouse.remove();
});

/**
 * What has no answer here: no page of these stories joins a sitemap, and five nights have no trend to break
 * and too few falls to tell a cause. */
const EMPTY = ['sitemap_effect', 'deindexed_in_common', 'events'];
const all = analyses().filter(
  ({ name, parameters }) => parameters.some((parameter) => parameter.name === 'website') && !EMPTY.includes(name),
);
/** They have their macro in common. */
const taking = atLength(all.slice(0, 4), all);

test.each(taking)('$name takes a website by its id, its name and each that it had', async ({ name, parameters }) => {
  const given = parameters.some(({ name: parameter }) => parameter === 'url') ? { url: urlOf('flap') } : {};
  const byId = await analysisRows(reader, name, { ...given, website: 'shop' });
  expect(byId.length).toBeGreaterThan(0);
  for (const website of ['https://old.example', 'https://shop.example'])
    expect(await analysisRows(reader, name, { ...given, website })).toEqual(byId);
});

testAtLength('report_ages counts from the newest snapshot, whatever name it has', async () => {
  const shop = { shop: [{ url: urlOf('a'), report: {} }] };
  const sections = { reports: { refresh_after: '100d' } };
  const nights = ['2025-03-01', '2025-03-10'].map((date) => ({ at: `${date}T02:00:00Z`, lists: shop, sections }));
  const aged = await buildWarehouse(nights);
  onTestFinished(() => aged.remove());
  const other = await openRenamed(aged);
  onTestFinished(() => other.close());
  for (const website of ['https://old.example', 'https://shop.example'])
    expect(await analysisRows(other, 'report_ages', { website })).toMatchObject([
      { report_age: '8-14 days', pages: 1 },
    ]);
});
