import { brotliCompressSync, deflateRawSync, gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { SiteFetch } from '../../../src/source/search-console/site-fetch.js';
import { readSitemap } from '../../../src/source/search-console/sitemap.js';
import { http, startRawServer } from '../../given/raw-server.js';

/** The addresses of a sitemap that a server answers with. */
async function readBack(body: string | Buffer, headers: Record<string, string> = {}): Promise<string[]> {
  const server = await startRawServer(() => http(200, body, headers));
  const site = new SiteFetch({ origin: server.url, userAgent: 'x', timeout: 10_000 });
  const found: string[] = [];
  await site.get('https://shop.example/sitemap.xml', {
    notAfter: Number.POSITIVE_INFINITY,
    read: (body) => readSitemap(body, ({ addresses }) => found.push(...addresses)),
  });
  return found;
}

it.each(['', 's:'])('gives back every address, however its sitemap is written and packed: %j', async (p) => {
  const url = "https://shop.example/é漢😀&<'%?";
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const codings = [
    escaped(url),
    [...url].map((one) => `&#${one.codePointAt(0)};`).join(''),
    `<![CDATA[${url}]]>`,
    `\r\n\t<![CDATA[${url.slice(0, 9)}]]>${escaped(url.slice(9))}<?php no ?>`,
  ];
  const others = [
    '<image:image><image:loc>https://cdn.example/i.png</image:loc></image:image><priority>0.5</priority>',
    '<xhtml:link rel="alternate" href="https://shop.example/de"/><!-- <loc>https://shop.example/no</loc> -->',
  ];
  const urls = codings.map((coded) => `<${p}url>${others[0]}<${p}loc>${coded}\n</${p}loc>${others[1]}</${p}url>`);
  const text = `\uFEFF<?xml version="1.0" encoding="UTF-8"?><${p}urlset>${urls.join('')}</${p}urlset>\n`;
  for (const body of [Buffer.from(text), gzipSync(text), gzipSync(gzipSync(text))])
    expect(await readBack(body)).toEqual(codings.map(() => url));
});

const ROOT = '<urlset><url><loc>https://shop.example/é</loc></url></urlset>';
const declared = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?>\n${ROOT}`;
const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16();
const latin = { 'content-type': 'text/xml; charset="ISO-8859-1"' };
const br = { 'content-encoding': 'br' };
const deflate = { 'content-encoding': 'deflate' };

it.each<[string, Buffer, Record<string, string>?]>([
  ['UTF-16 with a mark', Buffer.from(`\uFEFF${declared('utf-16')}`, 'utf16le')],
  ['UTF-16 of the other order', utf16be(`\uFEFF${ROOT}`)],
  ['UTF-16 without a mark', utf16be(declared('UTF-16'))],
  ['UTF-8 with a mark, whatever it says', Buffer.from(`\uFEFF${declared('iso-8859-1')}`)],
  ['Latin-1 by its own label', Buffer.from(declared('ISO-8859-1'), 'latin1')],
  ['Latin-1 by the label of the server', Buffer.from(ROOT, 'latin1'), latin],
  ['gzip in Brotli', brotliCompressSync(gzipSync(ROOT)), br],
  ['deflate without its header', deflateRawSync(ROOT), deflate],
  ['gzip that is called deflate', gzipSync(ROOT), deflate],
])('decodes %s', async (_, body, headers) => {
  expect(await readBack(body, headers)).toEqual(['https://shop.example/é']);
});

it.each([
  [
    'RSS 2.0',
    '<rss xmlns:atom="a"><channel><link>no</link><atom:link href="no"/><item><link>1</link><guid>no</guid></item><item><title/><link><![CDATA[2]]></link></item></channel></rss>',
  ],
  [
    'RSS 1.0',
    '<rdf:RDF><channel><link>no</link></channel><item><link>1</link></item><item><link>2</link></item></rdf:RDF>',
  ],
  [
    'Atom',
    '<feed><link href="no"/><entry><link rel="self" href="no"/><link href="1"/></entry><entry><link rel="alternate" href="2"/></entry></feed>',
  ],
])('reads the entries of a feed: %s', async (_, feed) => {
  expect(await readBack(feed)).toEqual(['1', '2']);
});

it('reads a bomb of 1 GB and a sitemap of 50,000 pages in little memory', async () => {
  const member = gzipSync(Buffer.alloc(2 ** 24, ' '));
  const bomb = Buffer.concat([gzipSync('<urlset>'), ...Array<Buffer>(64).fill(member), gzipSync('</urlset>')]);
  const pages = Array.from({ length: 50_000 }, (_, at) => `<url><loc>https://shop.example/${at}</loc></url>`);
  const before = process.memoryUsage.rss();
  await expect(readBack(bomb)).rejects.toThrow('larger than 50 MB');
  expect(await readBack(`<urlset>${pages.join('')}</urlset>`)).toHaveLength(50_000);
  expect((process.memoryUsage.rss() - before) / 2 ** 20).toBeLessThan(150);
});
