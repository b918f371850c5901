import { describe, expect, it } from 'vitest';
import { shareChart } from '../../../src/answers/html/charts/trend-chart.js';
import { NO_ESTIMATE } from '../../../src/answers/report/estimate.js';
import { UsageError } from '../../../src/base/exit.js';
import { describeAtLength, once } from '../../given/at-length.js';
import { broken, givenWarehouse, indexed, out, reportOf } from './given.js';
import { words } from './parsed.js';

const page = (name: string) => `https://shop.example/${name}`;
const BLOG = ['blog/1', 'blog/2', 'blog/3', 'blog/4', 'blog/5'].map(page);
const DOCS = ['docs/1', 'docs/2', 'docs/3', 'docs/4', 'docs/5'].map(page);
const [B1 = '', B2 = '', B3 = '', B4 = '', B5 = ''] = BLOG;
const [D1 = '', D2 = '', ...OTHER_DOCS] = DOCS;
const NEW = page('docs/new');
const ELSEWHERE = 'https://copy.example/docs/1';

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
        ...[out(B1), out(B2, 'Soft 404'), indexed(B3), indexed(B4), indexed(B5)],
        ...[indexed(D1, ELSEWHERE), indexed(D2, ELSEWHERE), ...OTHER_DOCS.map((url) => indexed(url)), indexed(NEW)],
      ],
    },
  },
  { at: '2025-03-15T02:00:00Z', lists: { shop: [out(B3), broken(B4)] } },
]);

let read: ReturnType<typeof reportOf> | null = null;

/** The report on the last seven days of the shop. */
function lastDays(): ReturnType<typeof reportOf> {
  read ??= reportOf(shop);
  return read;
}

describe('the figures of a report', () => {
  once('compare the newest complete listing with the one before the period, and add up', async () => {
    const { report, page } = await lastDays();
    expect(report.period).toMatchObject({ since: '2025-03-09', until: '2025-03-15', days: 7 });
    expect(report.total).toEqual({
      listed_on: '2025-03-14',
      unconfirmed: 0,
      rich_results_failed: 0,
      compared_with: '2025-03-01',
      pages: { now: 11, before: 10 },
      indexed: { now: 9, before: 10 },
      without_data: { now: 0, before: 0 },
      entered: { now: 1, before: null },
      // The seven days before have no listing. What the partial listing of the last night saw counts with the next complete one.
      fell_out: { now: 2, before: null },
      returned: { now: 0, before: null },
      appeared: { now: 1, before: null },
      disappeared: { now: 0, before: null },
      canonical_flips: { now: 2, before: null },
      not_inspected: 0,
      first_inspected: 0,
      retired: 0,
      clicks_lost: 0,
      crawls: null,
      estimate: NO_ESTIMATE,
      share_before: 1,
      robots_blocked: { now: 0, before: null },
      robots_unblocked: { now: 0, before: null },
    });
    expect(words(page)).toContain(
      '10 indexed before + 1 entered (1 new or back in the listing) − 2 fell out (2 not indexed any more) = 9 indexed now.',
    );
  });

  once('show where pages were lost, what they have in common and where they went', async () => {
    const { sections } = (await lastDays()).report;
    expect(sections).toHaveLength(1);
    expect(sections[0]?.directories).toEqual([
      { website_id: 'shop', directory: '/docs/', pages: 6, indexed: 6, share_indexed: 1, indexed_change: 1 },
      { website_id: 'shop', directory: '/blog/', pages: 5, indexed: 3, share_indexed: 0.6, indexed_change: -2 },
    ]);
    const from = { fallen: 1, from_state: 'Submitted and indexed' };
    expect(sections[0]?.fallen.samples).toMatchObject([
      { ...from, state: 'Crawled - currently not indexed', url: B1 },
      { ...from, state: 'Soft 404', url: B2 },
    ]);
    // Two pages of one directory are no evidence.
    expect(sections[0]?.fallen.common).toEqual([]);
    expect(sections[0]?.transitions).toContainEqual({
      from_state: 'Submitted and indexed',
      to_state: 'Soft 404',
      pages: 1,
    });
    expect(sections[0]?.flips).toMatchObject({
      total: 2,
      rows: [
        { url: D1, from_canonical: D1, to_canonical: ELSEWHERE },
        { url: D2, from_canonical: D2, to_canonical: ELSEWHERE },
      ],
    });
  });

  once('show which flips have a directory and a host in common', async () => {
    const { report } = await lastDays();
    const common = report.sections[0]?.flips.common ?? [];
    expect(common.map(({ dimension, value }) => [dimension, value])).toEqual([
      ['target', 'other host'],
      ['target_host', 'copy.example'],
      ['directory', '/docs/'],
      ['target_directory', '/docs/'],
    ]);
    expect(common[0]).toMatchObject({ changed: 2, share: 1, overall_share: 0.25, lift: 4 });
  });

  once('do not count a night without a complete listing in the trend, and say so', async () => {
    const { report, page: document } = await lastDays();
    const days = report.sections[0]?.trend ?? [];
    expect(days.map(({ date }) => date).slice(0, 2)).toEqual(['2025-03-01', '2025-03-02']);
    expect(days.filter(({ counts }) => counts !== null)).toMatchObject([
      { date: '2025-03-01', counts: { indexed: 10 } },
      { date: '2025-03-14', counts: { indexed: 9 } },
    ]);
    expect(days.at(-1)).toEqual({ date: '2025-03-15', counts: null });
    expect(words(document)).toContain(
      'The listing of 2025-03-15 is partial: the numbers of pages are those of 2025-03-14.',
    );
  });

  once('say plainly what is unknown', async () => {
    const first = await reportOf(shop, { until: '2025-03-01' });
    expect(first.report.total).toMatchObject({ compared_with: null, pages: { now: 10, before: null } });
    expect(words(first.page)).toContain('so there is nothing to compare it with yet');
    await expect(reportOf(shop, { until: '2025-02-01' })).rejects.toThrow(/no snapshot up to 2025-02-01/);
    await expect(reportOf(shop, { since: '2025-03-10', until: '2025-03-09' })).rejects.toThrow(UsageError);
    await expect(reportOf(shop, { website: 'shpo' })).rejects.toThrow(/no website "shpo"[\s\S]*shop/);
  });
});

describeAtLength('a report of a warehouse whose dates are not those of UTC', () => {
  const sections = { warehouse: { time_zone: 'America/Los_Angeles' } };
  const odd = { ...indexed(B2), entry: JSON.parse('{"index_summary": "Indexed", "brand_new": 1}') };
  // In the evening there, when the next day has begun in UTC.
  const shopInTheWest = givenWarehouse([
    { at: '2025-03-02T02:00:00Z', lists: { shop: [indexed(B1), indexed(B2), indexed(D1)] }, sections },
    { at: '2025-03-11T02:00:00Z', lists: { shop: [out(B1), odd, indexed(D1, ELSEWHERE)] }, sections },
  ]);

  it('dates each change and observation by the snapshot that saw it', async () => {
    const { report, page: document } = await reportOf(shopInTheWest, { until: '2025-03-10' });
    const [section] = report.sections;
    expect(report.total).toMatchObject({ listed_on: '2025-03-10', compared_with: '2025-03-01' });
    expect(section?.fallen.samples).toMatchObject([{ url: B1, snapshot_date: '2025-03-10' }]);
    expect(section?.flips.rows).toContainEqual(expect.objectContaining({ url: D1, snapshot_date: '2025-03-10' }));
    expect(section?.drift).toContainEqual(
      expect.objectContaining({ field: 'brand_new', first_seen_date: '2025-03-10' }),
    );
    expect(words(document).replaceAll('2025-03-11 02:00 UTC', '')).not.toContain('2025-03-11');
  });
});

once.each([
  ['all the time', [1, 1]],
  ['none of the time', [0, 0]],
  ['nearly', [0.93, 0.985]],
])('the chart of the share ends at 100%% where pages are indexed %s', (_, shares) => {
  const days = shares.map((share, at) => ({
    date: `2025-03-0${at + 1}`,
    counts: { pages: 1000, indexed: share * 1000, ...NO_ESTIMATE },
  }));
  const { text } = shareChart('s', days, {
    period: { since: '2025-03-01', until: '2025-03-02' },
    marks: [],
    notes: [],
  });
  const labels = [...text.matchAll(/>(-?[\d.]+)%</g)].map(([, label]) => Number(label));
  const [least, most] = [Math.min(...labels), Math.max(...labels)];
  expect([least >= 0, most <= 100, most >= Math.max(...shares) * 100, least < most]).toEqual(Array(4).fill(true));
});

once(
  'the chart of the share draws the counts of a night whose pages were all inspected beside an estimated one',
  () => {
    const counts = { pages: 40, indexed: 36, ...NO_ESTIMATE };
    const estimated = { ...counts, share_estimated: 0, share_low: 0, share_high: 0.1 };
    const days = [estimated, counts, { ...counts, no_estimate: 'unclear' }, counts].map((counts, at) => {
      return { date: `2025-03-0${at + 1}`, counts };
    });
    const period = { since: '2025-03-01', until: '2025-03-04' };
    const { text } = shareChart('s', days, { period, marks: [], notes: [] });
    const circles = text.matchAll(/<path d="M1 0[^>]+transform="matrix\((?:[^,]+,){5}([\d.]+)\)"/g);
    const heights = [...circles].map(([, y]) => Number(y));
    const [estimate = 0, count = 0] = heights;
    expect(estimate).toBeGreaterThan(count);
    // Each is drawn twice: wide, and narrow for a phone.
    expect(heights).toEqual([estimate, count, count, estimate, count, count]);
  },
);

describeAtLength('a report on several websites', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const url = (name: string) => `https://${name}.example/blog/1`;
  const many = givenWarehouse([
    { at: '2025-03-01T02:00:00Z', lists: Object.fromEntries(names.map((name) => [name, [indexed(url(name))]])) },
    { at: '2025-03-02T02:00:00Z', lists: { a: [out(url('a'))], b: [indexed(url('b'))] } },
  ]);

  it('lists more than five together, each with a line, and one that was not listed on a date with its last listing', async () => {
    const { report, page: document } = await reportOf(many);
    expect(report.sections).toHaveLength(1);
    expect(report.total).toMatchObject({ pages: { now: 6 }, indexed: { now: 5 }, fell_out: { now: 1 } });
    expect(report.sections[0]?.trend.map(({ counts }) => counts?.indexed)).toEqual([6, 5]);
    for (const name of names) expect(words(document)).toContain(`https://${name}.example`);
  });
});
