import { expect, test } from 'vitest';
import { atLength } from '../../given/at-length.js';
import { run } from '../../given/cli.js';
import { buildWarehouse } from '../../given/warehouse.js';
import { SHOP_TOKEN, startDashboard } from '../../serve/dashboard/given.js';
import { rowsOf, shownText } from '../../serve/dashboard/visitor.js';
import { moved, movedIn, snapshotsOf } from '../index-truth.js';
import { broken, indexed, out, reportOf } from './given.js';

const [A, B, C, D, E] = ['a', 'b', 'c', 'd', 'e'].map((name) => `https://shop.example/${name}`) as [
  string,
  string,
  string,
  string,
  string,
];
const HOURS = { UTC: '02', 'Asia/Tokyo': '03', 'America/New_York': '05' };

test.each(atLength(['UTC'] as const, ['UTC', 'Asia/Tokyo', 'America/New_York'] as const))(
  'what no listing says is unknown on every face, and missed nights are named, in %s',
  async (time_zone) => {
    const night = (at: string, shop: ReturnType<typeof out>[]) => {
      return { at: `2025-03-${at}:00:00Z`, lists: { shop }, sections: { warehouse: { time_zone } } };
    };
    const hour = HOURS[time_zone];
    const { path } = await buildWarehouse([
      night(`01T${hour}`, [indexed(A), indexed(B), out(C), out(E)]),
      night(`02T${hour}`, [indexed(A), indexed(B), out(C)]),
      night(`03T${hour}`, [indexed(A), indexed(B), out(C)]),
      night(`05T${hour}`, [out(A), out(B), indexed(C)]),
      night('05T12', [out(A), indexed(B), indexed(C), indexed(D)]),
      night(`06T${hour}`, [out(A), indexed(B), indexed(C), indexed(D)]),
      night(`07T${hour}`, [indexed(A), broken(B)]),
    ]);
    const snapshots = await snapshotsOf(path);
    const truth = movedIn(snapshots, '2025-03-04', '2025-03-06');
    expect([truth?.fellOut, truth?.entered, truth?.returned]).toEqual([[A], [C, D], [B]]);

    const { report } = await reportOf({ path }, { since: '2025-03-04', until: '2025-03-06' });
    expect(report.sections[0]?.story.map((one) => one.replaceAll('\u00a0', ' '))).toEqual([
      '3 of 4 pages are indexed (75.0%), 1 more than on Mar 3. 1 page fell out of the index. 1 more fell out and is back. ' +
        '2 pages entered it, 1 of them new or back in the listing.',
      'Mar 4 has no complete listing; Mar 5 has several snapshots, of which the last complete one counts.',
    ]);

    // The picture of the nights: each date of its last complete listing, and nothing of the others.
    const { dates = [], pages = [], moves = [] } = report.sections[0]?.nights ?? {};
    const picture = dates.map((_, at) => [...pages, ...moves].map((layer) => layer.pages[at]));
    expect([...pages, ...moves].map(({ name }) => name)).toEqual([
      'indexed',
      'not indexed',
      'no longer listed',
      'entered the index',
      'not indexed any more',
    ]);
    const listings = dates.map((date) => snapshots.findLast((one) => one.date === date && one.isComplete));
    expect(picture).toEqual(
      listings.map((listing, at) => {
        if (!listing) return [null, null, null, null, null];
        const counted = (status: string) => [...listing.known.values()].filter((page) => page.status === status).length;
        const before = listings.slice(0, at).findLast((one) => one !== undefined);
        const { entered, fellOut } = before ? moved(snapshots, before, listing) : {};
        const steps = [entered?.length ?? null, fellOut ? 0 - fellOut.length : null];
        return [counted('indexed'), counted('not_indexed'), counted('gone'), ...steps];
      }),
    );

    for (const [date, caveat] of [
      ['2025-03-04', 'The newest complete listing is of 2025-03-03, before this period.'],
      ['2025-03-07', 'The listing of 2025-03-07 is partial: the numbers of pages are those of 2025-03-06.'],
    ] as const) {
      const { report: empty, page } = await reportOf({ path }, { since: date, until: date });
      expect([empty.total.fell_out.now, empty.total.entered.now, empty.total.returned.now]).toEqual([null, null, null]);
      expect(empty.sections[0]?.caveats).toContain(caveat);
      expect(empty.sections[0]?.news).toEqual([]);
      expect(shownText(page)).toMatch(/Fell out of the index–/);
      const json = await run([
        'report',
        '--json',
        '--warehouse',
        path,
        '--since',
        date,
        '--until',
        date,
        '--out',
        `${path}.html`,
      ]);
      expect(JSON.parse(json.stdout)).toMatchObject({ total: { fell_out: { now: null }, entered: { now: null } } });
    }
    const sides = ['since=2025-03-03', 'until=2025-03-04', '--json', '--warehouse', path];
    const { stdout } = await run(['query', 'compare', ...sides]);
    const [first] = JSON.parse(stdout);
    expect(first).toMatchObject({
      left_side: '2025-03-03',
      right_side: '2025-03-03',
      right_pages: 3,
      difference: null,
    });

    // The overview ends with the newest complete listing.
    const dashboard = await startDashboard(path);
    const overview = await (await dashboard.visitor(SHOP_TOKEN)).get('/dashboard/websites/shop?days=1');
    expect(shownText(overview.text)).toContain(
      'The listing of 2025-03-07 is partial: the numbers of pages are those of 2025-03-06.',
    );
    expect(rowsOf(overview, 'deltas')[0]?.slice(0, 2)).toEqual(['Indexed', '3']);
  },
);
