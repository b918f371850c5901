import { expect, test } from 'vitest';
import { readStory } from '../../../src/answers/report/report.js';
import { givenNights, type Nights, urlOf } from '../../given/nights.js';
import { analysisRows, openReader, rowsOf } from '../query/given.js';

const INDEXED = { index_summary: 'Indexed', index_coverage_state: 'Submitted and indexed' };
const FALLEN = { index_summary: 'Not Indexed', index_coverage_state: 'Crawled - currently not indexed' };
const DATES = { since: '2025-03-02', until: '2025-03-02' };

/** So many pages of one directory, named after their number from the first one on. */
function pages(directory: string, count: number, entry: object = INDEXED, first = 0): Record<string, object> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`${directory}/p${first + at}`, entry]));
}

async function twoNights(one: Record<string, object>, two: Record<string, object>): Promise<Nights> {
  const nights = await givenNights();
  await nights.night({ list: one });
  await nights.night({ list: two });
  return nights;
}

/** What the reader says of the second night. */
async function afterTwo(one: Record<string, object>, two: Record<string, object>) {
  return told(await twoNights(one, two));
}

async function told({ warehouse }: Nights) {
  const reader = await openReader(warehouse);
  const { sentences } = await readStory(reader, 'w', DATES);
  const rows = await analysisRows(reader, 'deindexed_pages', DATES);
  const moved = rows.map(({ url, moved_to }) => [url, moved_to] as const);
  return { story: sentences.map((one) => one.replaceAll('\u00a0', ' ')), moved };
}

test('the story names the directory of an accident, however deep it is, and its neighbour', async () => {
  const around = { ...pages('docs/v2', 60), ...pages('blog', 40), ...pages('docs', 3) };
  const fallen = { ...around, ...pages('docs/v1', 30, FALLEN), ...pages('docs/v1/api', 30, FALLEN) };
  const { story, moved } = await afterTwo(
    { ...around, ...pages('docs/v1', 30), ...pages('docs/v1/api', 30) },
    { ...fallen, ...pages('blog', 1, FALLEN) },
  );
  expect(story).toContain('60 of the 60 indexed pages in /docs/v1/ fell out, none of the 60 in /docs/v2/.');
  expect(story.join()).not.toContain('/docs/ ');
  expect(moved.filter(([, to]) => to !== null)).toEqual([]);
});

test('a fall of four pages, or one that is everywhere alike, has no place', async () => {
  const before = { ...pages('docs/v1', 20), ...pages('blog', 20) };
  const few = pages('docs/v1', 4, FALLEN);
  const alike = { ...pages('docs/v1', 10, FALLEN), ...pages('blog', 10, FALLEN) };
  for (const fallen of [few, alike]) {
    const { warehouse } = await twoNights(before, { ...before, ...fallen });
    expect(await rowsOf(await openReader(warehouse), placesOf('2025-03-02'))).toEqual([]);
  }
});

test('pages that left one directory for another moved', async () => {
  const { story, moved } = await afterTwo(
    { ...pages('blog', 86), ...pages('shop', 50) },
    { ...pages('articles', 100), ...pages('shop', 50) },
  );
  expect(story).toContain('86 pages of /blog/ fell out, and 86 pages of /articles/ entered in their place: a move.');
  expect(moved).toHaveLength(86);
  expect(moved.every(([url, to]) => to === String(url).replace('/blog/', '/articles/'))).toBe(true);
});

test('pages that went from http to https moved, whichever came first', async () => {
  const list = (scheme: string, entry: object, at: number[]) =>
    Object.fromEntries(
      at.map((one) => [`${scheme}${one}`, { ...entry, url: `${scheme}://www.w.example/a/p${one}` }] as const),
    );
  const [early, late] = [[0, 1, 2, 3, 4], [5]];
  const all = [...early, ...late];
  const nights = await givenNights();
  await nights.night({ list: { ...list('http', INDEXED, all) } });
  await nights.night({ list: { ...list('http', FALLEN, all), ...list('https', INDEXED, early) } });
  await nights.night({ list: { ...list('http', FALLEN, all), ...list('https', INDEXED, all) } });
  const { story, moved } = await told(nights);
  const places = ['6 pages of http://www.w.example fell out, and 6 pages of https://www.w.example entered'];
  expect(story.find((one) => one.endsWith(': a move.'))).toContain(places[0]);
  expect(moved.every(([url, to]) => to === String(url).replace('http:', 'https:'))).toBe(true);
});

test('a whole website that moves is one move, wherever its pages were and whatever form their URLs take', async () => {
  const before = { ...pages('blog', 30), ...pages('shop', 20, INDEXED, 30), about: INDEXED };
  const under = Object.fromEntries(Object.entries(before).map(([name, entry]) => [`en/${name}`, entry]));
  const { story } = await afterTwo(before, under);
  expect(story.filter((one) => one.endsWith(': a move.'))).toEqual([
    '50 pages of the whole website fell out, and 50 pages of /en/ entered in their place: a move.',
  ]);
  const slashed = Object.fromEntries(
    Object.keys(pages('blog', 30)).map((name) => [name, { ...INDEXED, url: `${urlOf(name)}/` }]),
  );
  const again = await afterTwo(pages('blog', 30), slashed);
  expect(again.story).toContain('30 pages of /blog/ fell out, and 30 pages of /blog/ entered in their place: a move.');
});

test('pages that share only a number did not move', async () => {
  const numbered = (directory: string, form = '') =>
    Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`${directory}/${at + 1}${form}`, INDEXED]));
  const { moved } = await afterTwo(
    { ...numbered('2023'), ...numbered('blog/page', '.html'), ...pages('shop/', 1) },
    { ...numbered('2024'), ...numbered('shop/page', '.html'), ...pages('shop/', 1) },
  );
  expect(moved).toHaveLength(24);
  expect(moved.filter(([, to]) => to !== null)).toEqual([]);
});

test('pages that only look alike did not move, unless their canonical says so', async () => {
  const canonical = { ...FALLEN, searchengine_selected_canonical: urlOf('new/q') };
  const { story, moved } = await afterTwo(
    { ...pages('blog', 30), q: INDEXED, ...pages('old', 4, INDEXED, 90) },
    { ...pages('blog', 30), q: canonical, 'new/q': INDEXED, ...pages('other', 4, INDEXED, 90) },
  );
  expect(moved.filter(([, to]) => to !== null)).toEqual([[urlOf('q'), urlOf('new/q')]]);
  expect(moved).toHaveLength(5);
  expect(story.join()).not.toContain('a move');
});

const placesOf = (date: string) => `from fallen_places((
  select list({website_id: website_id, before_id: before_id, listing_id: listing_id})
  from period_listings('${date}'::date, '${date}'::date)
))`;
