import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/base/exit.js';
import { listTableFiles } from '../../../src/warehouse/log/folder/layout.js';
import { run } from '../../given/cli.js';
import { temporaryFolder } from '../../given/folder.js';
import type { GivenPage } from '../../given/service.js';
import { broken, givenWarehouse, indexed, out, reportOf } from './given.js';
import { words } from './parsed.js';

const page = (name: string) => `https://shop.example/${name}`;
const BLOG = ['blog/1', 'blog/2', 'blog/3', 'blog/4', 'blog/5'].map(page);
const DOCS = ['docs/1', 'docs/2', 'docs/3', 'docs/4', 'docs/5'].map(page);
const [B1 = '', B2 = '', B3 = '', B4 = '', B5 = ''] = BLOG;
const [D1 = '', D2 = '', ...OTHER_DOCS] = DOCS;
const NEW = page('docs/new');
const ELSEWHERE = 'https://copy.example/docs/1';
const inMap = (map: string, given: GivenPage): GivenPage => ({ ...given, report: { sitemaps: [page(map)] } });

/**
 * Ten pages are indexed before the period. In it two of the blog fall out, two canonicals go to another host, a page
 * appears; and on the last night, whose listing is partial, a third one of the blog falls out.
 */
const shop = givenWarehouse([
  { at: '2025-03-01T02:00:00Z', lists: { shop: [...BLOG, ...DOCS].map((url) => indexed(url)) } },
  {
    at: '2025-03-14T02:00:00Z',
    lists: {
      shop: [
        ...[out(B1), inMap('blog.xml', out(B2, 'Soft 404')), inMap('blog.xml', indexed(B3)), indexed(B4), indexed(B5)],
        ...[
          indexed(D1, ELSEWHERE),
          indexed(D2, ELSEWHERE),
          ...[...OTHER_DOCS, NEW].map((url) => inMap('docs.xml', indexed(url))),
        ],
      ],
    },
  },
  { at: '2025-03-15T02:00:00Z', lists: { shop: [out(B3), broken(B4)] } },
]);

let read: ReturnType<typeof reportOf> | null = null;

function lastDays(): ReturnType<typeof reportOf> {
  read ??= reportOf(shop);
  return read;
}

describe('the figures of a report', () => {
  test('compare the newest complete listing with the one before the period, and add up', async () => {
    const { report, page } = await lastDays();
    expect(report.period).toMatchObject({ since: '2025-03-09', until: '2025-03-15', days: 7 });
    expect(report.total).toMatchObject({
      ...{ listed_on: '2025-03-14', compared_with: '2025-03-01', share_before: 1 },
      ...{ pages: { now: 11, before: 10 }, indexed: { now: 9, before: 10 }, without_data: { now: 0, before: 0 } },
      // The seven days before have no listing. What the partial listing of the last night saw counts with the next complete one.
      ...{ entered: { now: 1, before: null }, fell_out: { now: 2, before: null }, returned: { now: 0, before: null } },
      ...{ appeared: { now: 1, before: null }, disappeared: { now: 0, before: null } },
      canonical_flips: { now: 2, before: null },
    });
    expect(words(page)).toContain(
      '10 indexed before + 1 entered (1 new or back in the listing) − 2 fell out (2 not indexed any more) = 9 indexed now.',
    );
  });

  test('show where pages were lost, what they have in common and where they went', async () => {
    const [section] = (await lastDays()).report.sections;
    expect(section?.sitemaps).toMatchObject([
      { sitemap: page('blog.xml'), pages: 2, indexed: 1, entered: 0, fell_out: 1 },
      { sitemap: page('docs.xml'), pages: 4, indexed: 4, entered: 1, fell_out: 0 },
    ]);
    expect(section?.directories).toEqual([
      { website_id: 'shop', directory: '/docs/', pages: 6, indexed: 6, share_indexed: 1, indexed_change: 1 },
      { website_id: 'shop', directory: '/blog/', pages: 5, indexed: 3, share_indexed: 0.6, indexed_change: -2 },
    ]);
    expect(section?.fallen.samples).toMatchObject([
      { fallen: 1, from_state: 'Submitted and indexed', state: 'Crawled - currently not indexed', url: B1 },
      { fallen: 1, from_state: 'Submitted and indexed', state: 'Soft 404', url: B2 },
    ]);
    // Two pages of one directory are no evidence.
    expect(section?.fallen.common).toEqual([]);
    const moved = { from_state: 'Submitted and indexed', to_state: 'Soft 404', pages: 1 };
    expect(section?.transitions).toContainEqual(moved);
    const flips = [D1, D2].map((url) => ({ url, from_canonical: url, to_canonical: ELSEWHERE }));
    expect(section?.flips).toMatchObject({ total: 2, rows: flips });
    const common = section?.flips.common ?? [];
    expect(common.map(({ dimension, value }) => `${dimension} ${value}`)).toEqual([
      ...['target other host', 'target_host copy.example', 'directory /docs/', 'target_directory /docs/'],
    ]);
    expect(common[0]).toMatchObject({ changed: 2, share: 1, overall_share: 0.25, lift: 4 });
  });

  test('do not count a night without a complete listing in the trend, and say so', async () => {
    const { report, page: document } = await lastDays();
    const days = report.sections[0]?.trend ?? [];
    expect(days.filter(({ counts }) => counts !== null)).toMatchObject([
      { date: '2025-03-01', counts: { indexed: 10 } },
      { date: '2025-03-14', counts: { indexed: 9 } },
    ]);
    expect(days.at(-1)).toEqual({ date: '2025-03-15', counts: null });
    const partial = 'The listing of 2025-03-15 is partial: the numbers of pages are those of 2025-03-14.';
    expect(words(document)).toContain(partial);
    const { report: between, page: unknown } = await reportOf(shop, { since: '2025-03-04', until: '2025-03-06' });
    const { fell_out, entered, returned } = between.total;
    expect([fell_out.now, entered.now, returned.now]).toEqual([null, null, null]);
    expect(between.sections[0]?.caveats).toContain('The newest complete listing is of 2025-03-01, before this period.');
    expect(words(unknown)).toContain('Fell out of the index –');
  });

  test('say plainly what is unknown', async () => {
    const first = await reportOf(shop, { until: '2025-03-01' });
    expect(first.report.total).toMatchObject({ compared_with: null, pages: { now: 10, before: null } });
    expect(words(first.page)).toContain('so there is nothing to compare it with yet');
    await expect(reportOf(shop, { until: '2025-02-01' })).rejects.toThrow(/no snapshot up to 2025-02-01/);
    await expect(reportOf(shop, { since: '2025-03-10', until: '2025-03-09' })).rejects.toThrow(UsageError);
    await expect(reportOf(shop, { website: 'shpo' })).rejects.toThrow(/no website "shpo"[\s\S]*shop/);
  });
});

describe('indexhouse report', () => {
  test('writes a mail without charts over an earlier report, and tells a program where it is and what it says', async () => {
    const cwd = temporaryFolder();
    const file = join(cwd, 'report.html');
    writeFileSync(file, (await lastDays()).page);
    const asked = ['report', '--format', 'mail', '--json', '--warehouse', shop.path, '--out', 'report.html'];
    const { code, stdout, stderr } = await run(asked, { cwd });
    expect([code, readdirSync(cwd)]).toEqual([0, ['report.html']]);
    expect(stderr).toMatch(/^indexhouse: this data is \d+ days old, as of [^\n]*\n$/);
    expect(JSON.parse(stdout)).toMatchObject({
      file,
      total: { indexed: { now: 9, before: 10 }, fell_out: { now: 2 } },
      websites: [{ website_id: 'shop', pages: { now: 11, before: 10 } }],
    });
    const mail = readFileSync(file, 'utf8');
    expect(mail).toMatch(/<body[^>]*>\n<p><b>Last night needs attention: 1 of 1 website \(.*1 old snapshot.*<.b><.p>/);
    expect(mail).toContain('9 of 11 pages are indexed (81.8%), 1 fewer than on Mar');
    expect(mail).toMatch(/Soft 404<\/td><td [^>]*>1<\/td><td [^>]*>\+1</);
    expect(mail).not.toMatch(/<svg|<style|class=/);
  });

  test('touches no file of the warehouse by whatever name, and nothing but a report and an empty file', async () => {
    const folder = temporaryFolder();
    const linked = join(folder, 'linked');
    symlinkSync(shop.path, linked);
    writeFileSync(join(folder, 'page.html'), '<!doctype html>\n<title>Something else</title>\n');
    const [marker = ''] = await listTableFiles(shop.path, 'snapshots');
    const before = readFileSync(marker);
    for (const [out, reason] of [
      [marker.replace(shop.path, linked), /is inside the warehouse .*: choose a path outside of it/],
      [join(linked, 'new.html'), /is inside the warehouse/],
      [join(folder, 'page.html'), /exists and is not an indexhouse report: choose another name, or delete/],
    ] as const) {
      const { code, stderr } = await run(['report', '--warehouse', shop.path, '--out', out]);
      expect([code, stderr]).toEqual([2, expect.stringMatching(reason)]);
    }
    expect(readFileSync(marker).equals(before)).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(['linked', 'page.html']);
    expect(readdirSync(shop.path)).not.toContain('new.html');
  });
});
