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

  constructor(token: string) {
    this.#token = token;
    this.#anyForm = new RegExp([...token].map(anyForm).join(''), 'g');
  }

  /** For what is refused, logged or shown: the token never stays, whatever else goes with it. */
  text(text: string): string {
    return this.#token === '' ? text : text.replace(this.#anyForm, MASK);
  }

  /** For what may be stored as data. */
  data(text: string): string {
    return this.#token.length >= UNMISTAKABLE_CHARACTERS ? this.text(text) : text;
  }
}

function anyForm(character: string): string {
  const hex = character.charCodeAt(0).toString(16).padStart(2, '0');
  const digits = hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const plain = character.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
  return `(?:\\\\?${plain}|%${digits}|\\\\u00${digits})`;
}
