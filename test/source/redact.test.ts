import { describe, expect, it } from 'vitest';
import { Redactor } from '../../src/source/redact.js';

const TOKEN = 'bench-5f0c9d1e7a3b_K+/=';

const FORMS: [string, string][] = [
  ['as it is', TOKEN],
  ['percent-encoded', encodeURIComponent(TOKEN)],
  ['percent-encoded to its last letter', [...TOKEN].map((each) => `%${hex(each)}`).join('')],
  ['with one letter percent-encoded', `%62${TOKEN.slice(1)}`],
  ['in lower case percent-encoding', [...TOKEN].map((each) => `%${hex(each).toLowerCase()}`).join('')],
  ['escaped as in JSON', [...TOKEN].map((each) => `\\u00${hex(each)}`).join('')],
  ['with an escaped slash', TOKEN.replace('/', '\\/')],
];

function hex(character: string): string {
  return character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0');
}

describe('a token', () => {
  it.each(FORMS)('%s is masked in data', (_, form) => {
    const data = new Redactor(TOKEN).data(`{"a":"100 %","b":"%E4%3A","link":"https://a/?k=${form}&x=%2"}`);
    expect(data).toBe('{"a":"100 %","b":"%E4%3A","link":"https://a/?k=***&x=%2"}');
  });

  it('too short to be unmistakable stays in data, and is masked in what is refused', () => {
    const redactor = new Redactor('page');
    expect(redactor.data('https://a/page')).toBe('https://a/page');
    expect(redactor.text('https://a/page')).toBe('https://a/***');
  });
});
