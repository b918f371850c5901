import { describe, expect, it } from 'vitest';
import { NO_ESTIMATE } from '../../../src/answers/report/estimate.js';
import type { Headline } from '../../../src/answers/report/headline.js';
import type { CommonRow, EventRow } from '../../../src/answers/report/rows.js';
import { eventsIn, storyOf } from '../../../src/answers/report/story.js';

const PERIOD = {
  since: '2025-03-09',
  until: '2025-03-15',
  days: 7,
  previous: { since: '2025-03-02', until: '2025-03-08' },
  shown: { since: '2025-01-01', until: '2025-03-15' },
};
const none = { now: 0, before: 0 };
const HEADLINE: Headline = {
  ...{ listed_on: '2025-03-15', compared_with: '2025-03-08', share_before: null, crawls: null, estimate: NO_ESTIMATE },
  pages: { now: 3022, before: 3008 },
  indexed: { now: 2376, before: 2533 },
  fell_out: { now: 304, before: 0 },
  ...{ without_data: none, entered: none, returned: none, appeared: none, disappeared: none },
  ...{ canonical_flips: none, robots_blocked: none, robots_unblocked: none },
  ...{ not_inspected: 0, first_inspected: 0, retired: 0, unconfirmed: 0, rich_results_failed: 0, clicks_lost: 0 },
};
const BROKE: EventRow = {
  ...{ snapshot_date: '2025-03-12', nights: 1, what: 'website', name: null, change: -188, crawls: null, notes: null },
  ...{ direction: 'left', moved: 208, directory: '/blog/', directory_pages: 195 },
  ...{ state: 'Crawled - currently not indexed', state_pages: 201 },
};
const IN_BLOG: CommonRow = {
  ...{ website_id: 'shop', dimension: 'directory', value: '/blog/', pages: 447 },
  ...{ changed: 203, share: 0.668, overall_share: 0.148, lift: 4.5 },
};
const sentencesOf = (given: Partial<Parameters<typeof storyOf>[0]>) =>
  storyOf(
    { websites: [], balance: [], headline: HEADLINE, events: [], common: [], places: [], moved: [], ...given },
    PERIOD,
  ).map((one) => one.replaceAll('\u00a0', ' '));

describe('the story of a report', () => {
  it('says how much is indexed, what broke the trend and where, and what fallen pages had in common', () => {
    expect(sentencesOf({ events: [BROKE], common: [IN_BLOG] })).toEqual([
      '2,376 of 3,022 pages are indexed (78.6%), 157 fewer than on Mar 8. 304 pages fell out of the index.',
      'On Mar 12, 188 fewer pages were indexed than the night before: 208 left, 195 of them in /blog/, 201 to “Crawled - currently not indexed”.',
      'Of the pages that fell out, 66.8% were in the directory /blog/ (14.8% of all that were indexed).',
    ]);
  });

  it('has the events of the period only, the largest of whole websites first', () => {
    const events = [
      { ...BROKE, snapshot_date: '2025-03-08' },
      { ...BROKE, what: 'state' as const, change: -900 },
      { ...BROKE, change: 20 },
      BROKE,
    ];
    expect(eventsIn(events, PERIOD).map(({ change }) => change)).toEqual([-188, 20, -900]);
  });

  it('is silent on causes where no page fell out, and on everything without a complete listing', () => {
    expect(sentencesOf({ headline: { ...HEADLINE, fell_out: none }, common: [IN_BLOG] })).toHaveLength(1);
    // Nor is what is not known a cause.
    const unknown = { ...IN_BLOG, dimension: 'sitemap', value: '(no report)' };
    expect(sentencesOf({ common: [unknown] })).toHaveLength(1);
    expect(sentencesOf({ headline: { ...HEADLINE, listed_on: null }, events: [BROKE] })).toEqual([]);
  });
});
