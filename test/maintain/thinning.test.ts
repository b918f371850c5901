import { describe, expect, test } from 'vitest';
import { type ThinningRule, thin } from '../../src/maintain/thinning.js';
import type { Marker } from '../../src/warehouse/markers.js';

const RECENT = { dailyFrom: '2025-04-01', period: 'weekly' } satisfies ThinningRule;

/** Commits by their dates; `partial` and `replay` behind the date say what is special about one. */
function markersOn(...commits: string[]): Marker[] {
  return commits.map((commit, at) => {
    const [date = '', what = ''] = commit.split(' ');
    return {
      kind: what === 'replay' ? 'replay' : 'snapshot',
      commitId: `id-${at}`,
      snapshotId: `id-${at}`,
      runId: `id-${at}`,
      websiteId: 'w',
      websiteName: null,
      snapshotAt: `${date}T02:00:00.000Z`,
      date,
      committedAt: '2025-01-01T00:00:00.000Z',
      listingComplete: what === '',
      files: { coverage: { rows: 1, bytes: 1, sha256: '' } },
      dropped: {},
      absent: {},
      unreadable: {},
      path: '',
    };
  });
}

function fatesOf(markers: Marker[], rule: Partial<ThinningRule> = {}): string[] {
  return [...thin(markers, 'coverage', { ...RECENT, ...rule }).values()];
}

describe('what a rule makes of the files of a table', () => {
  test('weeks are those of the calendar, from Monday to Sunday, also across the end of a year', () => {
    const markers = markersOn('2024-12-29', '2024-12-30', '2025-01-05', '2025-01-06', '2025-04-01');
    expect(fatesOf(markers)).toEqual(['last_of_period', 'goes', 'last_of_period', 'last_of_period', 'recent']);
  });

  test('months are those of the calendar', () => {
    const markers = markersOn('2025-01-01', '2025-01-31', '2025-02-01', '2025-02-28', '2025-04-01');
    const fates = ['goes', 'last_of_period', 'goes', 'last_of_period', 'recent'];
    expect(fatesOf(markers, { period: 'monthly' })).toEqual(fates);
  });

  test('of a period the last complete one stays; where none is complete, the last', () => {
    const markers = markersOn('2025-03-03', '2025-03-04', '2025-03-05 partial', '2025-04-01');
    expect(fatesOf(markers)).toEqual(['goes', 'last_of_period', 'goes', 'recent']);
    const none = markersOn('2025-03-03 partial', '2025-03-04 partial', '2025-04-01');
    expect(fatesOf(none)).toEqual(['goes', 'last_of_period', 'recent']);
  });

  test('the last of a period that goes on behind the limit is not old yet, so the older ones of it go', () => {
    const markers = markersOn('2025-03-31', '2025-04-01', '2025-04-02');
    expect(fatesOf(markers)).toEqual(['goes', 'recent', 'recent']);
  });

  test('the newest complete listing stays, however old it is, and rows that were replayed', () => {
    const markers = markersOn('2025-03-03', '2025-03-04', '2025-03-04 replay', '2025-03-05 partial');
    expect(fatesOf(markers)).toEqual(['goes', 'newest_listing', 'replayed', 'goes']);
  });

  test('what has no file is not asked about, and what is done once is not done again', () => {
    const [first, ...rest] = markersOn('2025-03-03', '2025-03-04', '2025-04-01');
    const thinned = [{ ...first, files: {}, dropped: first?.files ?? {} } as Marker, ...rest];
    expect(fatesOf(thinned)).toEqual(['last_of_period', 'recent']);
  });
});
