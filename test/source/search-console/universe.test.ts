import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Stopped } from '../../../src/base/exit.js';
import { realEffects } from '../../../src/base/time.js';
import { SourceError } from '../../../src/source/errors.js';
import { SITEMAP_FACTS_UNKNOWN } from '../../../src/source/search-console/google-client.js';
import { SiteFetch, type SiteFetchOptions } from '../../../src/source/search-console/site-fetch.js';
import { type Sighting, Universe, type UniverseDeps } from '../../../src/source/search-console/universe.js';
import { http, type RawAnswer, startRawServer, trickle } from '../../given/raw-server.js';
import { Clock } from '../../given/warehouse.js';

const SITE = 'https://shop.example';
const WWW = 'https://www.shop.example';
const OTHER = 'https://other.example';
const HEAD = 'HTTP/1.1 200 OK\r\n\r\n';

type Files = Record<string, string | Buffer | RawAnswer>;

const sitemap = (...inner: string[]) =>
  `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${inner.join('')}</urlset>`;
const page = (url: string) => `<url><loc>${url}</loc></url>`;
const index = (...urls: string[]) =>
  `<sitemapindex>${urls.map((url) => `<sitemap><loc>${url}</loc></sitemap>`).join('')}</sitemapindex>`;
const redirect = (to: string) => () => http(301, '', { location: to });

/** The list of sitemaps in Search Console. */
const submitted =
  (...paths: string[]) =>
  async () =>
    paths.map((path) => ({ path, ...SITEMAP_FACTS_UNKNOWN }));

/** Lists a site on loopback: its files by host and path, or by path; others answer 404. */
async function read(files: Files, deps: Partial<UniverseDeps> = {}, options: Partial<SiteFetchOptions> = {}) {
  const server = await startRawServer((request, socket) => {
    const host = /^host: (.*)$/im.exec(request.head)?.[1]?.trim();
    const file = files[`https://${host}${request.target}`] ?? files[request.target];
    if (typeof file === 'function') return file(request, socket);
    return file === undefined ? http(404) : http(200, file);
  });
  const site = new SiteFetch({
    origin: server.url,
    userAgent: 'indexhouse/1.2.3',
    timeout: 10_000,
    effects: new Clock().effects,
    ...options,
  });
  const all = new Universe({
    property: 'sc-domain:shop.example',
    sitemaps: 'auto',
    listSitemaps: async () => [],
    searched: null,
    site,
    notAfter: Number.POSITIVE_INFINITY,
    ...deps,
  });
  const sightings: Sighting[] = [];
  for await (const batch of all.sightings()) {
    sightings.push(...batch);
  }
  return { server, sightings, urls: sightings.map(({ url }) => url), problems: all.problems, notes: all.notes };
}

const listing = (...paths: string[]) => ({ sitemaps: paths.map((path) => SITE + path) });

describe('where pages are found', () => {
  it('joins what Search Console and robots.txt list, each file once, without credentials', async () => {
    const robots = `\uFEFFSITEMAP : /a.xml # main\r\n# Sitemap: /no.xml\r\nsitemap:${WWW}/b.txt#x\r\nSitemap: https://`;
    const lastmod = '<lastmod> 2026-11-01T10:00:00+02:00 </lastmod>';
    const files = {
      'https://shop.example/robots.txt': gzipSync(robots),
      '/a.xml': sitemap(`<url><loc>${SITE}/é?a=1&amp;b=2#top</loc>${lastmod}</url>`),
      '/b.txt': `${SITE}/b\r\n\r\nftp://shop.example/d`,
    };
    const { server, sightings, problems, notes } = await read(files, { listSitemaps: submitted(`${SITE}/a.xml`) });
    expect(sightings.toSorted((one, other) => (one.url < other.url ? -1 : 1))).toEqual([
      { url: `${SITE}/%C3%A9?a=1&b=2`, sitemap: `${SITE}/a.xml`, lastmod: '2026-11-01T08:00:00.000Z' },
      { url: `${SITE}/b`, sitemap: `${WWW}/b.txt` },
    ]);
    expect(problems).toEqual([]);
    expect(notes.toSorted()).toEqual([
      expect.stringContaining(`${SITE}/robots.txt lists https://, which is no address`),
      expect.stringContaining('b.txt has 1 link outside the property'),
    ]);
    const asked = server.requests.map(({ target }) => target).toSorted();
    expect(asked).toEqual(['/a.xml', '/b.txt', '/robots.txt', '/robots.txt']);
    const heads = server.requests.map(({ head }) => head).join('\n');
    expect(heads).toContain('user-agent: indexhouse/1.2.3');
    expect(heads).not.toMatch(/authorization|cookie/i);
  });

  it.each(['America/New_York', 'Asia/Kolkata'])(
    'reads a date without a zone as UTC on a machine in %s',
    async (zone) => {
      vi.stubEnv('TZ', zone);
      onTestFinished(() => void vi.unstubAllEnvs());
      const dates = ['2026-11-01', '2026-11-1', 'Sun, 01 Nov 2026', '2026-11-01T00:00', '2026-11-01 12:00 AM'];
      const zoned = ['Sun, 01 Nov 2026 00:00:00 GMT', '2026-11-01T02:00:00+02:00'];
      const urls = [...dates, ...zoned].map((at) => `<url><loc>${SITE}/a</loc><lastmod>${at}</lastmod></url>`);
      const { sightings } = await read({ '/a.xml': sitemap(...urls) }, listing('/a.xml'));
      expect(sightings.map(({ lastmod }) => lastmod)).toEqual(urls.map(() => '2026-11-01T00:00:00.000Z'));
    },
  );

  it('reads sitemaps on other hosts if they are listed or redirected to, and takes only pages of the property', async () => {
    const pages = (name: string) => sitemap(page(`${SITE}/${name}`), page(`${OTHER}/no`));
    const files = {
      'https://shop.example/robots.txt': `Sitemap: ${OTHER}/robots.xml`,
      [`${OTHER}/robots.xml`]: index(`${OTHER}/child.xml`, 'https://third.example/no.xml'),
      [`${OTHER}/child.xml`]: pages('child'),
      [`${OTHER}/google.xml`]: pages('google'),
      '/moved.xml': redirect(`${OTHER}/moved.xml`),
      [`${OTHER}/moved.xml`]: index(`${OTHER}/below.xml`),
      [`${OTHER}/below.xml`]: pages('below'),
    };
    const listSitemaps = submitted(`${OTHER}/google.xml`, `${SITE}/moved.xml`);
    const { server, urls, problems, notes } = await read(files, { listSitemaps });
    expect(urls.toSorted()).toEqual(['below', 'child', 'google'].map((name) => `${SITE}/${name}`));
    expect([problems, notes.length]).toEqual([[], 4]);
    expect(server.requests.map(({ head }) => head).join('\n')).not.toMatch(/third\.example|authorization|cookie/i);
  });

  it('reads robots.txt of each host with pages, 50 at most, and fails with it only where pages are', async () => {
    const hosts = Array.from({ length: 60 }, (_, at) => `https://${at}.shop.example`);
    const files = {
      'https://shop.example/robots.txt': () => http(403),
      'https://www.shop.example/robots.txt': (_: unknown, socket: Parameters<RawAnswer>[1]) => void socket.destroy(),
      'https://1.shop.example/robots.txt': () => http(401),
      'https://2.shop.example/robots.txt': 'Sitemap: /2.xml',
      '/2.xml': sitemap(page(`${SITE}/2`)),
    };
    const paths = [`${hosts[2]}/2.xml`];
    const shown = {
      entries: 60,
      error: null,
      remark: null,
      left: 0,
      doubtful: 0,
      hosts: hosts.map((host) => `${host}/`),
    };
    const withPages = await read(files, { searched: shown });
    expect(withPages.urls).toContain(`${SITE}/2`);
    expect(withPages.sightings.find(({ url }) => url === `${SITE}/2`)).toMatchObject({ sitemap: paths[0] });
    expect(withPages.problems).toEqual([expect.stringContaining(`${hosts[1]}/robots.txt answered 401`)]);
    expect(withPages.server.requests.filter(({ head }) => /^host: \d/im.test(head))).toHaveLength(51);
    expect((await read(files)).problems).toEqual([]);
    for (const status of [401, 403, 404, 429, 500]) {
      const site = { 'https://shop.example/robots.txt': () => http(status), '/a.xml': sitemap(page(`${SITE}/a`)) };
      const { problems } = await read({ ...files, ...site }, { listSitemaps: submitted(`${WWW}/a.xml`) });
      const refusal = expect.stringContaining(`${SITE}/robots.txt answered ${status}`);
      expect(problems).toEqual(status === 404 ? [] : [refusal]);
    }
  });

  it('follows indexes two deep and redirects within the property, and unpacks by bytes, whatever the name says', async () => {
    const files = {
      '/0.xml': index(`${SITE}/1.xml`, `${SITE}/twice.xml.gz`, 'https://other.example/x.xml'),
      '/1.xml': index(`${SITE}/2.xml`, `${SITE}/0.xml`),
      '/2.xml': redirect('https://www.shop.example/moved.xml'),
      'https://www.shop.example/moved.xml': sitemap(page(`${SITE}/2`)),
      '/twice.xml.gz': () => http(200, gzipSync(gzipSync(`${SITE}/twice`)), { 'content-encoding': 'gzip' }),
      '/plain.xml.gz': sitemap(page(`${SITE}/plain`)),
      '/deep.xml': index(`${SITE}/deep1.xml`),
      '/deep1.xml': index(`${SITE}/deep2.xml`),
      '/deep2.xml': index(`${SITE}/deep3.xml`),
    };
    const { sightings, problems, notes } = await read(files, listing('/0.xml', '/plain.xml.gz', '/deep.xml'));
    const seen = sightings.map(({ url, sitemap }) => `${sitemap} ${url}`.replaceAll(SITE, ''));
    expect(seen.toSorted()).toEqual(['/2.xml /2', '/plain.xml.gz /plain', '/twice.xml.gz /twice']);
    expect(problems).toEqual([expect.stringMatching(/deep2\.xml is an index below two others/)]);
    expect(notes).toEqual([expect.stringMatching(/0\.xml has 1 link outside the property/)]);
  });
});

describe('a file that cannot be read', () => {
  const first = page(`${SITE}/first`);
  const BAD: [string, string, string | Buffer | RawAnswer, Partial<SiteFetchOptions>?][] = [
    ['an HTML page', 'is an HTML page', '<!doctype html><html><body>Not found</body></html>'],
    ['broken XML', 'is broken XML (Unexpected close tag', sitemap(first, '</urlx>')],
    ['a file without entries', 'has no entries', sitemap()],
    ['other XML', 'is no sitemap (it has no <urlset>', '<error><code>wp_die</code></error>'],
    ['a nest without a floor', 'is no sitemap (more than 100', `<urlset>${'<a>'.repeat(1e6)}`],
    ['another encoding', 'is not UTF-8', Buffer.from(sitemap(page(`${SITE}/é`)), 'latin1')],
    ['too many pages', 'has more than 50,000 addresses', `${SITE}/\n`.repeat(50_001)],
    ['a body that trickles', 'cannot be read: no complete', trickling, { timeout: 1500 }],
    ['a redirect nowhere', 'redirects to ftp://other.example/', redirect('ftp://other.example/')],
    ['a redirect in circles', 'redirects more than 5 times', redirect('/bad')],
  ];
  it.each(BAD)('%s is a problem that names it, and the others are read', async (_, message, file, options = {}) => {
    const files = { '/bad': file, '/good.xml': sitemap(page(`${SITE}/good`)) };
    const { urls, problems, notes } = await read(files, listing('/bad', '/good.xml', '/gone'), options);
    expect(problems).toEqual([expect.stringContaining(`${SITE}/bad ${message}`)]);
    expect(problems[0]).toMatch(/; \w+/);
    expect(problems[0]).not.toMatch(/\b(api|google)\./);
    expect(urls).toContain(`${SITE}/good`);
    // A file that is gone is no problem.
    expect(notes).toEqual([expect.stringContaining(`${SITE}/gone answered 404,`)]);
  });

  it.each(['/robots.txt', '/a.txt'])('%s is asked again where its server is busy or breaks off', async (path) => {
    const answers = [http(503), 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n<'];
    const files: Files = { '/robots.txt': 'Sitemap: /a.txt', '/a.txt': `${SITE}/blog/a\n${SITE}/b` };
    const busy = { ...files, [path]: () => answers.shift() ?? http(200, String(files[path])) };
    // Of a URL prefix only its pages, from sitemaps anywhere on its host.
    const { urls, problems } = await read(busy, { property: `${SITE}/blog/` });
    expect([urls, problems]).toEqual([[`${SITE}/blog/a`], []]);
  });

  it('of a robots.txt of 1 MB only the beginning is read', async () => {
    const filled = `\nSitemap: /a.txt\n${'sitemap'.repeat(2 ** 20 / 7)}`;
    const files = { '/robots.txt': `${filled}\nSitemap: /late.txt`, '/a.txt': `${SITE}/a` };
    const { urls, problems, notes } = await read(files, { property: `${SITE}/` });
    expect([urls, problems, notes]).toEqual([[`${SITE}/a`], [], []]);
  });

  const [a, b] = [page(`${SITE}/a`), page(`${SITE}/b`)];
  const loc = (path: string) => `<loc>${SITE}${path}</loc>`;
  const inIndex = (...inner: string[]) =>
    `<sitemapindex>${inner.map((one) => `<sitemap>${one}</sitemap>`).join('')}</sitemapindex>`;
  const PARTLY: [string, string, string[]][] = [
    ['relative addresses', sitemap(page('/c'), a, page('shop.example/d'), b), ['has 2 relative links (/c); write']],
    ['several files in an entry of an index', inIndex(loc('/a.txt') + loc('/b.txt')), []],
    ['an entry without an address', inIndex('', loc('/a.txt'), loc('/b.txt')), ['has no address in 1 place;']],
    ['a broken entry', sitemap(a, page(`${SITE}/&f;`), b), ['is broken XML (Invalid character']],
    ['a doctype', `<!DOCTYPE urlset SYSTEM "${SITE}/no.dtd" [<!ENTITY a "${SITE}/no">]>${sitemap(a, b)}`, []],
  ];
  it.each(PARTLY)('gives what can be read: %s', async (_, file, messages) => {
    const files = { '/bad': file, '/a.txt': `${SITE}/a`, '/b.txt': `${SITE}/b` };
    const { server, urls, problems, notes } = await read(files, listing('/bad'));
    expect(urls).toEqual([`${SITE}/a`, `${SITE}/b`]);
    expect(problems).toHaveLength(Math.min(1, messages.length));
    for (const message of messages) expect(problems[0]).toContain(message);
    expect(notes).toEqual([]);
    expect(server.requests.map(({ target }) => target)).not.toContain('/no.dtd');
  });

  it('ends the reading of a site that is down', async () => {
    const many = Array.from({ length: 500 }, (_, at) => `/down${at}`);
    const down = Object.fromEntries(many.map((path) => [path, () => http(500)]));
    const { problems } = await read(down, listing(...many));
    expect(problems.slice(100)).toEqual([
      expect.stringMatching(/^400 places of sc-domain:shop.example .* not read after/),
    ]);
  });
});

it('a listing ends in time with what was read by then, and names what was left', async () => {
  const many = Array.from({ length: 80 }, (_, at) => `/${at}.xml`);
  const slow = (path: string) => (_: unknown, socket: Parameters<RawAnswer>[1]) =>
    void setTimeout(() => socket.end(http(200, sitemap(page(SITE + path)))), 200);
  const files = { ...Object.fromEntries(many.map((path) => [path, slow(path)])), '/7.xml': trickling };
  const began = Date.now();
  const late = { ...listing(...many), notAfter: began + 1_000 };
  const { urls, problems } = await read(files, late, { effects: realEffects });
  expect(Date.now() - began).toBeLessThan(2_500);
  expect(urls.slice(0, 4)).toEqual([0, 1, 2, 3].map((at) => `${SITE}/${at}.xml`));
  expect(problems).toEqual([
    expect.stringMatching(/^\d\d places of sc-domain:shop.example \(https:.*xml, .* …\) not read in time .*; \w/),
  ]);
});

it('a listing ends where the credentials are refused, and at once when it is asked to stop', async () => {
  const refused = () => Promise.reject(new SourceError('unauthorized', 'no'));
  await expect(read({}, { listSitemaps: refused })).rejects.toThrow('no');
  const stop = new AbortController();
  const files = { '/slow': () => void setTimeout(() => stop.abort(), 50) };
  await expect(read(files, listing('/slow'), { signal: stop.signal })).rejects.toThrow(Stopped);
});

function trickling(_: unknown, socket: Parameters<RawAnswer>[1]): undefined {
  socket.write(HEAD);
  return trickle(socket, ' ');
}
