import fc from 'fast-check';
import { expect, it } from 'vitest';
import { masker } from '../../../src/base/observe/masker.js';

const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
const inHex = (text: string) =>
  [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
const inPercent = (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join('');
const inBase64 = (text: string) => Buffer.from(text).toString('base64');

it('masks a secret and nothing else, however often it is encoded', () => {
  const secret = fc.string({ minLength: 8, maxLength: 40, unit: fc.constantFrom(...'abcXYZ019-_.~+/="\\%&é') });
  const encoding = fc.constantFrom(inJson, encodeURIComponent, inHex, (text: string) =>
    encodeURIComponent(inJson(text)),
  );
  const again = fc.constantFrom(...[inJson, encodeURIComponent, (text: string) => text]);
  const check = (token: string, first: typeof inJson, second: typeof inJson) => {
    const text = `<${second(first(`${token}.`))}>`;
    expect(masker([`${token}.`])(text)).toBe('<[secret]>');
  };
  fc.assert(fc.property(secret, encoding, again, check));
});

it.each(['eyJhbGciOi.a-token_of-40~characters/long+=', 'GOCSPX-1', 'secret'])('masks %s in base64', (secret) => {
  for (const before of ['', 'a', 'ab', 'abc: ']) {
    for (const after of ['', '!', '!!']) {
      const header = `${before}Bearer ${secret}${after}`;
      for (const form of [inBase64(header), Buffer.from(header).toString('base64url'), inPercent(inBase64(header))]) {
        const left = decodeURIComponent(masker([secret])(form))
          .split('[secret]')
          .map((part) => Buffer.from(part, 'base64'));
        expect(left.length).toBeGreaterThan(1);
        for (const part of left) expect(String(part)).not.toMatch(secret.slice(2, -2));
      }
    }
  }
});

it('masks a secret of 800 kB, and 50 secrets in an answer of 3 MB, in time that grows with their length alone', () => {
  const long = '\\%41"é+a'.repeat(100_000);
  expect(masker([long])(`${long} and ${inJson(long)}`)).toBe('[secret] and [secret]');
  const secrets = Array.from({ length: 50 }, (_, number) => `${number}-${'%2525'.repeat(100)}`);
  const text = `${'%25'.repeat(500_000)} ${'\\'.repeat(500_000)} ${'%80'.repeat(300_000)}`;
  expect(masker(secrets)(text)).toBe(text);
});
