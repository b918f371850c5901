const MASK = '[secret]';
/** Shorter secrets are matched whole, because they may be a part of other words. */
const LEAST_UNMISTAKABLE = 8;
/** What comes before a whole word, and before a value that is no word of a sentence. Either may be encoded. */
const BEFORE_WORD = /(?:^|\W|%[\da-f]{2}|\\(?:[bfnrt]|u[\da-f]{4}))$/i;
const BEFORE_VALUE =
  /(?:["'=:/&] ?|(?:[Bb]asic|[Bb]earer|key|password|secret|token) |%[\da-fA-F]{2}|\\(?:[bfnrt]|u[\da-fA-F]{4}))$/;
/** The most characters that one of these takes. */
const MOST_BEFORE = 9;
/** A character that is escaped as in JSON, or percent-encoded, any times over: by its code, or as several bytes. */
const ENCODED =
  /(?:\\|%(?:25)*5c)+(?:u([\da-f]{4}))?|(%(?:25)*[89a-f][\da-f](?:%(?:25)*[89ab][\da-f])*)|%(?:25)*([0-7][\da-f])/gi;

interface Form {
  text: string;
  /** Whether it is a secret only where it is whole. */
  isShort: boolean;
}

/** From the first character of a secret to the one after its last. */
type Span = [start: number, end: number];

/**
 * Masks these secrets in a text: plain, percent-encoded or escaped as in JSON, any times over, and in base64. A short one
 * is masked only where it is whole, and one of letters alone only where it is a value: in a sentence it is a word.
 *
 * Takes time in proportion to the text. Secrets are no regular expressions: a long one is too large for that, and the
 * error would show it.
 */
export function masker(secrets: readonly string[]): (text: string) => string {
  const known = new Set(secrets.filter((secret) => secret !== ''));
  if (known.size === 0) return (text) => text;
  const texts = [...new Set([...known].flatMap((secret) => [secret, ...inBase64(secret)]))];
  const forms = texts.map((text) => ({ text, isShort: text.length < LEAST_UNMISTAKABLE }));
  // What begins with a percent sign is decoded with the rest, or stays if only that sign was encoded.
  const decodedForms = forms.flatMap(({ text, isShort }) =>
    [...new Set([decoded(text), text.replaceAll('\\', '')])].flatMap((plain) =>
      plain ? { text: plain, isShort } : [],
    ),
  );
  return (text) => {
    if (known.has(text)) return MASK;
    const spans = spansOf(forms, text, text, (at) => at);
    const plain = decoded(text);
    // Where each character came from takes much longer to find out, and nearly every text holds no secret.
    if (plain !== text && decodedForms.some((form) => plain.includes(form.text))) {
      const places = placesOf(text);
      spans.push(...spansOf(decodedForms, plain, text, (at) => places[at] ?? text.length));
    }
    return spans.length > 0 ? masked(text, spans) : text;
  };
}

/** The characters that depend on the secret alone, wherever it begins in what is encoded. */
function inBase64(secret: string): string[] {
  const whole = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  const header = secret.length < 2 * LEAST_UNMISTAKABLE ? [`Bearer ${secret}`] : [];
  const parts = [secret, ...header].flatMap((text) =>
    [0, 1, 2].map((before) => {
      const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
      return bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
    }),
  );
  const forms = [whole, ...parts.filter((part) => part.length >= LEAST_UNMISTAKABLE)];
  return forms.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
}

/** @param placeOf where a character of the searched text begins in the shown one */
function spansOf(forms: readonly Form[], searched: string, shown: string, placeOf: (at: number) => number): Span[] {
  const spans: Span[] = [];
  for (const { text, isShort } of forms) {
    for (let at = searched.indexOf(text); at >= 0; ) {
      const [start, end] = [placeOf(at), placeOf(at + text.length)];
      const isSecret = !isShort || isWhole(text, shown, start, end);
      if (isSecret) spans.push([start, end]);
      at = searched.indexOf(text, at + (isSecret ? text.length : 1));
    }
  }
  return spans;
}

function isWhole(secret: string, shown: string, start: number, end: number): boolean {
  const before = /^[a-z]+$/i.test(secret) ? BEFORE_VALUE : BEFORE_WORD;
  const begins = !/^\w/.test(secret) || before.test(shown.slice(Math.max(0, start - MOST_BEFORE), start));
  return begins && !(/\w$/.test(secret) && /^\w/.test(shown.slice(end, end + 1)));
}

/** Secrets that overlap become one. */
function masked(text: string, spans: Span[]): string {
  let [result, from] = ['', 0];
  for (const [start, end] of spans.sort(([one], [other]) => one - other)) {
    if (start >= from) result += text.slice(from, start) + MASK;
    from = Math.max(from, end);
  }
  return result + text.slice(from);
}

/** A text without its encodings. A backslash goes, whatever it is for: the secret loses its own, too. */
function decoded(text: string): string {
  return text.replace(ENCODED, decodedOf);
}

function decodedOf(...[, unit, bytes = '', byte]: string[]): string {
  const code = unit ?? byte;
  if (code) return String.fromCharCode(Number.parseInt(code, 16)).replace('\\', '');
  return bytes && Buffer.from(bytes.replace(/%(?:25)*/g, ''), 'hex').toString();
}

/** Where each character of the decoded text begins in the encoded one, with the backslashes before it. */
function placesOf(text: string): number[] {
  const places: number[] = [];
  let [at, escapes] = [0, 0];
  const pass = (to: number) => {
    for (; at < to; escapes = 0) places.push(at++ - escapes);
  };
  for (const match of text.matchAll(ENCODED)) {
    pass(match.index);
    at += match[0].length;
    const characters = decodedOf(...match).length;
    for (let each = 0; each < characters; each++) places.push(match.index - escapes);
    escapes = characters === 0 ? escapes + match[0].length : 0;
  }
  pass(text.length);
  return places;
}
