import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { atLength, casesAtLength, describeAtLength } from '../given/at-length.js';
import { endless, type OddWebsite, pagesOf, truncated, windowOf } from '../given/odd-service.js';
import { filesBelow, OddSync, TOKEN } from '../given/odd-sync.js';

/** Those of the websites that `npm test` syncs. */
function pick<W extends OddWebsite | null>(websites: Record<string, W>, ids: readonly string[]): Record<string, W> {
  return Object.fromEntries(Object.entries(websites).filter(([id]) => ids.includes(id)));
}

const HTML = '<!doctype html><title>Just a moment…</title>';

const good: OddWebsite = { listing: (window) => windowOf(pagesOf('good', 5), window) };

describe('websites that cannot be had, beside one that can', () => {
  const synced = new OddSync();
  const linkTo = (id: string, link: string): OddWebsite => ({
    listing: (window) => windowOf(pagesOf(id, 5), window, { next_page: link }),
  });
  const bodyOf = (body: string | Buffer): OddWebsite => ({ listing: () => ({ body }) });
  const websites: Record<string, OddWebsite | null> = {
    good,
    unknown: null,
    ungranted: {
      listing: () => ({ status: 403, body: `{"error":"forbidden","message":"not for ${TOKEN}","status":403}` }),
    },
    redirected: { listing: () => ({ status: 302, headers: { location: 'http://127.0.0.1:1/v1' } }) },
    absolute: linkTo('absolute', 'https://evil.example/v1/urls/x?skip=3'),
    protocol: linkTo('protocol', '//evil.example/v1/urls/x?skip=3'),
    userinfo: linkTo('userinfo', 'https://127.0.0.1@evil.example/'),
    climbing: linkTo('climbing', '/\\evil.example/'),
    html: bodyOf(HTML),
    malformed: bodyOf('{"urls":[{"url":"https://malformed.example/",}]'),
    errorbody: bodyOf('{"error":"internal","message":"sorry","status":500}'),
    echo: bodyOf(TOKEN),
    latin: bodyOf(Buffer.from([0x7b, 0xe4, 0x7d])),
    emoji: bodyOf('😀'),
    endless: { listing: () => endless },
    halved: { listing: (window) => truncated(windowOf(pagesOf('halved', 5), window).body) },
    broken: { listing: () => ({ status: 500, body: '{"error":"e","message":"😀","status":500}' }) },
  };
  const refused: [id: string, why: RegExp][] = [
    ['unknown', /404 \(not_found: No such website\.\); .*websites/],
    ['ungranted', /403 \(forbidden: not for \*\*\*\); the key has no access to this website: grant it, or remove/],
    ['redirected', /302; redirects are refused.*api\.base_url/],
    ['absolute', /next_page points outside api\.base_url: "https:\/\/evil\.example.*nothing was sent there\. Check/],
    ['protocol', /next_page points outside api\.base_url: "\/\/evil\.example.*nothing was sent there\. Check/],
    [
      'userinfo',
      /next_page points outside api\.base_url: "https:\/\/127\.0\.0\.1@evil.*nothing was sent there\. Check/,
    ],
    ['climbing', /next_page points outside api\.base_url.*nothing was sent there\. Check/],
    ['html', /is an HTML page, not JSON .*check api\.base_url/],
    ['malformed', /is not JSON .*check api\.base_url/],
    ['errorbody', /breaks the contract \(urls: .*check api\.base_url/],
    ['echo', /is not JSON .*check api\.base_url/],
    ['latin', /is not UTF-8 text; check api\.base_url/],
    ['emoji', /is not JSON .*check api\.base_url/],
    ['endless', /larger than \d+ MB; check api\.base_url/],
    ['halved', /the connection to http:\/\/127\.0\.0\.1:\d+ failed: .*try again/],
    ['broken', /500 \(e: 😀\); the service has a problem: try again later/],
  ];
  const chosen = casesAtLength(
    refused,
    ...['unknown', 'ungranted', 'redirected', 'absolute', 'userinfo', 'html', 'malformed', 'echo'],
  );
  beforeAll(() => synced.start(pick(websites, ['good', ...chosen.map(([id]) => id)])));
  afterAll(() => synced.stop());

  it('exits with 1, and what was good is committed', async () => {
    expect(synced.ended.code).toBe(1);
    expect(synced.of('good')).toMatchObject({
      status: 'committed',
      listing_status: 'complete',
      reports_status: 'complete',
    });
    expect((await synced.rows('coverage', 'good')).map(({ url }) => url)).toEqual(pagesOf('good', 5));
    expect(await synced.rows('url_reports', 'good')).toHaveLength(5);
  });

  it.each(chosen)('says of %s what is wrong and what to do, and records it', async (id, message) => {
    expect(synced.of(id)).toMatchObject({ status: 'failed', snapshot_id: null, error: expect.stringMatching(message) });
    expect(await synced.rows('runs', id)).toMatchObject([{ outcome: 'failed', error: expect.stringMatching(message) }]);
    expect(await synced.rows('snapshots', id)).toEqual([]);
  });

  it('leaves no journal behind, and the token nowhere', () => {
    const warehouse = join(synced.folder, 'warehouse');
    const left = existsSync(join(warehouse, 'runs')) ? filesBelow(join(warehouse, 'runs')) : [];
    expect(left).toEqual([]);
    const written = filesBelow(warehouse).map((file) => readFileSync(file, 'latin1'));
    for (const text of [...written, synced.ended.stdout, synced.ended.stderr]) expect(text).not.toContain(TOKEN);
  });
});

describeAtLength('a website that never answers', () => {
  const synced = new OddSync();
  beforeAll(() => synced.start({ silent: { listing: () => () => undefined } }, { api: { timeout: '1s' } }));
  afterAll(() => synced.stop());

  it('is given up after api.timeout', () => {
    const error = expect.stringContaining('no complete answer within 1000 ms (api.timeout)');
    expect(synced.of('silent')).toMatchObject({ status: 'failed', error });
  });
});

describe('listings that are not what they should be', () => {
  const synced = new OddSync();
  const violating = { url: 'https://violating.example/p1', days_since_last_crawl: 1.5, note: TOKEN };
  const websites: Record<string, OddWebsite> = {
    good,
    // One entry at a time, so that links are followed; the third page's link leads back.
    repeating: {
      listing: ({ skip }) =>
        windowOf(
          pagesOf('repeating', 5),
          { skip, limit: 1 },
          skip === 2 ? { next_page: '/v1/urls/repeating?skip=1&limit=1' } : {},
        ),
    },
    hollow: {
      listing: ({ skip, limit }) =>
        windowOf(
          skip === 0 ? pagesOf('hollow', 3) : [],
          { skip, limit },
          { count: 9, end: false, next_page: `/v1/urls/x?skip=${skip + 3}&limit=3` },
        ),
    },
    lateHtml: { listing: (window) => (window.skip === 0 ? windowOf(pagesOf('lateHtml', 5), window) : { body: HTML }) },
    lateHalf: {
      listing: (window) => {
        const whole = windowOf(pagesOf('lateHalf', 5), window);
        return window.skip === 0 ? whole : truncated(whole.body);
      },
    },
    violating: { listing: (window) => windowOf([pagesOf('violating', 1)[0] ?? '', violating, { no: 'url' }], window) },
    none: { listing: () => ({ body: '{"urls":[],"pagination":{}}' }) },
  };
  const partial: [id: string, accepted: number, why: RegExp][] = [
    ['repeating', 3, /next_page repeats \(\/v1\/urls\/repeating\?skip=1/],
    ['hollow', 3, /no window after entry 3 fits/],
    ['lateHtml', 3, /broke off after 3 entries: .*HTML page/],
    ['lateHalf', 3, /broke off after 3 entries: the connection to/],
    ['violating', 1, /2 of 3 entries break the contract, more than quality\.max_reject_ratio/],
    ['none', 0, /lists no pages and gives no count/],
  ];
  const chosen = casesAtLength(partial, 'repeating', 'lateHtml', 'violating');
  beforeAll(() => synced.start(pick(websites, ['good', ...chosen.map(([id]) => id)])));
  afterAll(() => synced.stop());

  it('exit with 3', () => {
    expect(synced.ended.code).toBe(3);
    expect(synced.of('good')).toMatchObject({ listing_status: 'complete' });
  });

  it.each(chosen)('%s: partial, with the %i pages that are good, and why', async (id, accepted, why) => {
    expect(synced.of(id)).toMatchObject({
      status: 'committed',
      listing_status: 'partial',
      error: expect.stringMatching(why),
    });
    expect((await synced.rows('coverage', id)).map(({ url }) => url)).toEqual(pagesOf(id, accepted));
  });

  it('keep what was refused, with its text', async () => {
    const refused = await synced.rows('rejected_records', 'violating');
    expect(refused).toHaveLength(2);
    expect(refused.map(({ url, source }) => [url, source])).toEqual([
      ['https://violating.example/p1', 'coverage'],
      [null, 'coverage'],
    ]);
    expect(JSON.parse(String(refused[0]?.['payload']))).toEqual({ ...violating, note: '***' });
    expect(JSON.stringify(refused[0]?.['issues'])).toContain('days_since_last_crawl');
    expect(await synced.rows('rejected_records', 'lateHtml')).toMatchObject([
      { source: 'coverage', url: null, payload: HTML },
    ]);
  });
});

describe('services that are odd, and no worse', () => {
  const synced = new OddSync();
  const odd = (id: string, pagination: (window: { skip: number }) => object): OddWebsite => ({
    listing: (window) => windowOf(pagesOf(id, 7), window, pagination(window)),
  });
  const websites: Record<string, OddWebsite> = {
    limited: {
      listing: (window) =>
        window.limit === null ? windowOf(pagesOf('limited', 7), { ...window, limit: 4 }) : { status: 422 },
    },
    early: odd('early', () => ({ end: true })),
    late: odd('late', () => ({ end: false })),
    linkless: odd('linkless', () => ({ next_page: null })),
    linking: odd('linking', ({ skip }) => ({ next_page: `/v1/urls/x?skip=${skip + 3}&limit=3` })),
    totals: odd('totals', () => ({ total_page: 77 })),
    bare: odd('bare', () => ({ end: null, next_page: null, count: null, total_page: null })),
    twice: { listing: (window) => windowOf([...pagesOf('twice', 4), 'https://twice.example/p1'], window) },
    empty: { listing: (window) => windowOf([], window) },
  };
  const chosen = atLength(['limited', 'linkless', 'twice'], Object.keys(websites));
  const complete = chosen.filter((id) => !['bare', 'twice', 'empty'].includes(id));
  beforeAll(() => synced.start(pick(websites, chosen)));
  afterAll(() => synced.stop());

  it('exit with 0, and every page is there', async () => {
    expect([synced.ended.code, synced.receipt.websites.map(({ error }) => error)]).toEqual([
      0,
      chosen.map(() => undefined),
    ]);
    for (const id of complete) {
      expect(synced.of(id)).toMatchObject({ listing_status: 'complete', pages: { listed: 7 } });
      expect((await synced.rows('coverage', id)).map(({ url }) => url)).toEqual(pagesOf(id, 7));
    }
    expect(synced.of('twice')).toMatchObject({ listing_status: 'complete', pages: { listed: 4 } });
    if (chosen.includes('empty'))
      expect(synced.of('empty')).toMatchObject({ listing_status: 'complete', pages: { listed: 0 } });
  });

  it('note it in the drift diary', async () => {
    const fields = async (id: string) => (await synced.rows('drift_observations', id)).map(({ field }) => field);
    if (chosen.includes('early')) expect(await fields('early')).toContain('pagination.end');
    expect(await fields('linkless')).toContain('pagination.next_page');
    if (chosen.includes('totals')) expect(await fields('totals')).toContain('pagination.total_page');
    expect(await fields('twice')).toContain('url');
    expect(synced.requests.filter((path) => path.includes('/limited?') && path.includes('limit='))).toHaveLength(1);
  });
});
