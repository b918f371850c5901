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
