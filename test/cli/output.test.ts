import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { count, duration, formatCsv, formatJson, formatTable } from '../../src/cli/output.js';

describe('formatTable', () => {
  it('aligns numbers right and text left below a rule', () => {
    const table = formatTable(
      ['url', 'pages'],
      [
        ['/a', 5],
        ['/long', 1234n],
        [null, null],
      ],
    );
    expect(table.split('\n')).toEqual(['url    pages', '─────  ─────', '/a         5', '/long   1234', '', '']);
  });

  it('measures wide characters', () => {
    const [, , ...lines] = formatTable(
      ['a', 'b'],
      [
        ['日本', 'x'],
        ['abcd', 'x'],
        ['é😀', 'x'],
      ],
    )
      .trimEnd()
      .split('\n');
    expect(lines.map((line) => stringWidth(line))).toEqual([7, 7, 7]);
  });

  it('wraps between words to fit a terminal, and never elsewhere', () => {
    const url = 'https://example.com/a';
    const rows = [
      [url, 'Crawled - currently not indexed', 12],
      [url, '日本語 の最後', null],
    ];
    expect(formatTable(['url', 'state', 'n'], rows, { width: 43 }).split('\n')).toEqual([
      'url                    state              n',
      '─────────────────────  ────────────────  ──',
      `${url}  Crawled -         12`,
      '                       currently not',
      '                       indexed',
      `${url}  日本語 の最後`,
      '',
    ]);
    expect(formatTable(['url', 'state', 'n'], rows)).toContain(`${url}  Crawled - currently not indexed  12`);
  });

  it('makes a card of each row where its words do not fit, and cuts nothing', () => {
    const url = `https://example.com/${'x'.repeat(60)}`;
    const columns = [{ name: 'page', origin: 'https://example.com' }, 'state now'];
    const table = formatTable(
      columns,
      [
        [url, 'Crawled - currently not indexed'],
        ['/b', null],
      ],
      { width: 30 },
    );
    expect(table.split('\n')).toEqual([
      'page on https://example.com',
      '',
      `page       ${url}`,
      'state now  Crawled - currently',
      '           not indexed',
      '',
      'page       /b',
      'state now',
      '',
    ]);
  });

  it('wraps heads before it wraps cells', () => {
    expect(formatTable(['first seen', 'state'], [['Nov 1', 'not indexed']], { width: 20 }).split('\n')).toEqual([
      'first  state',
      'seen',
      '─────  ───────────',
      'Nov 1  not indexed',
      '',
    ]);
  });

  it('writes what is missing as it is told, and leaves it out of cards', () => {
    const rows = [[null, 'https://example.com/a']];
    expect(formatTable(['state', 'url'], rows, { unknown: '–' })).toContain('\n–      https://example.com/a\n');
    expect(formatTable(['state', 'url'], rows, { unknown: '–', width: 10 })).toBe('url    https://example.com/a\n');
    expect(formatTable(['state', 'url'], rows, { width: 10 })).toBe('state\nurl    https://example.com/a\n');
  });

  it('makes cards of what would be many lines high', () => {
    const text = 'word '.repeat(40).trim();
    expect(formatTable(['id', 'text'], [[1, text]], { width: 40 })).toMatch(/^id {4}1\ntext {2}word/);
  });

  it('prints the spaces that hold a date together as plain ones', () => {
    expect(formatTable(['a b', 'day'], [['x y', 'Nov\u00a018']], { width: 9 })).toBe(
      'a  day\nb\n─  ──────\nx  Nov 18\ny\n',
    );
  });

  it('shows what would steer a terminal only escaped, in headers too', () => {
    const table = formatTable(['a\x1b'], [['x\x1b[2J\ny']]);
    expect(table).toContain('x\\x1b[2J\\ny');
    expect(table).not.toContain('\x1b');
  });

  it('dims null in colour, on the side of its column', () => {
    const table = formatTable(
      ['text', 'number'],
      [
        ['x', 1],
        [null, null],
      ],
      { color: true },
    );
    expect(table.split('\n')[3]).toBe('\x1b[2m∅   \x1b[22m  \x1b[2m     ∅\x1b[22m');
  });

  it('writes dates, objects and missing cells', () => {
    const table = formatTable(
      ['at', 'o', 'x'],
      [
        [new Date(0), { n: 1n }, undefined],
        [new Date(Number.NaN), [], true],
      ],
    );
    expect(table).toContain('1970-01-01T00:00:00.000Z  {"n":1}');
    expect(table).toContain('Invalid Date');
    expect(formatTable(['a'], [])).toBe('a\n─\n');
  });

  it('obeys a given alignment', () => {
    expect(formatTable([{ name: 'id', align: 'left' }, 'x'], [[1, 'y']]).split('\n')[2]).toBe('1   y');
  });
});

describe('formatJson', () => {
  it('takes BigInts and dates', () => {
    const text = formatJson([{ small: 5n, least: -(2n ** 53n), large: 2n ** 63n, at: new Date(0), none: null }]);
    expect(JSON.parse(text)).toEqual([
      { small: 5, least: -(2 ** 53), large: '9223372036854775808', at: '1970-01-01T00:00:00.000Z', none: null },
    ]);
    expect(text).toContain('\n    "small": 5,');
    expect(text.endsWith(']\n')).toBe(true);
    expect(formatJson(undefined)).toBe('null\n');
  });

  it('never loses digits', () => {
    expect(JSON.parse(formatJson([2n ** 53n + 1n, 2n ** 53n - 1n]))).toEqual(['9007199254740993', 2 ** 53 - 1]);
  });
});

describe('formatCsv', () => {
  it('quotes as RFC 4180 says, and tells null from empty text', () => {
    const csv = formatCsv(
      ['a', 'b "c"'],
      [
        ['x,y', 'l1\nl2'],
        ['', null],
        [1.5, true],
      ],
    );
    expect(csv).toBe('a,"b ""c"""\r\n"x,y","l1\nl2"\r\n"",\r\n1.5,true\r\n');
  });

  it.each(['=1+1', '+1', '-1', '@x', '\tx'])('guards the text %j', (text) => {
    expect(formatCsv(['a'], [[text]])).toBe(`a\r\n'${text}\r\n`);
    expect(formatCsv(['a'], [[text]], { guardFormulas: false })).toBe(`a\r\n${text}\r\n`);
  });

  it('guards a carriage return, and leaves numbers alone', () => {
    expect(formatCsv(['a', 'b'], [['\rx', -5]])).toBe('a,b\r\n"\'\rx",-5\r\n');
  });
});

describe('duration', () => {
  it.each([
    [0, '0ms'],
    [999, '999ms'],
    [999.7, '1s'],
    [4200, '4s'],
    [9960, '10s'],
    [59_400, '59s'],
    [59_700, '1m'],
    [185_000, '3m 5s'],
    [3_599_800, '1h'],
    [7_800_000, '2h 10m'],
    [86_399_000, '1d'],
    [277_200_000, '3d 5h'],
    [-4200, '-4s'],
    [Number.POSITIVE_INFINITY, '∞'],
  ])('%d ms is %s', (ms, text) => expect(duration(ms)).toBe(text));
});

describe('count', () => {
  it.each([
    [0, '0'],
    [1234, '1,234'],
    [-1234567, '-1,234,567'],
    [2n ** 63n, '9,223,372,036,854,775,808'],
  ])('%s is %s', (n, text) => expect(count(n)).toBe(text));
});
