import { describe, expect, test } from 'vitest';
import { type NightlyWebsite, type NightRules, type NightsToYoung, playNights } from '../../src/forecast/nights.js';

const NOTHING = { missing: 0, changed: 0, new: 0, recrawled: 0 };
const RULES: NightRules = {
  capacity: Number.POSITIVE_INFINITY,
  maxPerRun: Number.POSITIVE_INFINITY,
  youngDays: 30,
  refreshDays: 0,
};

function website(ages: NightlyWebsite['ages'], nightly: Partial<NightlyWebsite['nightly']> = {}): NightlyWebsite {
  return { ages, waiting: { changed: 0, recrawled: 0 }, nightly: { ...NOTHING, ...nightly } };
}

function withoutReports(pages: number, nightly = {}): NightlyWebsite {
  return website([{ days: null, pages }], nightly);
}

function play(one: NightlyWebsite, rules: Partial<NightRules>): NightsToYoung | undefined {
  return playNights([one], { ...RULES, ...rules })[0];
}

function nights(one: NightlyWebsite, rules: Partial<NightRules>): number | null | undefined {
  return play(one, rules)?.nights;
}

describe('nights until every report is young', () => {
  test.each([
    ['without reports, all in one night', withoutReports(1000), {}, 1],
    ['no pages at all', withoutReports(0), {}, 0],
    ['young already', website([{ days: 29, pages: 10 }]), {}, 0],
    ['as old as the limit is not younger', website([{ days: 30, pages: 10 }]), {}, 1],
    ['by the capacity', withoutReports(1000), { capacity: 300 }, 4],
    ['by the budget', withoutReports(1000), { capacity: 300, maxPerRun: 100 }, 10],
    [
      'only the old ones',
      website([
        { days: 40, pages: 500 },
        { days: 2, pages: 500 },
      ]),
      { capacity: 250 },
      2,
    ],
    [
      'those that grow old meanwhile, too',
      website([
        { days: 40, pages: 500 },
        { days: 29, pages: 500 },
      ]),
      { capacity: 250 },
      4,
    ],
    ['as many nights as days at most', withoutReports(3000), { capacity: 100 }, 30],
    ['one too many a night', withoutReports(3001), { capacity: 100 }, null],
    ['new ones every night', withoutReports(1000, { new: 100 }), { capacity: 300 }, 5],
    [
      'changed pages take their share, and missing reports come after',
      withoutReports(1000, { changed: 50 }),
      { capacity: 300 },
      4,
    ],
    ['recrawled pages come after missing reports', withoutReports(1000, { recrawled: 250 }), { capacity: 250 }, 4],
    ['changed pages take all', withoutReports(1000, { changed: 300 }), { capacity: 100, youngDays: 5 }, null],
    ['no report at all', withoutReports(10), { maxPerRun: 0 }, null],
    ['no time', withoutReports(10), { capacity: 0 }, null],
    [
      'kept longer than they are young',
      website([
        { days: 12, pages: 10 },
        { days: 5, pages: 10 },
      ]),
      { youngDays: 3, refreshDays: 20 },
      null,
    ],
    [
      'kept as long as they are young',
      website([
        { days: 29, pages: 5 },
        { days: 35, pages: 5 },
      ]),
      { refreshDays: 30 },
      1,
    ],
  ])('%s', (_, one, rules, expected) => {
    expect(nights(one, rules)).toBe(expected);
  });

  test('of websites that share a key, each by its own fair share', () => {
    const small = withoutReports(100);
    const large = withoutReports(1000);
    const nightsOf = (refreshDays: number) =>
      playNights([small, large], { ...RULES, capacity: 200, refreshDays }).map((website) => website.nights);
    // Where the smaller one need not be fetched again, the larger one gets all from the second night on.
    expect([nightsOf(0), nightsOf(7)]).toEqual([
      [1, 10],
      [1, 6],
    ]);
  });

  test('never takes a bounded time to find out, and tells what a night reaches', () => {
    const many = Array.from({ length: 200 }, () => withoutReports(1_000_000));
    const played = playNights(many, { ...RULES, capacity: 10_000, youngDays: 3650 });
    expect(played.every((website) => website.nights === null)).toBe(true);
    expect(played[0]).toMatchObject({ reports: 50, refreshed: 50, pages: 1_000_000 });
  });
});
