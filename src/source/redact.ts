import { anyForm } from '../base/observe/log.js';

const MASK = '***';
/**
 * A token this long never occurs in a URL by chance. A shorter one stays in accepted data, because masking it could
 * corrupt a URL.
 */
const UNMISTAKABLE_CHARACTERS = 16;

/** Masks one token in the service's texts: plain, percent-encoded, or escaped as in JSON. */
export class Redactor {
  readonly #anyForm: RegExp | null;
  readonly #isUnmistakable: boolean;

  constructor(token: string) {
    this.#anyForm = token === '' ? null : new RegExp(anyForm(token), 'g');
    this.#isUnmistakable = token.length >= UNMISTAKABLE_CHARACTERS;
  }

  /** For text that is refused, logged or shown: always masks the token; a short one where it is whole. */
  text(text: string): string {
    return this.#anyForm === null ? text : text.replace(this.#anyForm, MASK);
  }

  /** For text that may be stored as data: masks only a token that cannot be mistaken for data. */
  data(text: string): string {
    return this.#isUnmistakable ? this.text(text) : text;
  }
}
