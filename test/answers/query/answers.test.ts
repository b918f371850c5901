import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { askAnalysis } from '../../../src/answers/query/ask-rows.js';
import { analyses } from '../../../src/answers/query/catalog.js';
import type { Reader } from '../../../src/answers/query/reader.js';
import { packageFolder } from '../../../src/base/storage/sql.js';
import type { Value } from '../../../src/base/storage/values.js';
import type { BuiltWarehouse } from '../../given/warehouse.js';
import { storiesWarehouse, urlOf } from './answers-given.js';
import { analysisRows, openReader, rowsOf } from './given.js';

let warehouse: BuiltWarehouse;
let reader: Reader;

beforeAll(async () => {
  warehouse = await storiesWarehouse();
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
    question,
    line,
    name,
    given: { website: 'shop', ...given, ...(url === undefined ? {} : { url: urlOf(url) }) },
    columns: columns.split(' '),
    isWhole: kind === '?',
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

describe('answers', () => {
  test.each(ANSWERS)('$question $line', async ({ name, given, columns, isWhole, rows }) => {
    const answered = await analysisRows(reader, name, given);
    const texts = answered.map((row) => columns.map((column) => textOf(row[column] ?? null)));
    expect(texts).toEqual(isWhole ? rows : expect.arrayContaining(rows));
  });

  test('are there for every analysis under its question, with the columns that its header shows', async () => {
    const named = new Map(ANSWERS.map(({ name, question }) => [name, question]));
    for (const { name, question, parameters, shown } of analyses()) {
      // `events` needs more nights, and has a test of its own.
      if (name !== 'events') expect([name, named.get(name)]).toEqual([name, question]);
      const given = parameters.some((parameter) => parameter.name === 'url') ? { url: urlOf('flap') } : {};
      const { columns } = await askAnalysis(reader, name, given);
      expect([name, columns]).toEqual([name, expect.arrayContaining(shown.map(({ column }) => column))]);
    }
  });

  test('about all websites are those about each', async () => {
    for (const [name, ids] of [
      ['coverage_by_state', ['forum', 'kinds', 'shop', 'wiki']],
      ['deindexed_by_directory', ['kinds', 'shop', 'wiki']],
    ] as const) {
      const all = await analysisRows(reader, name);
      expect([...new Set(all.map(({ website_id }) => website_id))].sort()).toEqual(ids);
      for (const website of ids)
        expect(await analysisRows(reader, name, { website })).toEqual(
          all.filter((row) => row['website_id'] === website),
        );
    }
  });
});

test.each([
  ["template_of('https://a.example')", ''],
  ["template_of('https://a.example/')", '/'],
  ["template_of('https://a.example/blog/2025/red-shoes-12.html?page=2')", '/blog/{n}/{slug}.html?page'],
  ["template_of('https://a.example/x/3f2504e0-4f89-11d3-9a0c-0305e82c3301/y#top')", '/x/{id}/{slug}'],
  ["template_of('https://a.example/search?q=a&b=c&lang')", '/{slug}?q&b&lang'],
  ['sparkline([0, 0])', '▁▁'],
  ['sparkline([100, 101])', '▇▇'],
  ['sparkline([1200, 1200, 1012])', '▇▇▁'],
  ['sparkline([1, 2, 3, 4, 5])', '▁▂▃▅▇'],
  ['sparkline([]::integer[])', ''],
  // `/` means the pages at the root; any other directory holds all that is below it.
  ["is_selected('https://a.example/blog/2025/a', null, '/blog/', null, null)", true],
  ["is_selected('https://a.example/blog/2025/a', null, 'blog/2025', null, null)", true],
  ["is_selected('https://a.example/blog/2025', null, '/blog/2025/', null, null)", false],
  ["is_selected('https://a.example/blog-2/a', null, '/blog', null, null)", false],
  ["is_selected('https://a.example/?to=/blog/', null, '/blog/', null, null)", false],
  ["is_selected('https://a.example//blog/', null, '//', null, null)", true],
  ["is_selected('https://a.example', null, '/', null, null)", true],
  ["fall_explained('A', null, now(), null, null, null, null, 'u', null, null)", 'A → (none); no report yet'],
  [
    "fall_explained('A', 'B', now(), now() - interval 1 day, null, null, false, 'u', 'v', 'u')",
    'A → B; fetch: (none); indexing not allowed; report older than the fall; canonical: v',
  ],
  ["fall_explained('A; x', '<b>', now(), now(), '→', false, true, 'u', 'u', 'v')", 'A; x → <b>; fetch: →'],
  ["fall_explained('A', 'B', now(), now(), 'S', null, true, 'u', null, 'v')", 'A → B; fetch: S; declared canonical: v'],
])('%s is %j', async (expression, value) => {
  expect(await rowsOf(reader, `select ${expression} as value`)).toEqual([{ value }]);
});
