import { TextDecoder } from 'node:util';
import sax from 'sax';
import { SiteError } from './site-fetch.js';

const MAX_ADDRESSES = 50_000;
/** Of an address or a date; what is longer is cut, and then is none. */
const MAX_TEXT = 10_000;
/** sax keeps what is open: a sitemap has four levels, with a few attributes each. */
const MAX_OPEN = 100;
const CROWDED = `is no sitemap (more than ${MAX_OPEN} elements or attributes in one); correct it`;
const HTML = 'is an HTML page, not a sitemap; correct its address, or answer 404 if it is gone';
const OPTIONS: sax.SAXOptions & { strictEntities: boolean } = { strictEntities: true };

/** A page of a sitemap or a sitemap of an index, as written. */
export interface Entry {
  loc?: string;
  lastmod?: string;
}

/** Takes an entry of a sitemap, of an index or of a list of addresses. */
type Take = (entry: Entry, isIndex: boolean) => void;

/** What takes the text of a file, piece by piece. */
interface Reader {
  write(text: string): unknown;
  close(): unknown;
}

/** Reads an unpacked file. @throws SiteError if it is no sitemap, broken or too long */
export async function readSitemap(pieces: AsyncIterable<Buffer>, take: Take): Promise<void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let count = 0;
  const counted: Take = (entry, isIndex) => {
    if (++count > MAX_ADDRESSES) fail('has more than 50,000 addresses, which search engines refuse too; split it');
    take(entry, isIndex);
  };
  let reader: Reader | null = null;
  for await (const piece of pieces) {
    const text = decoded(decoder, piece);
    const start: string = reader === null ? text.trimStart() : text;
    if (start === '') continue;
    reader ??= start.startsWith('<') ? xmlReader(counted) : lineReader(counted);
    reader.write(start);
  }
  decoded(decoder);
  if (reader === null) fail('is empty; check what writes it');
  reader.close();
}

function decoded(decoder: TextDecoder, piece?: Buffer): string {
  try {
    return decoder.decode(piece, { stream: piece !== undefined });
  } catch {
    return fail('is not UTF-8 text; write it as UTF-8');
  }
}

/** Reads `loc` and `lastmod` of each `url` or `sitemap` below the root, whatever the prefix of their names. */
function xmlReader(take: Take): Reader {
  const parser = sax.parser(true, OPTIONS);
  const open: string[] = [];
  let isOfIndex = false;
  let [text, attributes, entry]: [string, number, Entry] = ['', 0, {}];
  parser.onerror = ({ message }) => fail(`is broken XML (${message.replaceAll('\n', ', ').slice(0, 200)}); correct it`);
  parser.ondoctype = (type) => fail(/^\s*html/i.test(type) ? HTML : 'has a doctype, which is refused; remove it');
  parser.onattribute = () => ++attributes > MAX_OPEN && fail(CROWDED);
  // Before its attributes: those of HTML may be no XML.
  parser.onopentagstart = ({ name }) => {
    if (open.push(name) > MAX_OPEN) fail(CROWDED);
    [text, attributes] = ['', 0];
    if (open.length === 1) isOfIndex = isIndex(localOf(name));
    if (open.length === 2) entry = {};
  };
  parser.ontext = (piece) => {
    text = (text + piece).slice(0, MAX_TEXT);
  };
  parser.oncdata = parser.ontext;
  parser.onclosetag = (name) => {
    const local = localOf(name);
    const isOwn = open.length === 3 && name === `${open[1]?.slice(0, -localOf(open[1]).length)}${local}`;
    if (isOwn && (local === 'loc' || local === 'lastmod')) entry[local] = text.trim();
    if (open.length === 2 && local === (isOfIndex ? 'sitemap' : 'url') && entry.loc) take(entry, isOfIndex);
    open.pop();
  };
  return parser;
}

function localOf(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function isIndex(root: string): boolean {
  if (/^html$/i.test(root)) fail(HTML);
  if (/^(rss|feed|RDF)$/.test(root)) throw new SiteError('is a feed and was passed over; write a sitemap', true);
  if (/^(urlset|sitemapindex)$/.test(root)) return root === 'sitemapindex';
  return fail(`is no sitemap (it begins with <${root.slice(0, 40)}>); correct its address`);
}

function lineReader(take: Take): Reader {
  let [line, isFirst] = ['', true];
  const write = (text: string) => {
    const [rest = '', ...lines] = text.split(/[\r\n]/);
    line = (line + rest).slice(0, MAX_TEXT);
    for (const next of lines) {
      const loc = line.trim();
      if (isFirst && loc !== '' && !/^https?:/i.test(loc)) fail('is neither XML nor a list of addresses; correct it');
      if (loc !== '') {
        take({ loc }, false);
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
