import { expect, it } from 'vitest';
import { urlOf } from '../../src/base/url.js';

it('takes addresses with letters of Latin-1, compiled or not', () => {
  const hrefs = Array.from({ length: 50_000 }, () => urlOf('https://bücher.example/café/')?.href);
  expect(new Set(hrefs)).toEqual(new Set(['https://xn--bcher-kva.example/caf%C3%A9/']));
  expect([urlOf('/a', 'https://a.example')?.href, urlOf('/a'), urlOf('')]).toEqual(['https://a.example/a', null, null]);
});
