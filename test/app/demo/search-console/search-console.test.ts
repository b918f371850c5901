import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { type SearchConsole, startSearchConsole } from '../../../../src/app/demo/search-console/search-console.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../src/base/time.js';
import { NASTY_PATHS } from '../../../given/nasty-paths.js';
import { pagesOf } from '../../../given/pages-of.js';

const PROPERTY = 'sc-domain:example.com';
const BLOG = 'https://www.example.com/blog/';
const answerSchema = z.looseObject({
  inspectionResult: z
    .looseObject({
      indexStatusResult: z.record(z.string(), z.unknown()),
      richResultsResult: z.looseObject({ verdict: z.string() }).optional(),
    })
    .optional(),
});

let now = Date.parse('2026-01-01T02:00:00Z');
let google: SearchConsole;
beforeAll(async () => {
  google = await startSearchConsole({
    clock: () => now,
    websites: [{ id: 'w', pages: 1000, paths: NASTY_PATHS }],
    nights: 20,
    token: 'given',
    properties: [{ siteUrl: BLOG, inspectionsPerDay: 8, usedElsewhere: 3, inspectionsPerMinute: 3 }],
  });
});
afterAll(() => google.close());
// Each test has a day of its own.
beforeEach(() => {
  now += 2 * DAY_MS;
});

async function inspect(inspectionUrl: string, siteUrl = PROPERTY) {
  const headers = { authorization: 'Bearer given', 'content-type': 'application/json' };
  const body = JSON.stringify({ inspectionUrl, siteUrl });
  const answer = await fetch(`${google.url}/v1/urlInspection/index:inspect`, { method: 'POST', headers, body });
  return { status: answer.status, ...answerSchema.parse(await answer.json()) };
}

const hrefOf = (url: string): string => new URL(url).href.replace(/#.*/, '');

it('inspects each page as the world has it, in the words of Search Console', async () => {
  const [states, verdicts] = [new Set<unknown>(), new Set<unknown>()];
  for (const { report } of pagesOf(google.world, 'w').slice(0, 300)) {
    const result = (await inspect(hrefOf(report.url))).inspectionResult;
    const status = result?.indexStatusResult ?? {};
    verdicts.add(result?.richResultsResult?.verdict ?? 'none');
    states.add(status['coverageState']);
    expect(status['verdict'] === 'PASS').toBe(report.index_summary === 'Indexed');
    expect(status['googleCanonical'] ?? null).toBe(report.searchengine_selected_canonical ?? null);
    expect(status['lastCrawlTime']).toBe(report.last_crawl_time?.replace(/\.\d+/, ''));
    expect(Object.values(status)).not.toContain(null);
  }
  for (const state of ['Excluded by ‘noindex’ tag', 'URL is unknown to Google']) expect(states).toContain(state);
  for (const verdict of ['PASS', 'FAIL', 'none']) expect(verdicts).toContain(verdict);
  expect(await inspect('https://www.example.com/x', BLOG)).toMatchObject({ status: 403 });
});

it('ends the quotas of the minute and of the day, which turns in California', async () => {
  const statuses = (count: number) =>
    Promise.all(Array.from({ length: count }, async () => (await inspect(BLOG, BLOG)).status));
  expect((await statuses(4)).sort()).toEqual([200, 200, 200, 429]);
  now += MINUTE_MS;
  // Another tool has used up three of this day's eight.
  expect((await statuses(3)).sort()).toEqual([200, 200, 429]);
  expect(await inspect(BLOG)).toMatchObject({ status: 200 });
  now = Math.floor(now / DAY_MS) * DAY_MS + 7.9 * HOUR_MS;
  expect(await statuses(1)).toEqual([429]);
  now += 0.2 * HOUR_MS;
  expect(await statuses(1)).toEqual([200]);
});
