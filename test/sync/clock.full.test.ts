import { v7 as uuidv7 } from 'uuid';
import { expect, test } from 'vitest';
import { createLogger } from '../../src/base/observe/log.js';
import { timeOfId } from '../../src/base/time.js';
import { runExitCode } from '../../src/sync/receipt.js';
import { idAfter } from '../../src/sync/run-clock.js';
import { journalFolder } from '../../src/warehouse/journal/folder.js';
import { readHeader, writeHeader } from '../../src/warehouse/journal/header.js';
import { startSimulator } from '../given/client-clock.js';
import { temporaryFolder } from '../given/folder.js';
import { Home, type HomeSync } from '../given/home.js';
import { readTable } from '../given/parquet.js';

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;
const RIGHT = Date.parse('2025-03-03T02:00:00.000Z');

/** A home whose syncs begin at times of the test's choosing; each look at the clock takes a millisecond. */
async function givenHome(clock = () => RIGHT) {
  const service = await startSimulator({ clock, websites: [{ id: 'w', pages: 12 }] });
  const sections = { api: { concurrency: 1 }, reports: { refresh_after: '0d' } };
  const home = new Home(temporaryFolder(), service, ['w'], sections);
  const lines: { level: string; msg: string }[] = [];
  const logger = createLogger({ destination: { write: (line) => lines.push(JSON.parse(line)) } });
  return {
    home,
    service,
    sync: (now: number, more: HomeSync = {}) => home.sync({ clock: () => now++, logger, follow: false, ...more }),
    /** What was said at `warn` and above since the last time. */
    said: () => lines.splice(0).flatMap(({ level, msg }) => (/warn|error/.test(level) ? [msg] : [])),
    /** Unfinished runs, rows of `runs` and of `snapshots`, these in the order of their ids. */
    left: async () => {
      const [runs, snapshots] = [await readTable(home.warehouse, 'runs'), await readTable(home.warehouse, 'snapshots')];
      const id = 'snapshot_id';
      snapshots.sort((one, other) => (String(one[id]) < String(other[id]) ? -1 : 1));
      return { journals: home.unfinished().length, runs: runs.length, snapshots };
    },
  };
}

const NOTHING = { journals: 0, runs: 0, snapshots: [] };

test('a clock more than an hour off the service’s records nothing, one more than ten minutes off warns', async () => {
  const { sync, said, left, service } = await givenHome();
  const message = (away: string) =>
    expect.stringMatching(
      `clock is .* ${away} that of the service at ${service.url}: it is .* here, 2025-03-03 02:00 UTC there; set this`,
    );
  for (const [minutes, away] of [
    [61, 'ahead of'],
    [-61, 'behind'],
  ] as const) {
    const receipt = await sync(RIGHT + minutes * MINUTE);
    expect([runExitCode(receipt), receipt.websites[0]?.error, said()]).toEqual([1, message(away), [message(away)]]);
    expect(await left()).toEqual(NOTHING);
  }
  expect(service.requests.attempted).toBe(2);
  expect([runExitCode(await sync(RIGHT + 9 * MINUTE)), said()]).toEqual([0, []]);
  expect([runExitCode(await sync(RIGHT + 59 * MINUTE)), said()]).toEqual([3, [message('ahead of')]]);
});

test('up to an hour behind the newest snapshot, snapshots and runs follow it; beyond, none do', async () => {
  let right = RIGHT;
  const { sync, said, left, service } = await givenHome(() => right);
  for (const minutes of [0, 59]) {
    right = RIGHT - minutes * MINUTE;
    expect((await sync(right)).websites).toMatchObject([{ status: 'committed' }]);
    expect(said()).toHaveLength(minutes > 10 ? 1 : 0);
    service.advance();
  }
  const { snapshots } = await left();
  const [first, second] = snapshots.map((row) => Number(row['snapshot_at']));
  expect(second).toBe((first ?? 0) + 1);
  const runs = snapshots.map((row) => String(row['run_id']));
  expect(runs).toEqual([...runs].sort());
  const before = service.requests.attempted;
  right = RIGHT - 61 * MINUTE;
  const latest = String(snapshots.at(-1)?.['snapshot_id']);
  const behind = `1h 1m behind the newest snapshot, ${latest}: .*wait until then, or restore a backup`;
  expect((await sync(right)).websites).toMatchObject([{ status: 'failed', error: expect.stringMatching(behind) }]);
  expect([service.requests.attempted, await left()]).toMatchObject([before, { journals: 0, runs: 2 }]);
});

test('a run outlives nights with a wrong clock; one that began while the clock was ahead is dropped', async () => {
  let right = RIGHT + 3 * DAY;
  const { sync, said, left } = await givenHome(() => right);
  await expect(sync(right, { stopAfter: { reports: 5 } })).rejects.toThrow('stopped');
  right = RIGHT;
  // A clock that is wrong takes nothing away.
  for (const now of [RIGHT - DAY, RIGHT + 90 * DAY]) {
    expect((await sync(now)).websites).toMatchObject([{ error: expect.stringContaining('clock is') }]);
    expect(await left()).toEqual({ ...NOTHING, journals: 1 });
  }
  said();
  const [website] = (await sync(RIGHT)).websites;
  expect(website).toMatchObject({ status: 'committed', resumed: false, reports: { fetched: 12, reused: 0 } });
  expect(said()).toEqual([expect.stringContaining('began 3d from now')]);
  const { snapshots, ...rest } = await left();
  expect(rest).toEqual({ journals: 0, runs: 1 });
  expect(Number(snapshots[0]?.['snapshot_at']) - RIGHT).toBeLessThan(MINUTE);
});

test('ids rise, though the clock runs back', () => {
  const later = uuidv7({ msecs: Date.now() + 30 * MINUTE });
  expect(timeOfId(idAfter(later)) - timeOfId(later)).toBe(1);
  for (const other of [uuidv7({ msecs: 1 }), 'no-id', undefined]) {
    expect(Math.abs(timeOfId(idAfter(other)) - Date.now())).toBeLessThan(MINUTE);
  }
});

test('a resumed run whose snapshot would sort before the newest one gives it another id', async () => {
  const { home, sync, left } = await givenHome();
  await sync(RIGHT);
  await expect(sync(RIGHT + MINUTE, { stopAfter: { reports: 5 } })).rejects.toThrow('stopped');
  const folder = journalFolder(home.warehouse, home.unfinished()[0] ?? '', 'w');
  const header = await readHeader(folder);
  if (header) await writeHeader(folder, { ...header, snapshot_id: uuidv7({ msecs: RIGHT }) });
  expect((await sync(RIGHT + 2 * MINUTE)).websites).toMatchObject([{ status: 'committed', resumed: true }]);
  const [first, second] = (await left()).snapshots;
  expect(Number(second?.['snapshot_at'])).toBeGreaterThan(Number(first?.['snapshot_at']));
});
