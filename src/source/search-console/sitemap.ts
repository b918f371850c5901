import { isUtf8 } from 'node:buffer';
import sax from 'sax';
import { SiteError } from './site-fetch.js';

const MAX_ADDRESSES = 50_000;
/** Of an address or a date; what is longer is cut, and then is none. */
const MAX_TEXT = 10_000;
/** sax keeps what is open: a sitemap has four levels, with a few attributes each. */
const MAX_OPEN = 100;
/** Bytes that sax reads at a time. */
const PIECE = 64 * 1024;
const CROWDED = `is no sitemap (more than ${MAX_OPEN} elements or attributes in one); correct it`;
const HTML = 'is an HTML page, not a sitemap; correct its address, or answer 404 if it is gone';
const OPTIONS: sax.SAXOptions & { strictEntities: boolean } = { strictEntities: true };

/** A page of a sitemap or a sitemap of an index, as written. */
export interface Entry {
  loc?: string;
  lastmod?: string;
}

/** The entries of a sitemap, of an index or of a list of addresses. */
export interface Sitemap {
  isIndex: boolean;
  entries: Entry[];
}

/** Reads an unpacked file. @throws SiteError if it is no sitemap, broken or too long */
export function readSitemap(file: Buffer): Sitemap {
  if (!isUtf8(file)) fail('is not UTF-8 text; write it as UTF-8');
  const start = file.toString('utf8', 0, PIECE).trimStart();
  if (start === '') fail('is empty; check what writes it');
  const sitemap = { isIndex: false, entries: [] };
  if (start.startsWith('<')) readXml(file, sitemap);
  else readLines(file.toString(), sitemap);
  return sitemap;
}

/** Reads `loc` and `lastmod` of each `url` or `sitemap` below the root, whatever the prefix of their names. */
function readXml(file: Buffer, sitemap: Sitemap): void {
  const parser = sax.parser(true, OPTIONS);
  const open: string[] = [];
  let [text, attributes, entry]: [string, number, Entry] = ['', 0, {}];
  parser.onerror = ({ message }) => fail(`is broken XML (${message.replaceAll('\n', ', ').slice(0, 200)}); correct it`);
  parser.ondoctype = (type) => fail(/^\s*html/i.test(type) ? HTML : 'has a doctype, which is refused; remove it');
  parser.onattribute = () => ++attributes > MAX_OPEN && fail(CROWDED);
  // Before its attributes: those of HTML may be no XML.
  parser.onopentagstart = ({ name }) => {
    if (open.push(name) > MAX_OPEN) fail(CROWDED);
    [text, attributes] = ['', 0];
    if (open.length === 1) sitemap.isIndex = isIndex(localOf(name));
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
    if (open.length === 2 && local === (sitemap.isIndex ? 'sitemap' : 'url') && entry.loc) add(sitemap, entry);
    open.pop();
  };
  const decoder = new TextDecoder();
  for (let at = 0; at < file.length; at += PIECE) {
    parser.write(decoder.decode(file.subarray(at, at + PIECE), { stream: true }));
  }
  parser.close();
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

function readLines(text: string, sitemap: Sitemap): void {
  for (const [line] of text.matchAll(/\S[^\r\n]*/g)) {
    const loc = line.slice(0, MAX_TEXT).trim();
    if (sitemap.entries.length === 0 && !/^https?:/i.test(loc))
      fail('is neither XML nor a list of addresses; correct it');
    add(sitemap, { loc });
  }
}

function add({ entries }: Sitemap, entry: Entry): void {
  if (entries.push(entry) > MAX_ADDRESSES)
    fail('has more than 50,000 addresses, which search engines refuse too; split it');
}

function fail(message: string): never {
  throw new SiteError(message);
}
