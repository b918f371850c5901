/** A JSON text, and whether the contract allows it where it stands. */
interface Raw {
  text: string;
  good: boolean;
}

const good = (...texts: string[]): Raw[] => texts.map((text) => ({ text, good: true }));
const bad = (...texts: string[]): Raw[] => texts.map((text) => ({ text, good: false }));

const TEXTS: Raw[] = [
  ...good('null', '""', '" "', '"null"', '"\\u0000"', '"a\\u0000b"', '"\\u0001\\u001f\\u007f\\u0080"', '"\\":1,"'),
  ...good('"\u00e9"', '"e\u0301"', '"\\u2028\u2029"', '"x\\ufeff"'),
  ...good('"\\ud83d\\ude00"', '"😀"', '"\\n\\r\\n"', '"\uffff"'),
  ...good('"Indexed"', '"Not Indexed"', '"\\u0049ndexed"', '"indexed"'),
  ...bad('"\\ud800"', '"\\udc00x"', '"\\ude00\\ud83d"', '5', 'true', '{}', '[]', '["Indexed"]'),
];
const INTEGERS: Raw[] = [
  ...good('null', '0', '-0', '-0.0', '1.0', '1e2', '1E+2', '-2147483648', '2147483647', '2147483647.0', '0e999999'),
  ...good('100000000000000000000e-18', '0.21474836470e10', '1.00000000000000000000000001'),
  ...good('1e-400', '0.99999999999999999999999', '-2147483648.00000000000000000000001'),
  ...bad('2147483648', '-2147483649', '1e400', '-1e400', '1.5', '"5"', '9007199254740993', 'false'),
];
const TIMES: Raw[] = [
  ...good('null', '"0001-01-01T00:00:00Z"', '"0001-01-01T00:00:00.000001Z"', '"9999-12-31T23:59:59.999999Z"'),
  ...good('"2026-01-01T02:03:04.5Z"', '"2024-02-29T00:00:00.000Z"', '"1969-12-31T23:59:59.999999Z"'),
  ...good('"1582-10-10T00:00:00.1Z"', '"2026-01-01T02:03:04.123456Z"'),
  ...bad('"0000-01-01T00:00:00Z"', '"2023-02-29T00:00:00Z"', '"2026-01-01T24:00:00Z"', '"2026-01-01T23:59:60Z"'),
  ...good('"2026-01-01T02:03:04+00:00"', '"2026-01-01T02:03:04.123-11:30"', '"0002-01-01T00:00:00+14:00"'),
  ...bad('"0001-01-01T00:00:00+14:00"', '"9999-12-31T23:59:59-01:00"', '"2026-01-01T02:03:04+25:00"'),
  ...bad('"2026-01-01T02:03:04.1234567Z"', '"2026-01-01T02:03:04+01"', '"2026-01-01"', '1767232800', '""'),
  ...bad('"2026-01-01T00:00Z"', '"2026-01-01T00:00:00"', '"2026-01-01 00:00:00Z"', '"2026-01-01T00:00:00.Z"', 'true'),
  ...bad('"2026-13-01T00:00:00Z"', '"2026-00-10T00:00:00Z"', '"2026-01-01T00:60:00Z"', '"+012026-01-01T00:00:00Z"'),
  ...bad('" 2026-01-01T00:00:00Z"', '"2026-01-01T00:00:00Z\\n"'),
  ...bad('"10000-01-01T00:00:00Z"', '"-0001-01-01T00:00:00Z"', '"2026-01-01t02:03:04z"', '"infinity"', '"epoch"'),
];
const BOOLEANS: Raw[] = [...good('null', 'true', 'false'), ...bad('"true"', '"Yes"', '""', '1', '0')];
const URLS: Raw[] = [
  ...good('null', '"https://e.com"', '"HTTPS://E.com/\u00e9"', '"https://e.com/e\u0301"', '"https://e.com/\\u2028"'),
  ...good('"ftp://x"', '"https://e.com/\\ud83d\\ude00?a=\\"b\\""', `"https://e.com/${'x'.repeat(5000)}"`, '"a://b"'),
  ...good('"https://[::1]:8080/x?q=%2F&b=#c"', '"android-app://com.example/x"', '"http://a"'),
  ...bad('"/relative"', '""', '"//www.example.com/"', '"www.example.com"'),
  ...bad('"https:///a"', '"https://?q"', '"https://#"'),
  ...bad('"https:/a"', '" https://a"', '"https://e.com/a b"', '"https://a/\\n"', '"https://e.com/\\u0000"'),
  ...bad('"https://a/\\u007f"', '"https://e.com/\\ud800"', '"https://"', '1', 'true', '{}', '[]'),
];
const LISTS: Raw[] = [
  ...good('null', '[]', '["https://e.com/s.xml"]', '["https://e.com/s.xml","https://e.com/s.xml"]'),
  ...good(`[${Array.from({ length: 1000 }, (_, at) => `"https://e.com/${at}.xml"`).join()}]`, '[ "a://b" ,\n"a://c" ]'),
  ...bad('[null]', '["/s.xml"]', '"https://e.com/s.xml"', '{}', '[["https://e.com"]]', '["https://e.com/\\udfff"]'),
];

/** What any unknown field may hold; whether it can be stored follows from the whole record. */
const VALUES = [
  ...['null', '1', '-0', '1e400', '-1e400', '1e-400', '123456789012345678901234567890', '0.1e-7', '9007199254740993'],
  ...['{"a":1,"a":{"b":2,"b":3}}', '{"A":1,"a":2}', '{"":{"":""}}', '{"__proto__":{"x":1}}', '[[[[]]]]', '[1,[2,{}]]'],
  ...['"\\u0000"', '{"\\u0000":"\\u0000"}', '"\\ud83d\\ude00"', '"\\ud800"', '{"\\udc00":1}', '["a\\ud800"]'],
  ...[`"${'x'.repeat(20_000)}"`, `${'['.repeat(300)}${']'.repeat(300)}`, '"\\"a\\":1"', '{"url":"x"}'],
];
const KEYS = [
  ...['""', '" "', '"URL"', '"Url"', '"Index_Summary"', '"__proto__"', '"constructor"', '"toString"', '"snapshot_id"'],
  ...['"k"', '"K"', '"\u00e9"', '"e\u0301"', '"a.b"', '"$.x"', '"\\"q\\""', '"\\u0000"', '"a\\u0000b"', '"a\\u0000c"'],
  ...['"entry"', '"kind"', '"extra"', '"\\ud83d\\ude00"', '"\\ud800"', '"\\n"', '"\\\\"', '"\'; drop table coverage"'],
];

/** Texts for a field, some of which its contract allows. */
function poolFor(field: string): Raw[] {
  if (field === 'canonicals_match') return BOOLEANS;
  if (field === 'days_since_last_crawl') return INTEGERS;
  if (field === 'sitemaps') return LISTS;
  if (isTime(field)) return TIMES;
  return /(_link|_canonical)$/.test(field) ? URLS : TEXTS;
}

export function isTime(field: string): boolean {
  return /(_time|_timestamp)$/.test(field) || field === 'inspection_date' || field === 'page_detection';
}

/** Members of a record, and whether the contract allows the known ones that count: the last of each name. */
export interface Members {
  members: string[];
  good: boolean;
}

/** One record for each text of each field, and one for each unknown field with one value or another. */
export function poisonedMembers(fields: readonly string[]): Members[] {
  const known = fields
    .filter((field) => field !== 'url')
    .flatMap((field) => poolFor(field).map(({ text, good }) => ({ members: [`"${field}":${text}`], good })));
  const doubled = known.map(({ members, good }, at) => {
    // The same field stands there before, with a text that the contract may refuse.
    const [first = ''] = known[at + 1]?.members ?? [];
    const isSame = first.split(':')[0] === members[0]?.split(':')[0];
    return { members: isSame ? [first, ...members] : members, good };
  });
  const unknown = KEYS.flatMap((key, at) =>
    [0, 7, 14].map((more) => ({ members: [`${key}:${VALUES[(at + more) % VALUES.length]}`], good: true })),
  );
  return [...doubled, ...unknown];
}

/** The text of a record; its URL stands first, last, or twice. */
export function recordText({ members }: Members, url: string, at: number): string {
  const named = `"url":${JSON.stringify(url)}`;
  const all = [
    [named, ...members],
    [...members, named],
    ['"url":"https://e.com/not-this"', ...members, `"\\u0075rl":${JSON.stringify(url)}`],
  ][at % 3];
  const space = ['', ' ', '\n', '\r\n\t'][at % 4];
  return `{${space}${all?.join(`${space},${space}`)}${space}}`;
}

/** Half of a surrogate pair anywhere in what a text means: no storage for text can hold it. */
export function holdsHalfAPair(text: string): boolean {
  return /\\ud[89a-f]/.test(JSON.stringify(JSON.parse(text)));
}

/** A listing that is one window of these entries. */
export function windowText(entries: string[]): string {
  return `{"urls":[${entries.join(',\n')}],"pagination":{"next_page":null,"end":true,"count":${entries.length},"skip":0}}`;
}
