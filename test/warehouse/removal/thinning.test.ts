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
      path: '',
    };
  });
}

const CASES: [what: string, commits: string[], fates: string[]][] = [
  [
    'months are those of the calendar',
    ['2025-01-01', '2025-01-31', '2025-02-01', '2025-02-28', '2025-04-20'],
    ['goes', 'last_of_month', 'goes', 'last_of_month', 'recent'],
  ],
  [
    'of a month the last complete one stays',
    ['2025-03-03', '2025-03-04', '2025-03-05 partial', '2025-04-20'],
    ['goes', 'last_of_month', 'goes', 'recent'],
  ],
  [
    'where none of a month is complete, the last stays',
    ['2025-03-03 partial', '2025-03-04 partial', '2025-04-20'],
    ['goes', 'last_of_month', 'recent'],
  ],
  [
    'the last of a month that goes on behind the limit is not old yet, so the older ones of it go',
    ['2025-04-01', '2025-04-15', '2025-04-16'],
    ['goes', 'recent', 'recent'],
  ],
  [
    'the newest complete listing stays, however old it is',
    ['2025-03-03', '2025-03-04', '2025-03-05 partial'],
    ['goes', 'newest_listing', 'goes'],
  ],
];

test.each(CASES)('%s', (_, commits, fates) => {
  expect([...thin(markersOn(...commits), 'coverage', '2025-04-15').values()]).toEqual(fates);
});
