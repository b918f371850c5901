import { describe, expect, it } from 'vitest';
import { parseAnalysis } from '../../src/analysis/catalog.js';
import { type Answer, answerTable } from '../../src/cli/answer-table.js';
import type { Value } from '../../src/storage/values.js';

const HEAD = '-- title: T\n-- description: D\n-- question: Sitemaps\n-- grain: one row per x\n';
const NAMES = new Map([
  ['w1', 'shop.example'],
  ['w2', 'blog.example'],
]);

/** The table of an analysis that shows these columns, such as `url (url): page`. */
function shown(columns: string[], rows: Value[][], more: Partial<Answer> = {}, wholeUrls = false) {
  const analysis = parseAnalysis('x', `${HEAD}${columns.map((one) => `-- show ${one}\n`).join('')}select 1`);
  const names = analysis.shown.map(({ column }) => column);
  const answer = { analysis, columns: names, rows, websites: new Map(), today: '2025-03-10', isCut: false, ...more };
  return answerTable(answer, wholeUrls);
}

/** The cells of one column of one kind. */
function cells(kind: string, values: Value[]): (string | null | undefined)[] {
  return shown(
    [`x (${kind}): x`, 'n (text): n'],
    values.map((value, at) => [value, String(at)]),
  ).rows.map(([x]) => x);
}

describe('the table of an analysis', () => {
  it('writes values as people read them', () => {
    expect(cells('date', ['2025-03-01', '2024-12-31', '2025-03-01T02:00:00.000Z', null])).toEqual([
      'Mar\u00a01',
      'Dec\u00a031,\u00a02024',
      'Mar\u00a01',
      null,
    ]);
    expect(cells('time', ['2025-03-01T02:05:00.000Z', '2024-03-01T00:00:00.000Z'])).toEqual([
      'Mar\u00a01\u00a002:05',
      'Mar\u00a01,\u00a02024\u00a000:00',
    ]);
    expect(cells('share', [0.7863, 0.99999, 1, 0])).toEqual(['78.6%', '99.9%', '100.0%', '0.0%']);
    expect(cells('change', [12, -1234, 0, null])).toEqual(['+12', '−1,234', '±0', null]);
    expect(cells('count', [1234567, 5])).toEqual(['1,234,567', '5']);
    expect(cells('number', [1234.567, 0.123, 0.01234, 1.26e-9, 0])).toEqual([
      '1,234.57',
      '0.12',
      '0.012',
      '1.3e-9',
      '0',
    ]);
    expect(cells('flag', [true, false, null])).toEqual(['yes', 'no', null]);
    expect(cells('text', ['a', '', ['b', 'c'], { d: 1 }])).toEqual(['a', '', 'b c', '{"d":1}']);
    // What is no date, or beyond the years that dates have here, stays as it is.
    expect(cells('date', ['123456-01-01', 'soon'])).toEqual(['123456-01-01', 'soon']);
  });

  it('names websites only where there are several', () => {
    const columns = ['website_id (website): website', 'n (count): pages'];
    const both = shown(
      columns,
      [
        ['w1', 1],
        ['w2', 2],
      ],
      { websites: NAMES },
    );
    expect(both.rows).toEqual([
      ['shop.example', '1'],
      ['blog.example', '2'],
    ]);
    const one = shown(
      columns,
      [
        ['w1', 1],
        ['w1', 2],
      ],
      { websites: NAMES },
    );
    expect(one.columns.map(({ name }) => name)).toEqual(['pages']);
    expect(one.notes).toEqual(['2 rows. In all of them: website shop.example.']);
    expect(shown(columns, [['w1', 1]]).notes).toEqual(['1 row.']);
  });

  it('leaves out what is empty or the same in all rows, and says the latter below', () => {
    const columns = ['url (url): page', 'a (text): before', 'b (text): error', 'c (count): throttled', 'd (count): n'];
    const row = (url: string) => [url, 'Indexed', null, 0, 7];
    const table = shown(columns, ['https://a.example/1', 'https://b.example/2', 'https://b.example/3'].map(row));
    expect(table.columns.map(({ name, align }) => [name, align])).toEqual([
      ['page', 'left'],
      ['n', 'right'],
    ]);
    expect(table.notes).toEqual(['3 rows. In all of them: before Indexed; throttled 0.']);
    // Too few rows to be a pattern.
    const few = shown(columns, ['https://a.example/1', 'https://b.example/2'].map(row));
    expect(few.columns.map(({ name }) => name)).toEqual(['page', 'before', 'throttled', 'n']);
    const empty = shown(columns, []);
    expect([empty.columns.length, empty.rows, empty.notes]).toEqual([5, [], ['No rows.']]);
  });

  it('shows paths where all pages share a host, and says which', () => {
    const columns = ['url (url): page', 'canonical (url): canonical'];
    const rows = [
      ['https://shop.example/a', 'https://shop.example/b'],
      ['https://shop.example/?q=1', 'https://shop.example.evil/a'],
      ['https://shop.example/%2e', null],
    ];
    const table = shown(columns, rows);
    expect(table.columns[0]).toEqual({ name: 'page', align: 'left', origin: 'https://shop.example' });
    expect(table.rows).toEqual([
      ['/a', '/b'],
      ['/?q=1', 'https://shop.example.evil/a'],
      ['/%2e', null],
    ]);
    expect(shown(columns, rows, {}, true).rows[0]).toEqual(rows[0]);
    expect(shown(columns, [...rows, ['(none)', null]]).columns[0]?.origin).toBe('https://shop.example');
    for (const other of ['http://shop.example/c', 'https://shop.example@evil/c', 'https://shop.example', '/c']) {
      const mixed = shown(columns, [...rows, [other, null]]);
      expect(mixed.columns[0]?.origin).toBeUndefined();
      expect(mixed.rows[0]?.[0]).toBe('https://shop.example/a');
    }
  });

  it('shows paths where the pages of each website share a host, and says below which', () => {
    const columns = ['website_id (website): website', 'url (url): page', 'to (url): canonical'];
    const rows = [
      ['w1', 'https://shop.example/a', 'https://blog.example/b'],
      ['w2', 'https://blog.example/a', 'https://blog.example/b'],
    ];
    const table = shown(columns, rows, { websites: NAMES });
    expect(table.rows).toEqual([
      ['shop.example', '/a', 'https://blog.example/b'],
      ['blog.example', '/a', '/b'],
    ]);
    expect(table.notes).toEqual([
      '2 rows.',
      'Pages: shop.example: https://shop.example; blog.example: https://blog.example',
    ]);
    // Without the website a path would say too little.
    const chosen = shown(columns, rows, { websites: NAMES, chosen: ['url'] });
    expect(chosen.rows).toEqual([['https://shop.example/a'], ['https://blog.example/a']]);
    const mixed = shown(columns, [...rows, ['w2', 'https://www.blog.example/a', null]], { websites: NAMES });
    expect(mixed.rows[0]?.[1]).toBe('https://shop.example/a');
  });

  it('says what a limit left out, and how to get it', () => {
    const rows = [
      ['https://a.example/1', 1],
      ['https://a.example/2', 2],
    ];
    expect(shown(['url (url): page', 'n (time): at'], rows, { isCut: true }).notes).toEqual([
      'Times are UTC.',
      'The first 2 rows; all of them: --param limit=none',
    ]);
  });

  it('of chosen columns has just these, under their own names', () => {
    const columns = ['url (url): page', 'a (share): share'];
    const rows = [
      ['https://a.example/1', 0.5],
      ['https://a.example/2', 0.5],
      ['https://a.example/3', 0.5],
    ];
    const table = shown(columns, rows, { columns: ['url', 'a', 'raw'], chosen: ['raw', 'a'] });
    expect(table.columns.map(({ name }) => name)).toEqual(['raw', 'a']);
    expect(table.rows).toEqual([
      [null, '50.0%'],
      [null, '50.0%'],
      [null, '50.0%'],
    ]);
  });
});
