import { afterAll, beforeAll, expect, test } from 'vitest';
import { askAnalysis } from '../../src/analysis/ask-rows.js';
import type { Reader } from '../../src/analysis/reader.js';
import { UsageError } from '../../src/exit.js';
import { testAtLength } from '../given/at-length.js';
import { type BuiltWarehouse, buildWarehouse } from '../given/warehouse.js';
import { AT, storiesWarehouse, urlOf } from './answers-given.js';
import { analysisRows, openReader } from './given.js';

let warehouse: BuiltWarehouse;
let reader: Reader;

beforeAll(async () => {
  warehouse = await storiesWarehouse();
  reader = await openReader(warehouse.path);
});

afterAll(() => {
  reader.close();
  warehouse.remove();
});

async function told(name: string): Promise<unknown[][]> {
  const rows = await analysisRows(reader, 'page', { url: urlOf(name) });
  return rows.map(({ topic, date, sentence }) => [topic, date, sentence]);
}

const MAPS = { main: urlOf('main.xml'), blog: urlOf('blog.xml') };
const [NIGHT_1, , NIGHT_3, NIGHT_4, NIGHT_5] = AT.slice(1).map((at) => at.slice(0, 10));

test('tells what is known now, then what changed', async () => {
  expect(await told('docs/4')).toEqual([
    ['index', NIGHT_5, 'Not indexed since Mar 11, 2025: Soft 404.'],
    ['crawl', '2025-02-28', 'Last crawled Feb 28, 2025, 11 days before the newest snapshot.'],
    ['canonical', NIGHT_5, 'No canonical is known.'],
    ['sitemap', NIGHT_5, `In 1 sitemap: ${MAPS.main}.`],
    ['fetch', NIGHT_5, 'Fetch: Soft 404.'],
    ['robots', NIGHT_5, 'Allowed by robots.txt.'],
    ['report', NIGHT_5, 'Last report Mar 11, 2025.'],
    ['listing', NIGHT_5, 'First seen Mar 1, 2025, last listed Mar 11, 2025.'],
    [
      'history',
      NIGHT_5,
      'left the index; state: Submitted and indexed → Soft 404; fetch: Successful → Soft 404; ' +
        'canonical: itself → (none); declared canonical: itself → (none).',
    ],
  ]);
});

test.each<[string, unknown[]]>([
  ['unknown', ['index', NIGHT_1, 'No inspection data at least since Mar 1, 2025.']],
  ['unknown', ['crawl', null, 'No crawl is known.']],
  [
    'unknown',
    [
      'report',
      null,
      'No report yet: sitemaps, fetch and robots.txt are unknown. Requests for it that failed since: 5.',
    ],
  ],
  ['docs/1', ['index', NIGHT_1, 'Indexed at least since Mar 1, 2025: Submitted and indexed.']],
  ['docs/1', ['canonical', NIGHT_5, 'Canonical: the page itself, as the page declares.']],
  [
    'docs/flip',
    ['canonical', NIGHT_5, 'The search engine chose https://else.example/x as canonical; the page declares itself.'],
  ],
  ['docs/flip', ['history', NIGHT_3, `canonical: itself → ${urlOf('docs/1')}.`]],
  ['flap', ['sitemap', NIGHT_5, 'In no sitemap.']],
  ['new/slow', ['sitemap', NIGHT_5, `In 2 sitemaps: ${MAPS.main}, ${MAPS.blog}.`]],
  ['new/slow', ['crawl', NIGHT_4, 'Last crawled Mar 10, 2025, 1 day before the newest snapshot.']],
  ['new/slow', ['history', '2025-03-02', 'appeared in the listing, not indexed.']],
  [
    'new/gone',
    [
      'index',
      NIGHT_4,
      'Gone from the listing since Mar 10, 2025; before it was not indexed: Discovered - currently not indexed.',
    ],
  ],
  ['blocked', ['robots', NIGHT_5, 'Blocked by robots.txt.']],
  ['unblocked', ['robots', NIGHT_5, 'Allowed by robots.txt, which blocked it before.']],
  ['unblocked', ['history', NIGHT_4, 'fetch: Blocked by robots.txt → Successful; no longer blocked by robots.txt.']],
  [
    'odd',
    [
      'listing',
      NIGHT_5,
      'First seen Mar 1, 2025, last listed Mar 11, 2025. ' +
        'Its entries after Mar 10, 2025 break the contract and are in quarantine.',
    ],
  ],
])('of %s it says %j', async (name, row) => {
  expect(await told(name)).toContainEqual(row);
});

testAtLength('a state since later than the index, a page only seen in quarantine, texts as they are', async () => {
  const url = urlOf('<b>');
  const [out, broken] = [{ index_summary: 'Not Indexed' }, JSON.parse('{"index_summary": 5}')];
  const night = (day: number, state: string) => ({
    at: `2025-03-0${day}T02:00:00Z`,
    lists: {
      shop: [
        { url, entry: { ...out, index_coverage_state: state } },
        { url: urlOf('bad'), entry: broken },
      ],
    },
    sections: { quality: { max_reject_ratio: 1 } },
  });
  const nights = [night(1, 'A'), night(2, "B'; $x")];
  const other = await buildWarehouse(nights);
  const asked = await openReader(other.path);
  const first = async (page: string) => (await analysisRows(asked, 'page', { url: page }))[0]?.['sentence'];
  expect(await first(url)).toBe("Not indexed at least since Mar 1, 2025, now: B'; $x (since Mar 2, 2025).");
  expect(await first(urlOf('bad'))).toBe('Only seen in quarantine: its entry of the listing breaks the contract.');
  asked.close();
  other.remove();
});

test.each(['page', 'page_timeline'])('%s refuses a page that is not there, with those near it', async (name) => {
  const asked = (url: string, website?: string) => askAnalysis(reader, name, { url, ...(website ? { website } : {}) });
  await expect(asked('/blog/1')).rejects.toThrow(
    `${name}: no page /blog/1 in the warehouse. Give its whole URL, as in the listing. Near it:\n` +
      `  ${urlOf('blog/1')}\n  ${urlOf('docs/1')}`,
  );
  await expect(asked(urlOf('Blog/4/'))).rejects.toThrow(`Near it:\n  ${urlOf('blog/4')}\n`);
  await expect(asked('https://wiki.example/', 'shop')).rejects.toThrow(/as in the listing$/);
  await expect(asked("'; drop", 'shop')).rejects.toBeInstanceOf(UsageError);
  expect((await asked(urlOf('blog/1'), 'shop')).rows.length).toBeGreaterThan(0);
});
