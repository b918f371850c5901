import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeAtLength } from '../given/at-length.js';
import { type OddAnswer, type OddWebsite, pagesOf, truncated, windowOf } from '../given/odd-service.js';
import { OddSync, TOKEN } from '../given/odd-sync.js';

const HTML = '<html><body>maintenance</body></html>';

/** A website of so many pages whose reports are odd, each in its own way. */
function website(id: string, count: number, reports: (url: string) => OddAnswer | undefined): OddWebsite {
  return {
    listing: (window) => windowOf(pagesOf(id, count), window),
    report: (url) => reports(url) ?? honest(url),
  };
}

function honest(url: string): { body: string } {
  return { body: JSON.stringify({ url, index_summary: 'Indexed', sitemaps: [] }) };
}

describe('reports that cannot be used', () => {
  const synced = new OddSync();
  const odd: Record<string, (url: string) => OddAnswer> = {
    p0: () => ({ body: HTML }),
    p1: (url) => ({ body: `{"url":"${url}",}` }),
    p2: () => honest('https://odd.example/another'),
    p3: (url) => ({ body: JSON.stringify({ url, inspection_date: 'yesterday', sitemaps: 'none', you: TOKEN }) }),
    p4: (url) => truncated(honest(url).body),
    p5: () => ({ status: 404, body: '{"error":"not_found","message":"gone","status":404}' }),
    p6: () => ({ status: 500, body: `{"error":"e","message":"${'x'.repeat(199)}😀","status":500}` }),
    p7: () => ({ status: 403 }),
    p8: () => ({ body: Buffer.from([0x7b, 0xe4, 0x7d]) }),
    p9: (url) => ({
      body: `{\n  "url" : "${url}",\r\n  "url" : "${url}",\n "deep": {"url": "x"},\n "index_summary":"Not Indexed"\n}\n`,
    }),
    p10: (url) => ({ body: JSON.stringify({ url, sitemaps: ['/relative'] }) }),
    p11: (url) => ({ body: `{"url":"${url}","index_summary":"\\ud800"}` }),
    p12: () => ({ status: 302, headers: { location: '/elsewhere' } }),
    p13: () => ({ body: '' }),
    p14: () => ({ body: 'null' }),
  };
  beforeAll(() => synced.start({ odd: website('odd', 20, (url) => odd[url.split('/').at(-1) ?? '']?.(url)) }));
  afterAll(() => synced.stop());

  it('exit with 3, and lose none of the others', async () => {
    expect(synced.ended.code).toBe(3);
    expect(synced.of('odd')).toMatchObject({
      status: 'committed',
      listing_status: 'complete',
      reports_status: 'failed',
      reports: { planned: 20, fetched: 6, missing: 1, failed: 4, rejected: 9 },
    });
    const reports = await synced.rows('url_reports', 'odd');
    const fetched = [9, 15, 16, 17, 18, 19].map((at) => `https://odd.example/p${at}`);
    expect(reports.map(({ url }) => url).sort()).toEqual(fetched.sort());
    expect(reports.find(({ url }) => url === 'https://odd.example/p9')).toMatchObject({
      index_summary: 'Not Indexed',
      extra: { deep: { url: 'x' } },
    });
  });

  it.each([
    ['p0', 'invalid_json', /an HTML page, not JSON/, HTML],
    ['p1', 'invalid_json', /not JSON: /, '{"url":"https://odd.example/p1",}'],
    ['p2', 'url_mismatch', /for another URL/, honest('https://odd.example/another').body],
    ['p3', 'invalid_type', /expected array/, null],
    ['p8', 'invalid_utf8', /not UTF-8/, ''],
    ['p10', 'invalid_format', /not an absolute URL/, null],
    ['p11', 'lone_surrogate', /surrogate/, '{"url":"https://odd.example/p11","index_summary":"\\ud800"}'],
    ['p13', 'invalid_json', /not JSON: Unexpected end/, ''],
    ['p14', 'invalid_type', /expected object/, 'null'],
  ])('keep the text of %s and say why (%s)', async (page, code, message, payload) => {
    const refused = await synced.rows('rejected_records', 'odd');
    const row = refused.find(({ url }) => url === `https://odd.example/${page}`);
    const issues = row?.['issues'] as { code: string; message: string }[];
    expect(issues.map((issue) => issue.code)).toContain(code);
    expect(issues.map((issue) => issue.message).join()).toMatch(message);
    if (payload !== null) expect(row?.['payload']).toBe(payload);
    expect(String(row?.['payload'])).not.toContain(TOKEN);
  });

  it('that failed are named with their status', async () => {
    const failures = await synced.rows('report_failures', 'odd');
    expect(failures.map(({ url, outcome, http_status }) => [url, outcome, http_status])).toEqual([
      ['https://odd.example/p12', 'failed', 302],
      ['https://odd.example/p4', 'failed', null],
      ['https://odd.example/p5', 'missing', 404],
      ['https://odd.example/p6', 'failed', 500],
      ['https://odd.example/p7', 'failed', 403],
    ]);
    expect(failures.map(({ message }) => String(message))).toEqual([
      expect.stringContaining('redirects are refused'),
      expect.stringContaining('check the network'),
      expect.stringContaining('(not_found: gone)'),
      expect.stringMatching(/x\ufffd\); the service has a problem/),
      expect.stringContaining('403'),
    ]);
  });
});

describeAtLength('a service that stops making sense', () => {
  const synced = new OddSync();
  let answered = 0;
  beforeAll(() =>
    synced.start(
      {
        changed: website('changed', 200, (url) => ({
          body: JSON.stringify({ url, index_summary: { text: 'Indexed' } }),
        })),
        revoked: website('revoked', 60, () => (++answered > 20 ? { status: 401 } : undefined)),
      },
      { api: { page_size: 100 } },
    ),
  );
  afterAll(() => synced.stop());

  it('is not asked for the rest, and what was listed is committed', () => {
    expect(synced.ended.code).toBe(3);
    const [changed, revoked] = [synced.of('changed'), synced.of('revoked')];
    expect(revoked).toMatchObject({ status: 'committed', listing_status: 'complete', reports_status: 'failed' });
    expect(revoked?.error).toMatch(/401.*check api\.token/);
    expect(revoked?.reports.fetched).toBe(20);
    expect(changed).toMatchObject({ status: 'committed', listing_status: 'complete', reports_status: 'failed' });
    expect(synced.requests.filter((path) => path.includes('url-report')).length).toBeLessThan(110);
  });
});

describeAtLength('an interface that changed', () => {
  const synced = new OddSync();
  beforeAll(() =>
    synced.start(
      {
        changed: website('changed', 200, (url) => ({
          body: JSON.stringify({ url, index_summary: { text: 'Indexed' } }),
        })),
      },
      { api: { page_size: 100 } },
    ),
  );
  afterAll(() => synced.stop());

  it('is noticed after fifty equal rejects', async () => {
    expect(synced.ended.code).toBe(3);
    expect(synced.of('changed')).toMatchObject({ listing_status: 'complete', reports_status: 'failed' });
    expect(synced.of('changed')?.error).toMatch(
      /50 reports in a row were rejected for the same reason \(index_summary: .*\): the API seems to have changed/,
    );
    const refused = await synced.rows('rejected_records', 'changed');
    expect(refused.length).toBeGreaterThanOrEqual(50);
    expect(refused.length).toBeLessThan(60);
  });
});
