import { describe, expect, test } from 'vitest';
import { type Cost, type CostRules, costSentence, listingRequests } from '../../src/forecast/cost.js';

const HOUR_MS = 3_600_000;
const RULES: CostRules = {
  requests_per_minute: 60,
  measured_requests_per_minute: null,
  deadline: 20 * HOUR_MS,
  max_per_run: Number.POSITIVE_INFINITY,
};

function key(...websites: number[]): Cost[] {
  return websites.map((pages) => ({
    pages,
    pages_never_fetched: 0,
    listing_requests: listingRequests(pages, 1000),
  }));
}

describe('the sentence', () => {
  test.each([
    [
      'one key',
      [key(100_000)],
      {},
      '100,000 pages at 60 requests a minute: 101 requests (1m 41s) list them, 100,000 (1d 4h) fetch every report once; with a deadline of 20h that is 2 nights.',
    ],
    [
      'one page',
      [key(1)],
      {},
      '1 page at 60 requests a minute: 1 request (1s) lists it, 1 (1s) fetches every report once; with a deadline of 20h that is 1 night.',
    ],
    [
      'two keys side by side: the slower one counts',
      [key(3000), key(600, 600)],
      {},
      '4,200 pages at 60 requests a minute for each of 2 keys: 6 requests (4s) list them, 4,200 (50m) fetch every report once; with a deadline of 20h that is 1 night.',
    ],
    [
      'a budget',
      [key(1000, 5000)],
      { max_per_run: 500 },
      '6,000 pages at 60 requests a minute: 7 requests (7s) list them, 6,000 (1h 40m) fetch every report once; with a deadline of 20h and at most 500 reports of a website a night that is 10 nights.',
    ],
    [
      'the listing only',
      [key(1000)],
      { max_per_run: 0 },
      '1,000 pages at 60 requests a minute: 1 request (1s) lists them; reports.max_per_run is 0, so no report is fetched.',
    ],
    [
      'no time',
      [key(100_000)],
      { deadline: 60_000 },
      '100,000 pages at 60 requests a minute: 101 requests (1m 41s) list them, 100,000 (1d 4h) fetch every report once; with a deadline of 1m the listing leaves no time for reports.',
    ],
    [
      'no pace',
      [key(100_000)],
      { requests_per_minute: Number.POSITIVE_INFINITY },
      '100,000 pages, as fast as the service answers: 101 requests list them, 100,000 fetch every report once.',
    ],
    [
      'a measured pace',
      [key(100_000)],
      { requests_per_minute: Number.POSITIVE_INFINITY, measured_requests_per_minute: 74_074 },
      '100,000 pages at the 1,230 requests a second of the last run: 101 requests (82ms) list them, 100,000 (1m 21s) fetch every report once; with a deadline of 20h that is 1 night.',
    ],
  ])('of %s', (_, keys, rules, sentence) => {
    expect(costSentence(keys, { ...RULES, ...rules })).toBe(sentence);
  });
});

test.each([
  [0, 100, 1],
  [100, 100, 1],
  [101, 100, 2],
  [199, 100, 2],
  [200, 100, 3],
  [20, 2, 19],
  [7, 1, 15],
])('a listing of %d pages in windows of %d takes %d requests', (pages, window, requests) => {
  expect(listingRequests(pages, window)).toBe(requests);
});

test('a listing takes as many requests as last time, by its windows or for each page', () => {
  expect(listingRequests(320, 100, { requests: 2, pages: 120 })).toBe(4);
  expect(listingRequests(320, 100, { requests: 4, pages: 120 })).toBe(8);
  expect(listingRequests(7, 1000, { requests: 1, pages: 6 })).toBe(1);
  expect(listingRequests(2000, 100, { requests: 60, pages: 1000 })).toBe(120);
  expect(listingRequests(0, 100, { requests: 60, pages: 1000 })).toBe(1);
});
