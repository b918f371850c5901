import { expect, test } from 'vitest';
import { parseAnalysis } from '../../../src/answers/query/catalog.js';
import { type Answer, answerTable } from '../../../src/app/cli/output/answer-table.js';
import type { Value } from '../../../src/base/storage/values.js';

const HEAD = '-- title: T\n-- description: D\n-- question: Sitemaps\n-- grain: one row per x\n';
const SHOP = 'https://shop.example';

/** The table of an analysis that shows these columns, such as `url (url): page`. */
function shown(columns: string[], rows: Value[][], more: Partial<Answer> = {}, wholeUrls = false) {
  const analysis = parseAnalysis('x', `${HEAD}${columns.map((one) => `-- show ${one}\n`).join('')}select 1`);
  const names = analysis.shown.map(({ column }) => column);
  const answer = { analysis, columns: names, rows, websites: new Map(), today: '2025-03-10', isCut: false, ...more };
  return answerTable(answer, wholeUrls);
}

const CELLS: [kind: string, values: Value[], texts: (string | null)[]][] = [
  ['date', ['2025-03-01', '2024-12-31', null], ['Mar\u00a01', 'Dec\u00a031,\u00a02024', null]],
  ['date', ['123456-01-01', 'soon'], ['123456-01-01', 'soon']],
  ['time', ['2025-03-01T02:05:00.000Z', null], ['Mar\u00a01\u00a002:05', null]],
  ['share', [0.7863, 0.99999, 1, 0], ['78.6%', '99.9%', '100.0%', '0.0%']],
  ['change', [12, -1234, 0, null], ['+12', '−1,234', '±0', null]],
  ['count', [1234567, 5], ['1,234,567', '5']],
  ['number', [1234.567, 0.123, 0.01234, 1.26e-9, 0], ['1,234.57', '0.12', '0.012', '1.3e-9', '0']],
  ['flag', [true, false, null], ['yes', 'no', null]],
  ['text', ['a', '', ['b', 'c'], { d: 1 }], ['a', '', 'b c', '{"d":1}']],
];
test.each(CELLS)('a %s is shown as people read it', (kind, values, texts) => {
  const rows = values.map((value, at) => [value, String(at)]);
  expect(shown([`x (${kind}): x`, 'n (text): n'], rows).rows.map(([x]) => x)).toEqual(texts);
});

test('websites are named only where there are several', () => {
  const columns = ['website_id (website): website', 'n (count): pages'];
  const named = (ids: string[]) => {
    const rows = ids.map((id, at) => [id, at]);
    const names: [string, string][] = [
      ['w1', 'shop.example'],
      ['w2', 'blog.example'],
    ];
    return shown(columns, rows, { websites: new Map(names) });
  };
  expect(named(['w1', 'w2']).rows.map(([name]) => name)).toEqual(['shop.example', 'blog.example']);
  expect(named(['w1', 'w1'])).toMatchObject({
    columns: [{ name: 'pages' }],
    notes: ['2 rows. In all of them: website shop.example.'],
  });
});

test('a column that is empty or the same in all rows is left out, and the latter said below', () => {
  const columns = ['url (url): page', 'a (text): before', 'b (text): error', 'c (count): throttled', 'd (count): n'];
  const given = (...urls: string[]) =>
    shown(
      columns,
      urls.map((url) => [url, 'Indexed', null, 0, 7]),
    );
  const table = given('https://a.example/1', 'https://b.example/2', 'https://b.example/3');
  expect(table.columns.map(({ name }) => name)).toEqual(['page', 'n']);
  expect(table.notes).toEqual(['3 rows. In all of them: before Indexed; throttled 0.']);
  expect(given('https://a.example/1', 'https://b.example/2').columns).toHaveLength(4);
  expect(given()).toMatchObject({ columns: { length: 5 }, rows: [], notes: ['No rows.'] });
});

test('pages are shown as paths where all share a host, which is named; never where that could mislead', () => {
  const columns = ['url (url): page', 'canonical (url): canonical'];
  const rows = [
    [`${SHOP}/a`, `${SHOP}/b`],
    [`${SHOP}/?q=1`, `${SHOP}.evil/a`],
  ];
  const table = shown(columns, [...rows, ['(none)', null]]);
  expect(table.columns[0]).toMatchObject({ name: 'page', origin: SHOP });
  expect(table.rows.slice(0, 2)).toEqual([
    ['/a', '/b'],
    ['/?q=1', `${SHOP}.evil/a`],
  ]);
  expect(shown(columns, rows, {}, true).rows).toEqual(rows);
  for (const other of ['http://shop.example/c', `${SHOP}@evil/c`, SHOP, '/c'])
    expect(shown(columns, [...rows, [other, null]]).rows[0]?.[0]).toBe(`${SHOP}/a`);
});

test('what a limit left out is said, with how to get it; chosen columns keep their names', () => {
  const columns = ['url (url): page', 'n (time): at'];
  const rows = [
    ['https://a.example/1', 1],
    ['https://a.example/2', 2],
  ];
  const notes = ['Times are UTC.', 'The first 2 rows; all of them: limit=none'];
  expect(shown(columns, rows, { isCut: true }).notes).toEqual(notes);
  const chosen = shown(columns, rows, { columns: ['url', 'n', 'raw'], chosen: ['raw', 'n'] });
  expect(chosen.columns.map(({ name }) => name)).toEqual(['raw', 'n']);
});
