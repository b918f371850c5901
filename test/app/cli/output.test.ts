import { Readable } from 'node:stream';
import { text as allOf } from 'node:stream/consumers';
import stringWidth from 'string-width';
import { describe, expect, it, test } from 'vitest';
import { parseAnalysis } from '../../../src/answers/query/catalog.js';
import { type Answer, answerTable } from '../../../src/app/cli/output/answer-table.js';
import { formatTable } from '../../../src/app/cli/output/output.js';
import { csvText } from '../../../src/base/observe/csv.js';
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
  expect(table.rows.slice(0, 2).flat()).toEqual(['/a', '/b', '/?q=1', `${SHOP}.evil/a`]);
  expect(shown(columns, rows, {}, true).rows).toEqual(rows);
  for (const other of ['http://shop.example/c', `${SHOP}@evil/c`, SHOP, '/c'])
    expect(shown(columns, [...rows, [other, null]]).rows[0]?.[0]).toBe(`${SHOP}/a`);
});

describe('formatTable', () => {
  const URL = 'https://example.com/a';
  const COLUMNS = ['url', 'state', 'n'];
  const ROWS = [
    [URL, 'Crawled - currently not indexed', 12],
    [URL, '日本語 の最後', null],
  ];

  it.each([43, 50, 80])('fits a terminal of %d cells, and cuts nothing', (width) => {
    const table = formatTable(COLUMNS, ROWS, { width });
    expect(table).toContain('─');
    for (const line of table.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(width);
    const words = (text: string) => [...text.matchAll(/[^\s─]+/g)].map(String).sort();
    expect(words(table)).toEqual(words(formatTable(COLUMNS, ROWS)));
  });

  it('makes a card of each row where its words do not fit', () => {
    const width = 30;
    const table = formatTable([{ name: 'page', origin: 'https://example.com' }, 'state now'], ROWS, { width });
    expect(table).toMatch(/^page on https:\/\/example.com\n\npage {7}https:\/\/example.com\/a\nstate now {2}Crawled -/);
    expect(formatTable(['id', 'text'], [[1, 'word '.repeat(40).trim()]], { width })).toMatch(/^id {4}1\ntext {2}word/);
  });

  it('shows what would steer a terminal only escaped, in heads too', () => {
    for (const width of [80, 5]) {
      const table = formatTable(['a\x1b'], [['x\x1b[2J\ny']], { width });
      expect(table).toContain('x\\x1b[2J\\ny');
      expect(table).not.toContain('\x1b');
    }
  });
});

describe('CSV', () => {
  const csvOf = (columns: string[], rows: unknown[][], options = {}) =>
    allOf(csvText(columns, Readable.from([rows]), { isRaw: false, isFile: false, ...options }));

  it('is quoted as RFC 4180 says, and null differs from empty text', async () => {
    const row = ['x,y', 'l1\nl2', '', null, 1.5, true];
    const heads = ['a', 'b "c"', 'd', 'e', 'f', 'g'];
    expect(await csvOf(heads, [row])).toBe('a,"b ""c""",d,e,f,g\r\n"x,y","l1\nl2","",,1.5,true\r\n');
  });

  it.each(['=1+1', '+1', '-1', '@x', '\tx', '＝1+1', '＠x', ' =1+1', '\u200b\u{feff}-1'])(
    'text such as %j is guarded, as no formula',
    async (text) => {
      expect(await csvOf(['a'], [[text]])).toBe(`a\r\n'${text}\r\n`);
      expect(await csvOf(['a'], [[text]], { isRaw: true, isFile: true })).toBe(`a\r\n${text}\r\n`);
    },
  );

  it('guards a line feed, leaves numbers alone, and marks a file for Excel', async () => {
    const text = await csvOf(['a', 'b'], [['\n=x', -5]], { isFile: true });
    expect(text).toBe('\ufeffa,b\r\n"\'\n=x",-5\r\n');
  });
});
