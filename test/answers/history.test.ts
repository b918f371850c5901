import { beforeAll, describe, expect, test } from 'vitest';
import type { Reader } from '../../src/answers/query/reader.js';
import { atLength, seeds } from '../given/at-length.js';
import type { Row } from '../given/parquet.js';
import { randomWarehouse } from '../given/random-world.js';
import { maintainAt } from '../given/thinned.js';
import { findingsOf } from '../given/verified.js';
import { type IndexTruth, type Known, movedIn, snapshotsOf, stateOf } from './index-truth.js';
import { analysisRows, openReader, rowsOf } from './query/given.js';

/** Worlds as in `one-number.test.ts`; what is asked about is long past, and retention has removed its listings. */
describe.each(seeds(1, 0.5))('the history of world %i', (seed) => {
  let snapshots: IndexTruth[];
  let reader: Reader;

  beforeAll(async () => {
    const { path } = await randomWarehouse(seed);
    snapshots = await snapshotsOf(path);
    expect((await findingsOf(path)).filter(({ level }) => level !== 'lag')).toEqual([]);
    await maintainAt(path, { now: Date.parse(`${snapshots.at(-1)?.date}T23:00:00Z`) });
    reader = await openReader(path);
  });

  test('has every page as it was at the end of every snapshot', async () => {
    const kinds = new Set<string>();
    for (const snapshot of atLength(
      snapshots.filter((_, at) => at % 3 === 0),
      snapshots,
    )) {
      const rows = await asked(`pages_as_of('${snapshot.snapshotId}')`);
      const found = rows.map((row) => [row['url'], row['status'], row['index_coverage_state']]).sort();
      const known = [...snapshot.known].map(([url, { status, row }]) => [
        url,
        status,
        row['index_coverage_state'] ?? null,
      ]);
      expect(found).toEqual(known.sort());
      for (const [, status] of known) kinds.add(String(status));
    }
    expect([...kinds]).toEqual(expect.arrayContaining(['data_lost', 'gone', 'indexed', 'not_indexed']));
    const { date } = snapshots[7] ?? { date: '' };
    const last = snapshots.findLast((one) => one.date === date);
    expect(await asked(`pages_as_of('${date}')`)).toHaveLength(last?.known.size ?? -1);
  });

  test('says of every period how each page moved, from which state and to which', async () => {
    const dates = [...new Set(snapshots.map(({ date }) => date))];
    let moved = 0;
    for (const [at, since] of atLength(
      [...dates.entries()].filter(([at]) => at % 4 === 0),
      [...dates.entries()],
    )) {
      for (const until of [since, dates[at + 2] ?? since, dates[at + 7] ?? since]) {
        const truth = movedIn(snapshots, since, until);
        const found = await asked(`index_moves('${since}', '${until}')`);
        const expected = truth ? movesOf(snapshots, truth.before, truth.now) : [];
        const seen = found.map((row) => Object.keys(expected[0] ?? {}).map((name) => row[name] ?? null));
        expect([since, until, seen.sort()]).toEqual([since, until, expected.map(Object.values).sort()]);
        moved += expected.filter(({ move }) => move !== null).length;
      }
    }
    expect(moved).toBeGreaterThan(atLength(50, 200));
  });

  test('counts in every period how pages went from state to state', async () => {
    const dates = [...new Set(snapshots.map(({ date }) => date))];
    let movedOn = 0;
    for (const [at, since] of dates.entries()) {
      for (const until of atLength([dates[at + 3] ?? since], [since, dates[at + 2] ?? since, dates[at + 7] ?? since])) {
        const found = await analysisRows(reader, 'state_transitions', { website: 'shop', since, until });
        const expected = transitionsIn(snapshots, since, until);
        const seen = found.map((row) =>
          Object.keys(expected[0] ?? {})
            .map((name) => row[name] ?? null)
            .join(),
        );
        expect([since, until, seen.sort()]).toEqual([
          since,
          until,
          expected.map((row) => Object.values(row).join()).sort(),
        ]);
        movedOn += expected.filter(({ pages, still }) => still < pages).length;
      }
    }
    expect(movedOn).toBeGreaterThan(0);
  });

  const asked = (relation: string): Promise<Row[]> => rowsOf(reader, `from ${relation} where website_id = 'shop'`);
});

/** How each page moved between two listings, from what is known of it at the end of each snapshot. */
function movesOf(snapshots: readonly IndexTruth[], before: IndexTruth, now: IndexTruth) {
  const between = snapshots.slice(snapshots.indexOf(before), snapshots.indexOf(now) + 1);
  return [...now.known].map(([url, end]) => {
    const path = between.map(({ known }) => known.get(url));
    const is = path.map((one) => one?.status === 'indexed');
    const steps = path.flatMap((one, at) => (at > 0 && is[at] !== is[at - 1] ? [{ one, fell: !is[at] }] : []));
    const falls = steps.filter(({ fell }) => fell);
    const [was, isIndexed] = [is[0] ?? false, is.at(-1) ?? false];
    const back = was ? 'returned' : 'passed';
    const move = was !== isIndexed ? (was ? 'fell_out' : 'entered') : steps.length > 0 ? back : null;
    const step = (was === isIndexed ? falls : steps).at(-1);
    return {
      url,
      was_indexed: was,
      is_indexed: isIndexed,
      move,
      falls: falls.length,
      from_state: stateOf(path[0]),
      to_state: stateOf(step?.one ?? end),
      end_state: stateOf(end),
    };
  });
}

/** The pages that were listed on both sides of a snapshot of the period, in another state: from which to which, and what became of them. */
function transitionsIn(snapshots: readonly IndexTruth[], since: string, until: string) {
  const isIn = ({ date }: IndexTruth) => date >= since && date <= until;
  const state = (page: Known | undefined) => String(page?.row['index_coverage_state'] ?? '');
  const inState = (one: IndexTruth, from: string) =>
    [...one.known.values()].filter((page) => page.status !== 'gone' && state(page) === from).length;
  const moves = snapshots.flatMap((now, at) =>
    [...(isIn(now) ? now.known : [])].flatMap(([url, page]) => {
      const was = snapshots[at - 1]?.known.get(url);
      const isThere = was !== undefined && was.status !== 'gone' && page.status !== 'gone';
      return isThere && state(was) !== state(page) ? [{ url, key: [state(was), state(page)].join('\n') }] : [];
    }),
  );
  const end = snapshots.findLast(({ date }) => date <= until)?.known;
  const listings = snapshots.filter((one, at) => {
    const next = snapshots.slice(at + 1).find(({ isComplete }) => isComplete);
    return one.isComplete && one.date !== next?.date;
  });
  return [...new Set(moves.map(({ key }) => key))].map((key) => {
    const made = moves.filter((one) => one.key === key);
    const [from = '', to = ''] = key.split('\n');
    const urls = [...new Set(made.map(({ url }) => url))];
    const isStill = (url: string) => end?.get(url)?.status !== 'gone' && state(end?.get(url)) === to;
    const nights = listings.flatMap((one, at) => (at > 0 && isIn(one) ? [inState(listings[at - 1] ?? one, from)] : []));
    const stood = nights.reduce((sum, pages) => sum + pages, 0);
    return {
      from_state: from,
      to_state: to,
      pages: urls.length,
      still: urls.filter(isStill).length,
      changes: made.length,
      share_per_night: stood > 0 ? Math.round((made.length / stood) * 1e6) / 1e6 : '',
    };
  });
}
