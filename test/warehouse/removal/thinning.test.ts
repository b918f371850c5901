import { expect, test } from 'vitest';
import type { Marker } from '../../../src/warehouse/log/markers.js';
import { thin } from '../../../src/warehouse/removal/thin.js';

/** Commits by their dates; `partial` behind a date marks a partial listing. */
function markersOn(...commits: string[]): Marker[] {
  return commits.map((commit, at) => {
    const [date = '', what = ''] = commit.split(' ');
    return {
      snapshotId: `id-${at}`,
      runId: `id-${at}`,
      websiteId: 'w',
      websiteName: null,
      snapshotAt: `${date}T02:00:00.000Z`,
      date,
      committedAt: '2025-01-01T00:00:00.000Z',
      listingComplete: what === '',
      byInspection: false,
      files: { coverage: { rows: 1, bytes: 1, sha256: '' } },
      dropped: {},
      absent: {},
      unreadable: {},
      path: '',
    };
  });
}

const CASES: [what: string, commits: string[], fates: string[], period?: 'weekly' | 'monthly'][] = [
  [
    'weeks are those of the calendar, from Monday to Sunday, also across the end of a year',
    ['2024-12-29', '2024-12-30', '2025-01-05', '2025-01-06', '2025-04-01'],
    ['last_of_period', 'goes', 'last_of_period', 'last_of_period', 'recent'],
  ],
  [
    'months are those of the calendar',
    ['2025-01-01', '2025-01-31', '2025-02-01', '2025-02-28', '2025-04-01'],
    ['goes', 'last_of_period', 'goes', 'last_of_period', 'recent'],
    'monthly',
  ],
  [
    'of a period the last complete one stays',
    ['2025-03-03', '2025-03-04', '2025-03-05 partial', '2025-04-01'],
    ['goes', 'last_of_period', 'goes', 'recent'],
  ],
  [
    'where none of a period is complete, the last stays',
    ['2025-03-03 partial', '2025-03-04 partial', '2025-04-01'],
    ['goes', 'last_of_period', 'recent'],
  ],
  [
    'the last of a period that goes on behind the limit is not old yet, so the older ones of it go',
    ['2025-03-31', '2025-04-01', '2025-04-02'],
    ['goes', 'recent', 'recent'],
  ],
  [
    'the newest complete listing stays, however old it is',
    ['2025-03-03', '2025-03-04', '2025-03-05 partial'],
    ['goes', 'newest_listing', 'goes'],
  ],
];

test.each(CASES)('%s', (_, commits, fates, period = 'weekly') => {
  expect([...thin(markersOn(...commits), 'coverage', { dailyFrom: '2025-04-01', period }).values()]).toEqual(fates);
});
