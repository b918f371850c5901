const MASK = '***';
/**
 * A token of this length is no word of a page's address. A shorter one is left in data that is accepted, because
 * masking it could spoil a URL.
 */
const UNMISTAKABLE_CHARACTERS = 16;

/** Masks one token in the service's texts: plain, percent-encoded, or escaped as in JSON. */
export class Redactor {
  readonly #token: string;
  readonly #anyForm: RegExp;
  /** What stands behind the `%` of the token's characters, percent-encoded: both digits as one number. */
  readonly #encoded: ReadonlySet<number>;

  constructor(token: string) {
    this.#token = token;
    this.#encoded = new Set([...token].flatMap(encodings).map((digits) => digitsAt(digits, 0)));
    this.#anyForm = new RegExp([...token].map(anyForm).join(''), 'g');
  }

  /** For what is refused, logged or shown: the token never stays, whatever else goes with it. */
  text(text: string): string {
    return this.#token === '' ? text : text.replace(this.#anyForm, MASK);
  }

  /** For what may be stored as data. */
  data(text: string): string {
    return this.#token.length >= UNMISTAKABLE_CHARACTERS && this.#mayBeIn(text) ? this.text(text) : text;
  }

  /** Rules out nearly every text, at a tenth of what the search for any form costs. */
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

/** The two digits in lower and upper case. */
function encodings(character: string): string[] {
  const [first = '', second = ''] = hexOf(character);
  const cases = (digit: string) => [digit, digit.toUpperCase()];
  return cases(first).flatMap((high) => cases(second).map((low) => high + low));
}

/** A number for two characters, without making a string of them: each `%` of every answer is looked at. */
function digitsAt(text: string, at: number): number {
  return text.charCodeAt(at) * 0x10000 + text.charCodeAt(at + 1);
}

function anyForm(character: string): string {
  const digits = hexOf(character).replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const plain = character.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
  return `(?:\\\\?${plain}|%${digits}|\\\\u00${digits})`;
}
