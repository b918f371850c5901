import { anyForm } from '../observe/log.js';

const MASK = '***';
/**
 * A token this long never occurs in a URL by chance. A shorter one stays in accepted data, because masking it could
 * corrupt a URL.
 */
const UNMISTAKABLE_CHARACTERS = 16;

/** Masks one token in the service's texts: plain, percent-encoded, or escaped as in JSON. */
export class Redactor {
  readonly #token: string;
  readonly #anyForm: RegExp;
  /** The hex digits of each of the token's characters when percent-encoded, both as one number. */
  readonly #encoded: ReadonlySet<number>;

  constructor(token: string) {
    this.#token = token;
    this.#encoded = new Set([...token].flatMap(encodings).map((digits) => digitsAt(digits, 0)));
    this.#anyForm = new RegExp(anyForm(token), 'g');
  }

  /** For text that is refused, logged or shown: always masks the token; a short one where it is whole. */
  text(text: string): string {
    return this.#token === '' ? text : text.replace(this.#anyForm, MASK);
  }

  /** For text that may be stored as data: masks only a token that cannot be mistaken for data. */
  data(text: string): string {
    return this.#token.length >= UNMISTAKABLE_CHARACTERS && this.#mayBeIn(text) ? this.text(text) : text;
  }

  /** Rules out nearly every text, at a tenth of the cost of searching for any form. */
  #mayBeIn(text: string): boolean {
    if (text.includes(this.#token) || text.includes('\\')) return true;
    for (let at = text.indexOf('%'); at >= 0; at = text.indexOf('%', at + 1)) {
      if (this.#encoded.has(digitsAt(text, at + 1))) return true;
    }
    return false;
  }
}

function hexOf(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(2, '0');
}

/** A character's two hex digits, each in lower and upper case. */
function encodings(character: string): string[] {
  const [first = '', second = ''] = hexOf(character);
  const cases = (digit: string) => [digit, digit.toUpperCase()];
  return cases(first).flatMap((high) => cases(second).map((low) => high + low));
}

/** Two characters as one number, without allocating a string: this runs for each `%` of every answer. */
function digitsAt(text: string, at: number): number {
  return text.charCodeAt(at) * 0x10000 + text.charCodeAt(at + 1);
}
