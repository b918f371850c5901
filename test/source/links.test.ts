import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SourceError } from '../../src/source/errors.js';
import { followable, listingPath, reportPath } from '../../src/source/links.js';

const BASE = 'https://api.example.com/tenant/api';
const ROOT = 'https://api.example.com';

function refusal(link: string, base: string): string {
  try {
    return `followed to ${followable(link, base)}`;
  } catch (error) {
    return error instanceof SourceError ? error.kind : String(error);
  }
}

describe('a next_page', () => {
  it.each([
    ['/v1/urls/w?skip=2&limit=2', '/v1/urls/w?skip=2&limit=2'],
    ['/v1/./urls/../urls/w', '/v1/urls/w'],
    ['/v1/urls/w?next=https://evil.example/', '/v1/urls/w?next=https://evil.example/'],
    ['/v1/urls/w?skip=2#there', '/v1/urls/w?skip=2'],
    ['/v1/urls/ä?skip=2', '/v1/urls/%C3%A4?skip=2'],
  ])('%s is followed below the base address', (link, path) => {
    for (const base of [BASE, `${BASE}/`, ROOT, 'http://127.0.0.1:8080']) expect(followable(link, base)).toBe(path);
  });

  const refused = [
    'https://evil.example/v1/urls/w',
    '//evil.example/v1/urls/w',
    '/\t/evil.example/',
    '/v1/urls/w\r\nX-Injected: 1',
    `/v1/${'a'.repeat(10_000)}`,
  ];
  it.each(refused)('%j is refused', (link) => {
    for (const base of [BASE, ROOT]) expect(refusal(link, base)).toBe('refused_link');
  });

  it.each(['/v1/../../x', '/%2E%2e/%2e./x', '/..', '/../api-evil/v1'])('%s does not leave a path prefix', (link) => {
    expect(refusal(link, BASE)).toBe('refused_link');
  });

  it('never leads outside, whatever it is', () => {
    const pieces = '/ \\ . .. %2e %2f @ : ? # v1 evil.example https: ;'.split(' ');
    const piece = fc.constantFrom(...pieces, '\t', ' ');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.constantFrom(BASE, ROOT), (pieces, base) => {
        const outcome = refusal(pieces.join(''), base);
        if (outcome === 'refused_link') return;
        expect(outcome).toMatch(/^followed to \//);
        const sent = new URL(base + outcome.slice('followed to '.length));
        expect(sent.href.startsWith(`${base}/`)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

it('a path carries the URL of a page and the id of a website whole', () => {
  const url = 'https://e.com/a&b#c+d%2Fe?é=\u{1F600}';
  expect(new URL(reportPath(url), ROOT).searchParams.get('url')).toBe(url);
  expect(reportPath('https://e.com/a&b#c+d%2Fe')).toBe('/v1/url-report?url=https%3A%2F%2Fe.com%2Fa%26b%23c%2Bd%252Fe');
  expect(listingPath('a/b?c', 3, 7)).toBe('/v1/urls/a%2Fb%3Fc?skip=3&limit=7');
  expect(listingPath('w', 0, null)).toBe('/v1/urls/w?skip=0');
});
