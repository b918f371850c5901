import { beforeAll, expect, test } from 'vitest';
import type { Reader } from '../../../src/answers/query/reader.js';
import { reportPage } from '../../../src/answers/report/page.js';
import { readReport, readStory } from '../../../src/answers/report/report.js';
import { buildWarehouse } from '../../given/warehouse.js';
import { analysisRows, openReader, rowsOf } from '../query/given.js';
import { words } from './parsed.js';

const INDEXED = { index_summary: 'Indexed', index_coverage_state: 'Submitted and indexed' };
const FALLEN = { index_summary: 'Not Indexed', index_coverage_state: 'Crawled - currently not indexed' };
const DATES = { since: '2025-03-02', until: '2025-03-02' };

/** Entries by the path of their page, or by its URL. */
type Pages = Record<string, object>;

/** So many pages of one directory, named after their number from the first one on. */
function pages(directory: string, count: number, entry: object = INDEXED, first = 0): Pages {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`${directory}p${first + at}`, entry]));
}

const around = { ...pages('docs/v2/', 60), ...pages('blog/', 40), ...pages('docs/', 3) };
const even = { ...pages('docs/v1/', 20), ...pages('blog/', 20) };
const canonical = { ...FALLEN, searchengine_selected_canonical: 'https://alike.example/new/q' };
const http = (entry: object) => pages('http://www.http.example/a/', 6, entry);
const numbered = (one: string, other: string) => ({
  ...Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`${one}/${at + 1}`, INDEXED])),
  ...Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`${other}/${at + 1}.html`, INDEXED])),
});

/** Websites by what happens to them between two nights, and on a third one. */
const STORIES: Record<string, [one: Pages, two: Pages, three?: Pages]> = {
  accident: [
    { ...around, ...pages('docs/v1/', 30), ...pages('docs/v1/api/', 30) },
    {
      ...{ ...around, ...pages('docs/v1/', 30, FALLEN), ...pages('docs/v1/api/', 30, FALLEN) },
      ...pages('blog/', 1, FALLEN),
    },
  ],
  few: [even, { ...even, ...pages('docs/v1/', 4, FALLEN) }],
  everywhere: [even, { ...even, ...pages('docs/v1/', 10, FALLEN), ...pages('blog/', 10, FALLEN) }],
  directory: [
    { ...pages('blog/', 86), ...pages('shop/', 50) },
    { ...pages('articles/', 100), ...pages('shop/', 50) },
  ],
  http: [
    http(INDEXED),
    { ...http(FALLEN), ...pages('https://www.http.example/a/', 5) },
    { ...http(FALLEN), ...pages('https://www.http.example/a/', 6) },
  ],
  alike: [
    { ...numbered('2023', 'blog/page'), q: INDEXED, ...pages('old/', 4, INDEXED, 90) },
    { ...numbered('2024', 'shop/page'), q: canonical, 'new/q': INDEXED, ...pages('other/', 4, INDEXED, 90) },
  ],
};

let reader: Reader;
/** Of every page that fell out in the second night, where it moved to. */
let fallen: { website: unknown; url: string; target: unknown }[];

beforeAll(async () => {
  const { path } = await buildWarehouse(
    [0, 1, 2].map((night) => ({
      at: `2025-03-0${night + 1}T02:00:00Z`,
      lists: Object.fromEntries(
        Object.entries(STORIES).flatMap(([website, nights]) => {
          const listed = Object.entries(nights[night] ?? {}).map(([page, entry]) => ({
            url: new URL(page, `https://${website}.example`).href,
            entry,
          }));
          return listed.length > 0 ? [[website, listed]] : [];
        }),
      ),
      sections: { reports: { max_per_run: 0 } },
    })),
  );
  reader = await openReader(path);
  const rows = await analysisRows(reader, 'deindexed_pages', { ...DATES, limit: 'none' });
  fallen = rows.map(({ website_id, url, moved_to }) => ({ website: website_id, url: String(url), target: moved_to }));
});

async function storyOf(website: string): Promise<string[]> {
  const { sentences } = await readStory(reader, website, DATES);
  return sentences.map((one) => one.replaceAll('\u00a0', ' '));
}

/** The pages that fell out, and those of them that moved with their new URLs. */
function fallenIn(website: string) {
  const all = fallen.filter((one) => one.website === website);
  return { all, moved: all.flatMap(({ url, target }) => (target === null ? [] : [[url, target]])) };
}

test('the story names the directory of an accident, however deep it is, and its neighbour', async () => {
  const story = await storyOf('accident');
  expect(story).toContain('60 of the 60 indexed pages in /docs/v1/ fell out, none of the 60 in /docs/v2/.');
  expect(story.join()).not.toContain('/docs/ ');
  expect(fallenIn('accident').moved).toEqual([]);
});

test('a fall of four pages, or one that is everywhere alike, has no place', async () => {
  const places = `select website_id, count(*)::integer as n from fallen_places((
    select list({website_id: website_id, before_id: before_id, listing_id: listing_id})
    from period_listings('${DATES.since}'::date, '${DATES.until}'::date)
  )) where website_id in ('accident', 'few', 'everywhere') group by all`;
  expect(await rowsOf(reader, places)).toEqual([{ website_id: 'accident', n: 1 }]);
});

test.each([
  ['directory', 86, '86 pages of /blog/ fell out, and 86 pages of /articles/ entered', '/blog/', '/articles/'],
  // The https of one page came a night later.
  ['http', 6, '6 pages of http://www.http.example fell out, and 6 pages of https://www.http.example', 'p:', 'ps:'],
])('pages of a %s that moved are one move', async (website, count, words, from, to) => {
  const moves = (await storyOf(website)).filter((one) => one.endsWith(': a move.'));
  expect(moves).toEqual([expect.stringContaining(words)]);
  const { moved } = fallenIn(website);
  expect(moved).toHaveLength(count);
  for (const [url, target] of moved) expect(target).toBe(String(url).replace(from, to));
});

test('pages that share only a number, or only look alike, did not move, unless their canonical says so', async () => {
  const moved = [['https://alike.example/q', 'https://alike.example/new/q']];
  expect(fallenIn('alike')).toMatchObject({ all: { length: 29 }, moved });
  expect((await storyOf('alike')).join()).not.toContain('a move');
});

test('a report on more than five websites lists them together, each with a line', async () => {
  const report = await readReport(reader, { until: '2025-03-02', version: 'test', now: 0 });
  expect(report.sections).toHaveLength(1);
  const page = words(reportPage(report));
  for (const website of Object.keys(STORIES)) expect(page).toContain(`https://${website}.example`);
});
