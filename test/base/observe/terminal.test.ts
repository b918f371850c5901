import { describe, expect, it } from 'vitest';
import { colorsWanted, safe, safeLines } from '../../../src/base/observe/terminal.js';

describe('safe', () => {
  it.each([
    ['\x1b[2J', '\\x1b[2J'],
    ['a\u009bb', 'a\\x9bb'],
    ['a\r\n\tb', 'a\\r\\n\\tb'],
    ['\u202egnp.exe\u2066', '\\u202egnp.exe\\u2066'],
    ['\u200f\u2028\ufeff', '\\u200f\\u2028\\ufeff'],
    ['\ud800x\udc00', '\\ud800x\\udc00'],
  ])('%j is shown as %j', (text, shown) => expect(safe(text)).toBe(shown));

  it('leaves all else as it is, and can keep lines', () => {
    const text = 'https://example.com/ü?q=日本 😀 👩‍👩‍👧 \\n';
    expect(safe(text)).toBe(text);
    expect(safeLines('a\n\tb\r\x1b')).toBe('a\n\tb\\r\\x1b');
  });
});

describe('colorsWanted', () => {
  it.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: '1' }, false],
    [false, { FORCE_COLOR: '1' }, true],
    [true, { TERM: 'dumb' }, false],
  ])('terminal %s with %j: %s', (isTTY, env, wanted) => expect(colorsWanted({ isTTY }, env)).toBe(wanted));
});
