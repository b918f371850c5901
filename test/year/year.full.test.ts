import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { timeOfId } from '../../src/base/time.js';
import { temporaryFolder } from '../given/folder.js';
import { readTable } from '../given/parquet.js';
import { SmallDisk } from '../given/small-disk.js';
import { findingsOf } from '../given/verified.js';
import { CONCURRENCY, type Lived, liveThrough } from './life.js';
import { dateOf, expectedOf } from './oracle.js';
import { HOUSEHOLDS, type Plan, planFor } from './plan.js';

const SEED = Number(process.env['INDEXHOUSE_TEST_SEED'] ?? 1);
/** Nights in which the process is killed, `BLOWS` times each. */
const KILLS = [10, 10];
const DISK_BYTES = 400e6;
/** More than that is a leak: it is a heap after a collection. */
const HEAP_GROWTH_BYTES = 4e6;

const IS_LEFT_OUT = process.env['INDEXHOUSE_TEST_YEAR'] === 'no';
if (IS_LEFT_OUT) process.stdout.write('skipped: INDEXHOUSE_TEST_YEAR=no leaves the simulated year out\n');

test.skipIf(IS_LEFT_OUT)('a year, unattended: two daemons and five websites', async () => {
  const years = HOUSEHOLDS.map((household, at) => {
    const disk = SmallDisk.mount(DISK_BYTES);
    if (disk) onTestFinished(() => disk.unmount());
    const plan = planFor(household, SEED + at, { kills: KILLS[at] ?? 0, canFill: disk !== null });
    return { plan, disk, seed: SEED + at, folder: join(temporaryFolder(), household.name) };
  });
  const kills = await Promise.all(
    years.map(async ({ plan, seed, folder, disk }) => {
      const lived = await liveThrough(plan, seed, folder, disk);
      await expectLived(plan, seed, lived);
      return lived.machine.kills;
    }),
  );
  expect(kills.reduce((sum, one) => sum + one)).toBeGreaterThanOrEqual(40);
});

/** Compares what is there with what the oracle says. */
async function expectLived(plan: Plan, seed: number, lived: Lived): Promise<void> {
  const expected = expectedOf(plan, seed);
  expect(await snapshotsIn(lived.warehouse, plan)).toEqual(expected.snapshots.toSorted());
  expect(noticesOf(lived, plan).filter((one) => !expected.mayBeSent.includes(one))).toEqual(
    expected.notices.toSorted(),
  );
  expect(doubled(lived)).toEqual([]);
  expect(spentTwice(lived)).toEqual([]);
  expect(await findingsOf(lived.warehouse)).toEqual([]);
  expect(lived.heap.late - lived.heap.early).toBeLessThan(HEAP_GROWTH_BYTES);
}

/** Each snapshot as the oracle writes it. */
async function snapshotsIn(warehouse: string, plan: Plan): Promise<string[]> {
  const coverage = await readTable(warehouse, 'coverage');
  const snapshots = await readTable(warehouse, 'snapshots');
  return snapshots
    .map(({ snapshot_id, snapshot_at, website_id, pages_rejected }) => {
      const rows = coverage.filter((row) => row['snapshot_id'] === snapshot_id);
      const indexed = rows.filter(({ index_summary }) => index_summary === 'Indexed');
      const date = dateOf(nightOf(plan, Number(snapshot_at)));
      return `${date} ${website_id}: ${rows.length} pages, ${indexed.length} indexed, ${pages_rejected} rejected`;
    })
    .sort();
}

/** Each notice as the oracle writes it, however often it was sent. */
function noticesOf({ surroundings }: Lived, plan: Plan): string[] {
  const once = new Map(surroundings.notices.map((one) => [one.id, one]));
  return [...once.values()]
    .map(({ id, kind, website }) => `${dateOf(nightOf(plan, timeOfNotice(id)))} ${website} ${kind}`)
    .sort();
}

/** Its id ends with that of a snapshot or run, or with the beginning of an outage. */
function timeOfNotice(id: string): number {
  const [, kind = '', begunAt = ''] = /^(\w+):[^:]*:(.*)$/.exec(id) ?? [];
  return kind.startsWith('outage') ? Date.parse(begunAt) : timeOfId(id.split(':').at(-1) ?? '');
}

/** The night that was due last before a moment. */
function nightOf({ due }: Plan, time: number): number {
  return due.findLast((night) => night <= time) ?? 0;
}

/** Notices that were sent more often than a kill in the moment of sending explains. */
function doubled({ surroundings, mayBeDoubled }: Lived): string[] {
  const excused = [...mayBeDoubled];
  const seen = new Set<string>();
  return surroundings.notices
    .filter(({ id }) => {
      if (!seen.has(id)) {
        seen.add(id);
        return false;
      }
      const at = excused.indexOf(id);
      if (at >= 0) excused.splice(at, 1);
      return at < 0;
    })
    .map(({ id }) => id);
}

/** Nights in which more reports were answered again than their kills explain. */
function spentTwice({ surroundings, killed }: Lived): string[] {
  const again = new Map<number, number>();
  for (const [key, answered] of surroundings.reports) {
    const night = Number(key.split(' ')[0]);
    again.set(night, (again.get(night) ?? 0) + answered - 1);
  }
  return [...again]
    .filter(([night, times]) => times > (killed.get(night) ?? 0) * CONCURRENCY)
    .map(([night, times]) => `night ${night}: ${times}`);
}
