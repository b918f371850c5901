import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { askAnalysis, questionOf } from '../../../src/answers/query/ask-rows.js';
import { analyses, findAnalysis } from '../../../src/answers/query/catalog.js';
import { whyNoRows } from '../../../src/answers/query/period-note.js';
import type { Reader } from '../../../src/answers/query/reader.js';
import { packageFolder } from '../../../src/base/storage/sql.js';
import type { Value } from '../../../src/base/storage/values.js';
import { DamageError } from '../../../src/warehouse/log/folder/damage.js';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import { updateIndex } from '../../../src/warehouse/log/update-index.js';
import { temporaryFolder } from '../../given/folder.js';
import { rewrite } from '../../given/tamper.js';
import type { BuiltWarehouse } from '../../given/warehouse.js';
import { CRAWLED_STATE, INDEXED_STATE, storiesWarehouse, urlOf } from './answers-given.js';
import { analysisRows, openReader, rowsOf } from './given.js';

let warehouse: BuiltWarehouse;
let reader: Reader;

/** The website `shop` had another name on the first nights, and the markers of all but the last night are indexed. */
beforeAll(async () => {
  warehouse = await storiesWarehouse();
  for (const file of await listTableFiles(warehouse.path, 'snapshots'))
    if (/website=shop\/date=2025-03-0/.test(file))
      await rewrite(file, "select * replace ('https://old.example' as website_name) from self");
  const options = { memoryLimit: 256e6, temporary: temporaryFolder() };
  await updateIndex(warehouse.path, options, Date.parse('2025-06-01T00:00:00Z'), 1);
  reader = await openReader(warehouse.path);
});

/** The questions and answers of `answers.txt`, by the heading that they stand under. */
const ANSWERS = readFileSync(join(packageFolder(), 'test/answers/query/answers.txt'), 'utf8')
  .split(/^== /m)
  .slice(1)
  .flatMap((group) => {
    const [question = '', ...lines] = group.replaceAll(/^#.*\n/gm, '').split(/^(?=[?~])/m);
    return lines.map((text) => answerOf(question.trim(), text.trimEnd().split('\n')));
  });

function answerOf(question: string, [line = '', ...rows]: string[]) {
  const [, kind, name = '', parameters = '', columns = ''] = /^([?~]) (\w+)(.*?): (.*)$/.exec(line) ?? [];
  const given = Object.fromEntries(new URLSearchParams(parameters.trim().replaceAll(' ', '&')));
  const url = given['url'];
  return {
    ...{ question, line, name, columns: columns.split(' '), isWhole: kind === '?' },
    given: { website: 'shop', ...given, ...(url === undefined ? {} : { url: urlOf(url) }) },
    rows: rows.map((row) => row.trim().split(/ +\| +/)),
  };
}

function textOf(value: Value): string {
  if (value === null) return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return String(value)
    .replace(new RegExp(`^${urlOf('')}`), '')
    .replace('T02:00:00.000Z', 'T02');
}

/** The rows of an analysis that reads only the files of its website and period, as every command asks it. */
async function askedRows(name: string, given: Record<string, string>): Promise<Record<string, Value>[]> {
  const { columns, rows } = await askAnalysis(reader, name, given);
  expect(columns).toEqual(expect.arrayContaining(findAnalysis(name).shown.map(({ column }) => column)));
  return rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at] ?? null])));
}

describe('answers', () => {
  test.each(ANSWERS)('$question $line', async ({ name, given, columns, isWhole, rows }) => {
    const answered = await askedRows(name, given);
    const texts = answered.map((row) => columns.map((column) => textOf(row[column] ?? null)));
    expect(texts).toEqual(isWhole ? rows : expect.arrayContaining(rows));
  });

  test('are there for every analysis under its question', () => {
    const named = new Map(ANSWERS.map(({ name, question }) => [name, question]));
    // `events` needs more nights, and has a test of its own.
    for (const { name, question } of analyses())
      if (name !== 'events') expect([name, named.get(name)]).toEqual([name, question]);
  });
});

describe('a question', () => {
  const LISTS = analyses().filter(
    ({ grain, parameters }) => grain.startsWith('one row per page') && parameters.some(({ name }) => name === 'limit'),
  );

  test('takes a website by its id and every name that it had, and refuses one that is not there', async () => {
    const byId = await askedRows('coverage_by_state', { website: 'shop' });
    for (const website of ['https://old.example', 'https://shop.example'])
      expect(await askedRows('coverage_by_state', { website })).toEqual(byId);
    await expect(askAnalysis(reader, 'compare', { website: 'typo.example' })).rejects.toThrow(
      /^no website "typo\.example" in the warehouse\. It has:\n[\s\S]*^ {2}kinds {2}https:\/\/kinds\.example$/m,
    );
  });

  test('takes no period that ends before it begins', async () => {
    await expect(askAnalysis(reader, 'deindexed_pages', { until: '2025-03-01' })).rejects.toThrow(
      'deindexed_pages: since (2025-03-05) lies after until (2025-03-01).\nIts parameters are:\n',
    );
  });

  test('about a page that is not there is refused, with those near it', async () => {
    const page = (given: Record<string, string>) => askAnalysis(reader, 'page', given);
    await expect(page({ url: '/blog/1' })).rejects.toThrow(
      `page: no page /blog/1 in the warehouse. Give its whole URL, as in the listing. Near it:\n  ${urlOf('blog/1')}\n`,
    );
    await expect(page({ url: urlOf('Blog/4/') })).rejects.toThrow(`Near it:\n  ${urlOf('blog/4')}\n`);
    await expect(page({ url: "'; drop", website: 'shop' })).rejects.toThrow(/as in the listing$/);
  });

  // Only properties have what the left out ones compare.
  test.each(LISTS.filter(({ name }) => !['rich_result_changes', 'referring_url_changes'].includes(name)))(
    '$name keeps the pages that its filters ask for',
    async ({ name, parameters }) => {
      const pages = await rowsOf(reader, 'select url, index_coverage_state from page_state');
      const states = new Map(pages.map((row) => [row['url'], row['index_coverage_state']]));
      const all = Object.entries({ since: '2025-03-01', times: '1', days: '1', reindexed: 'true' });
      const own = Object.fromEntries(all.filter(([key]) => parameters.some((one) => one.name === key)));
      const whole = await analysisRows(reader, name, own);
      expect(whole.length).toBeGreaterThan(0);
      for (const [directory, part, state] of [
        ['/blog/', 'blog', CRAWLED_STATE],
        ['docs', 'flip', INDEXED_STATE],
      ] as const) {
        const given = { ...own, directory, url_contains: part.toUpperCase(), state: state.toUpperCase() };
        const kept = whole.filter(({ url = null }) => String(url).includes(part) && states.get(url) === state);
        expect(await analysisRows(reader, name, given)).toEqual(kept);
      }
    },
  );

  test('without rows says which filter no page meets, and what there is', async () => {
    const why = async (given: Record<string, string>) => {
      const all = new Map(Object.entries({ fetch: 'none', ...given }));
      return whyNoRows(reader, await questionOf(reader, findAnalysis('pages'), all));
    };
    expect(await why({ directory: '/blgo/' })).toEqual(['No page is below /blgo/. Did you mean /blog/?']);
    const all = expect.stringMatching(/\. There are: \/, \/docs\/, \/blog\/, \/new\/$/);
    expect(await why({ directory: '/products/', website: 'shop' })).toEqual([all]);
    expect(await why({ state: 'Soft 403' })).toEqual(['No page is in the state Soft 403. Did you mean Soft 404?']);
  });
});

test.each([
  ["template_of('https://a.example/')", '/'],
  ["template_of('https://a.example/blog/2025/red-shoes-12.html?page=2')", '/blog/{n}/{slug}.html?page'],
  ["template_of('https://a.example/x/3f2504e0-4f89-11d3-9a0c-0305e82c3301/y#top')", '/x/{id}/{slug}'],
  ['sparkline([0, 0])', '▁▁'],
  ['sparkline([1200, 1200, 1012])', '▇▇▁'],
  // `/` means the pages at the root; any other directory holds all that is below it.
  ["is_selected('https://a.example/blog/2025/a', null, '/blog/', null, null)", true],
  ["is_selected('https://a.example/blog/2025', null, '/blog/2025/', null, null)", false],
  ["is_selected('https://a.example/blog-2/a', null, '/blog', null, null)", false],
  ["is_selected('https://a.example/?to=/blog/', null, '/blog/', null, null)", false],
  ["is_selected('https://a.example', null, '/', null, null)", true],
  ["fall_explained('A', null, now(), null, null, null, null, 'u', null, null)", 'A → (none); no report yet'],
  [
    "fall_explained('A', 'B', now(), now() - interval 1 day, null, null, false, 'u', 'v', 'u')",
    'A → B; fetch: (none); indexing not allowed; report older than the fall; canonical: v',
  ],
  ["fall_explained('A', 'B', now(), now(), 'S', null, true, 'u', null, 'v')", 'A → B; fetch: S; declared canonical: v'],
])('%s is %j', async (expression, value) => {
  expect(await rowsOf(reader, `select ${expression} as value`)).toEqual([{ value }]);
});

test('a question about one website reads no file of another', async () => {
  for (const table of ['coverage', 'coverage_summary', 'page_versions'] as const)
    for (const file of await listTableFiles(warehouse.path, table, { websiteId: 'shop' }))
      writeFileSync(file, 'damaged');
  const other = await openReader(warehouse.path);
  expect((await askAnalysis(other, 'indexing_trend', { website: 'wiki' })).rows).toHaveLength(2);
  await expect(askAnalysis(other, 'indexing_trend')).rejects.toThrow(DamageError);
});
