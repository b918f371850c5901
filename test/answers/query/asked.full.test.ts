import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { askAnalysis } from '../../../src/answers/query/ask-rows.js';
import { type Analysis, analyses } from '../../../src/answers/query/catalog.js';
import type { Reader } from '../../../src/answers/query/reader.js';
import { UsageError } from '../../../src/base/exit.js';
import { listTableFiles, tableFile } from '../../../src/warehouse/log/folder/layout.js';
import { prepareWarehouse } from '../../../src/warehouse/log/folder/prepare.js';
import { run } from '../../given/cli.js';
import { temporaryFolder } from '../../given/folder.js';
import { rewrite } from '../../given/tamper.js';
import type { BuiltWarehouse } from '../../given/warehouse.js';
import { CRAWLED_STATE, INDEXED_STATE, storiesWarehouse, urlOf } from './answers-given.js';
import { analysisRows, openReader, rowsOf } from './given.js';

let warehouse: BuiltWarehouse;
let reader: Reader;
let empty: Reader;

/** The website `shop` was called otherwise on the first nights, and a run of `failed` came to nothing. */
beforeAll(async () => {
  warehouse = await storiesWarehouse();
  for (const file of await listTableFiles(warehouse.path, 'snapshots')) {
    if (!/website=shop\/date=2025-03-0/.test(file)) continue;
    await rewrite(file, "select * replace ('https://old.example' as website_name) from self");
  }
  const [ran = ''] = await listTableFiles(warehouse.path, 'runs');
  const folder = dirname(tableFile(warehouse.path, 'runs', { websiteId: 'failed', date: '2025-03-11', id: '' }));
  mkdirSync(folder, { recursive: true });
  copyFileSync(ran, join(folder, 'failed.parquet'));
  const failed = "select * replace ('failed' as website_id, null as snapshot_id, 'failed' as outcome) from self";
  await rewrite(join(folder, 'failed.parquet'), failed);
  reader = await openReader(warehouse.path);
  const path = join(temporaryFolder(), 'warehouse');
  await prepareWarehouse(path, 'UTC');
  empty = await openReader(path);
});

const ALL = analyses();
const taking = (name: string) => ALL.filter(({ parameters }) => parameters.some((one) => one.name === name));

/** These parameters, and the page that some analyses must be given. */
function givenTo({ parameters }: Analysis, more: Record<string, string>): Record<string, string> {
  return parameters.some(({ name }) => name === 'url') ? { url: urlOf('flap'), ...more } : more;
}

const numberOf = async (from: Reader, name: string, given: Record<string, string>) =>
  (await askAnalysis(from, name, given)).rows.length;

describe('the website that an analysis is asked about', () => {
  test('must be one of the warehouse, whose websites the error lists', async () => {
    const known = ['forum', 'kinds', 'wiki'].map((id) => `  ${id}  https://${id}.example`).join('\n');
    for (const analysis of taking('website')) {
      const given = givenTo(analysis, { website: 'typo.example' });
      const refused = askAnalysis(reader, analysis.name, given);
      await expect(refused).rejects.toThrow('no website "typo.example" in the warehouse. It has:\n');
      await expect(refused).rejects.toBeInstanceOf(UsageError);
      expect(await numberOf(empty, analysis.name, given)).toBe(0);
    }
    await expect(askAnalysis(reader, 'compare', { website: 'typo.example' })).rejects.toThrow(known.split('\n')[0]);
  });

  test.each(taking('website').map(({ name }) => name))('%s takes its id and every name that it had', async (name) => {
    const given = givenTo(ALL.find((one) => one.name === name) ?? expect.fail(), {});
    const byId = await analysisRows(reader, name, { ...given, website: 'shop' });
    for (const website of ['https://old.example', 'https://shop.example'])
      expect(await analysisRows(reader, name, { ...given, website })).toEqual(byId);
  });

  test('may have nothing but runs that failed', async () => {
    expect(await numberOf(reader, 'indexing_trend', { website: 'failed' })).toBe(0);
  });
});

test('a period must not end before it begins, unless there is no snapshot to count its beginning from', async () => {
  for (const { name } of taking('until')) {
    const given = { since: '2025-03-20', until: '2025-03-01' };
    const refused = `${name}: since (2025-03-20) lies after until (2025-03-01).\nIts parameters are:\n`;
    for (const from of [reader, empty]) await expect(askAnalysis(from, name, given)).rejects.toThrow(refused);
  }
  const given = { until: '2025-03-01' };
  const refused = 'deindexed_pages: since (2025-03-05) lies after until (2025-03-01).';
  await expect(askAnalysis(reader, 'deindexed_pages', given)).rejects.toThrow(refused);
  expect(await numberOf(empty, 'deindexed_pages', given)).toBe(0);
});

test('a limit can be lifted everywhere', async () => {
  for (const analysis of taking('limit')) {
    await expect(askAnalysis(reader, analysis.name, givenTo(analysis, { limit: 'none' }))).resolves.toBeDefined();
    await expect(askAnalysis(reader, analysis.name, givenTo(analysis, { limit: '-1' }))).rejects.toThrow(
      `${analysis.name}: limit is not a whole number from 0, or none (given: -1)`,
    );
  }
});

describe('a list of pages', () => {
  const LISTS = taking('url_contains');
  const WHOLE = { since: '2025-03-01', times: '1', days: '1', reindexed: 'true' };
  type Kept = (url: string, state: string) => boolean;
  const FILTERS: [Record<string, string>, Kept][] = [
    [{ directory: '/blog/' }, (url) => url.includes('.example/blog/')],
    [{ directory: '/' }, (url) => new URL(url).pathname.lastIndexOf('/') === 0],
    [{ url_contains: 'LO' }, (url) => url.includes('lo')],
    [{ state: CRAWLED_STATE.toUpperCase() }, (_, state) => state === CRAWLED_STATE],
    [{ url_contains: 'unknown', state: '(none)' }, (url) => url === urlOf('unknown')],
    [
      { directory: 'docs', url_contains: 'flip', state: INDEXED_STATE },
      (url, state) => url === urlOf('docs/flip') && state === INDEXED_STATE,
    ],
  ];

  // Only properties have what these compare.
  const OF_SERVICE = LISTS.filter(({ name }) => !['rich_result_changes', 'referring_url_changes'].includes(name));
  test.each(OF_SERVICE)('$name keeps the rows that its filters ask for', async ({ name, parameters }) => {
    const pages = await rowsOf(reader, 'select url, index_coverage_state from page_state');
    const states = new Map(pages.map((row) => [row['url'], String(row['index_coverage_state'] ?? '(none)')]));
    const own = Object.entries(WHOLE).filter(([key]) => parameters.some((one) => one.name === key));
    const whole = await analysisRows(reader, name, Object.fromEntries(own));
    expect(whole.length).toBeGreaterThan(0);
    for (const [given, isKept] of FILTERS) {
      const kept = whole.filter(({ url }) => isKept(String(url), states.get(url ?? null) ?? ''));
      const rows = await analysisRows(reader, name, { ...Object.fromEntries(own), ...given });
      expect(rows, JSON.stringify(given)).toEqual(kept);
    }
  });

  test('has filters, whichever it is', () => {
    const lists = taking('limit').filter(({ grain }) => grain.startsWith('one row per page'));
    expect(LISTS.map(({ name }) => name)).toEqual(lists.map(({ name }) => name));
  });

  test('that is empty says which filter no page meets, and what there is', async () => {
    const ask = async (...given: string[]) => {
      const args = ['query', 'pages', 'fetch=none', ...given, '--warehouse', warehouse.path];
      const { code, stdout } = await run(args);
      expect(code).toBe(0);
      return stdout.slice(stdout.indexOf('No rows'));
    };
    expect(await ask('directory=/blgo/')).toMatch(/No page is below \/blgo\/\. Did you mean \/blog\/\?\n/);
    expect(await ask('directory=/products/', 'website=shop')).toMatch(
      /\. There are: \/, \/docs\/, \/blog\/, \/new\/\n/,
    );
    expect(await ask('state=Soft 403')).toMatch(/No page is in the state Soft 403\. Did you mean Soft 404\?\n$/);
    expect(await ask('directory=/docs/', 'url_contains=x')).toMatch(/^No rows\.\n$/);
  });
});

test('a page that is not there is refused, with those near it', async () => {
  const asked = (url: string, website?: string) =>
    askAnalysis(reader, 'page', { url, ...(website ? { website } : {}) });
  await expect(asked('/blog/1')).rejects.toThrow(
    `page: no page /blog/1 in the warehouse. Give its whole URL, as in the listing. Near it:\n` +
      `  ${urlOf('blog/1')}\n`,
  );
  await expect(asked(urlOf('Blog/4/'))).rejects.toThrow(`Near it:\n  ${urlOf('blog/4')}\n`);
  await expect(asked('https://wiki.example/', 'shop')).rejects.toThrow(/as in the listing$/);
  await expect(asked("'; drop", 'shop')).rejects.toBeInstanceOf(UsageError);
});
