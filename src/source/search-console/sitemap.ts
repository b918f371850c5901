import sax from 'sax';
import { counted } from '../../base/observe/format.js';
import { type Body, CutShort, SiteError, textOf } from './body.js';

const MAX_ADDRESSES = 50_000;
/** Of an address or a date; what is longer is cut, and then is none. */
const MAX_TEXT = 10_000;
/** sax keeps what is open: a sitemap has four levels, with a few attributes each. */
const MAX_OPEN = 100;
/** A file with more is something else. */
const MAX_ERRORS = 100;
const CROWDED = `is no sitemap (more than ${MAX_OPEN} elements or attributes in one); correct it`;
const HTML = 'is an HTML page, not a sitemap; correct its address, or answer 404 if it is gone';
const OPTIONS: sax.SAXOptions & { strictEntities: boolean } = { strictEntities: true };
/** The elements that are entries, by the element around them. */
const ENTRIES: ReadonlyMap<string, readonly string[]> = new Map([
  ['urlset', ['url', 'sitemap']],
  ['sitemapindex', ['url', 'sitemap']],
  ['rss', ['item']],
  ['rdf', ['item']],
  ['feed', ['entry']],
]);
/** The elements of an entry that have its address, and those that have its date. */
const ADDRESSES: ReadonlySet<string> = new Set(['loc', 'link']);
const DATES: ReadonlySet<string> = new Set(['lastmod', 'pubdate', 'updated']);

/** A page of a sitemap or a feed, or a sitemap of an index, as written. */
export interface Entry {
  isSitemap: boolean;
  /** One, unless its writer was wrong. */
  addresses: string[];
  lastmod?: string;
  /** Whether it is one of Google News, which leaves its sitemap after two days. */
  isNews: boolean;
}

type Take = (entry: Entry) => void;

/** What takes the text of a file, piece by piece. */
interface Reader {
  write(text: string): unknown;
  close(): unknown;
}

/** Reads each entry that can be read. @throws SiteError for the rest: no sitemap, broken, too long, empty */
export async function readSitemap(body: Body, take: Take): Promise<void> {
  let count = 0;
  const counted: Take = (entry) => {
    if (++count > MAX_ADDRESSES) fail('has more than 50,000 addresses, which search engines refuse too; split it');
    take(entry);
  };
  let reader: Reader | null = null;
  for await (const text of textOf(body)) {
    const start: string = reader === null ? text.trimStart() : text;
    if (start === '') continue;
    reader ??= start.startsWith('<') ? xmlReader(counted) : lineReader(counted);
    reader.write(start);
  }
  reader?.close();
  if (count === 0) fail(`${reader === null ? 'is empty' : 'has no entries'}; check what writes it`);
}

/** Reads the entries, however deep they are, whatever the prefix of their names. Skips those with broken XML. */
function xmlReader(take: Take): Reader {
  const parser: sax.SAXParser & { closedRoot?: boolean } = sax.parser(true, OPTIONS);
  const open: string[] = [];
  const errors: string[] = [];
  let [text, attributes, href, rel]: [string, number, string, string] = ['', 0, '', ''];
  let [prefix, names]: [string, readonly string[] | undefined] = ['', undefined];
  /** The open entry and how deep it is. */
  let [entry, depth]: [Entry | null, number] = [null, 0];
  parser.onerror = ({ message }) => {
    errors.push(message.replaceAll('\n', ', ').slice(0, 200));
    if (/^Unclosed root|^Unexpected end/.test(message)) throw new CutShort(broken(errors));
    if (errors.length > MAX_ERRORS) fail(broken(errors));
    entry = null;
    parser.resume();
  };
  parser.ondoctype = (type) => void (/^\s*html/i.test(type) && fail(HTML));
  parser.onattribute = ({ name, value }) => {
    if (++attributes > MAX_OPEN) fail(CROWDED);
    if (name === 'href') href = value.trim();
    if (name === 'rel') rel = value.trim();
  };
  // Before its attributes: those of HTML may be no XML.
  parser.onopentagstart = ({ name }) => {
    if (open.push(name) > MAX_OPEN) fail(CROWDED);
    [text, attributes, href, rel] = ['', 0, '', ''];
    const local = localOf(name);
    if (open.length === 1 && local === 'html') fail(HTML);
    // Something may stand before the root.
    parser.closedRoot = false;
    if (names === undefined) {
      names = ENTRIES.get(local);
      // The entries of RSS 1.0 are not in the namespace of their root.
      prefix = local === 'rdf' ? '' : prefixOf(name);
    } else if (prefixOf(name) === prefix && names.includes(local)) {
      [entry, depth] = [{ isSitemap: local === 'sitemap', addresses: [], isNews: false }, open.length];
    } else if (local === 'news' && entry && open.length === depth + 1) entry.isNews = true;
  };
  parser.ontext = (piece) => {
    text = (text + piece).slice(0, MAX_TEXT);
  };
  parser.oncdata = parser.ontext;
  parser.onclosetag = (name) => {
    if (entry && prefixOf(name) === prefix) {
      const local = localOf(name);
      if (open.length === depth) {
        take(entry);
        entry = null;
      } else if (open.length === depth + 1) {
        const address = text.trim() || (/^(alternate)?$/.test(rel) ? href : '');
        if (ADDRESSES.has(local) && address) entry.addresses.push(address);
        if (DATES.has(local)) entry.lastmod = text.trim();
      }
    }
    open.pop();
  };
  const close = () => {
    parser.close();
    if (names === undefined) fail('is no sitemap (it has no <urlset>, <sitemapindex> or feed); correct its address');
    if (errors.length > 0) fail(broken(errors));
  };
  return { write: (piece) => parser.write(piece), close };
}

function broken([first, ...others]: readonly string[]): string {
  return `is broken XML (${first}${others.length > 0 ? `, and ${others.length} more` : ''}); correct it`;
}

/** Without its prefix. Some write capitals. */
function localOf(name: string): string {
  return name.slice(prefixOf(name).length).toLowerCase();
}

function prefixOf(name: string): string {
  return name.slice(0, name.indexOf(':') + 1);
}

function lineReader(take: Take): Reader {
  let [line, isFirst] = ['', true];
  const write = (text: string) => {
    const [rest = '', ...lines] = text.split(/[\r\n]/);
    line = (line + rest).slice(0, MAX_TEXT);
    for (const next of lines) {
      const address = line.trim();
      if (isFirst && address !== '' && !/^https?:/i.test(address))
        fail('is neither XML nor a list of addresses; correct it');
      if (address !== '') {
        take({ isSitemap: false, addresses: [address], isNews: false });
        isFirst = false;
      }
      line = next.slice(0, MAX_TEXT);
    }
  };
  return { write, close: () => write('\n') };
}

function fail(message: string): never {
  throw new SiteError(message);
}

/** What is wrong with some entries of a sitemap: how many they are, and the address of the first. */
export type Flaws = Map<keyof typeof FLAWS, { entries: number; first: string }>;

export const FLAWS = {
  missing: (entries: number) => `has no address in ${counted(entries, 'place')}; correct what writes it`,
  relative: (entries: number, first: string) =>
    `has ${counted(entries, 'relative link')} (${first.slice(0, 200)}); write them with https:// and the host`,
  foreign: (entries: number) => `has ${counted(entries, 'link')} outside the property, ignored`,
} as const;

export function count(flaws: Flaws, flaw: keyof typeof FLAWS, address = ''): void {
  const { entries, first } = flaws.get(flaw) ?? { entries: 0, first: address };
  flaws.set(flaw, { entries: entries + 1, first });
}
