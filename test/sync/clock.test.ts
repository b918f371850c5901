import { v7 as uuidv7 } from 'uuid';
import { expect, test } from 'vitest';
import { createLogger } from '../../src/base/observe/log.js';
import { timeOfId } from '../../src/base/time.js';
import { runExitCode } from '../../src/sync/receipt.js';
import { idAfter } from '../../src/sync/run-clock.js';
import { journalFolder } from '../../src/warehouse/journal/folder.js';
import { readHeader, writeHeader } from '../../src/warehouse/journal/header.js';
import { atLength, once, testAtLength } from '../given/at-length.js';
import { startSimulator } from '../given/client-clock.js';
import { writeConfig } from '../given/config-file.js';
import { temporaryFolder } from '../given/folder.js';
import { Home, type HomeSync } from '../given/home.js';
import { readTable } from '../given/parquet.js';

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;
const RIGHT = Date.parse('2025-03-03T02:00:00.000Z');

async function simulated(clock = () => RIGHT) {
  const simulator = await startSimulator({ clock, websites: [{ id: 'w', pages: 12 }] });
  return simulator;
}

/** A home whose syncs begin at times of the test's choosing; each look at the clock takes a millisecond. */
async function givenHome(clock?: () => number) {
  const service = await simulated(clock);
  const home = new Home(temporaryFolder(), service, ['w'], {
    api: { concurrency: 1 },
    reports: { refresh_after: '0d' },
  });
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

test.each(atLength([-11, 61], [9, 59, -61, 365 * 1440]))('a clock %i minutes ahead of the service', async (minutes) => {
  const { sync, said, left, service } = await givenHome();
  const receipt = await sync(RIGHT + minutes * MINUTE);
  const message = expect.stringMatching(
    `clock is .* ${minutes > 0 ? 'ahead of' : 'behind'} that of the service at ${service.url}: it is .* here, 2025-03-03 02:00 UTC there; set this`,
  );
  if (Math.abs(minutes) > 60) {
    expect([runExitCode(receipt), receipt.websites[0]?.error, said()]).toEqual([1, message, [message]]);
    expect([service.requests.attempted, await left()]).toEqual([1, NOTHING]);
  } else expect([runExitCode(receipt), said()]).toEqual(Math.abs(minutes) > 10 ? [3, [message]] : [0, []]);
});

once.each([{ token: 'wrong', websites: ['w'] }, {}])('a wrong clock records nothing, even with %o', async (given) => {
  const { home, sync, left, service } = await givenHome();
  await sync(RIGHT);
  const before = await left();
  writeConfig(home.folder, { baseUrl: service.url, ...given });
  const { websites } = await sync(RIGHT + 2 * DAY);
  expect(websites).toMatchObject([{ status: 'failed', error: expect.stringContaining('2d ahead of that') }]);
  expect(await left()).toEqual(before);
});

once('up to an hour behind the newest snapshot, snapshots and runs follow it; beyond, none do', async () => {
  let right = RIGHT;
  const { home, sync, said, left, service } = await givenHome(() => right);
  for (const minutes of [0, 9, 59]) {
    right = RIGHT - minutes * MINUTE;
    expect((await sync(right)).websites).toMatchObject([{ status: 'committed' }]);
    expect(said()).toHaveLength(minutes > 10 ? 1 : 0);
    service.advance();
  }
  const { snapshots } = await left();
  const [first = 0, ...later] = snapshots.map((row) => Number(row['snapshot_at']));
  expect(later).toEqual([first + 1, first + 2]);
  for (const row of snapshots) expect(Number(row['finished_at'])).toBeGreaterThanOrEqual(Number(row['snapshot_at']));
  const runs = snapshots.map((row) => String(row['run_id']));
  expect(runs).toEqual([...runs].sort());
  const before = service.requests.attempted;
  right = RIGHT - 61 * MINUTE;
  const latest = String(snapshots.at(-1)?.['snapshot_id']);
  const error = expect.stringMatching(
    `1h 1m behind the newest snapshot, ${latest}: .*wait until then, or restore a backup`,
  );
  expect((await sync(right)).websites).toMatchObject([{ status: 'failed', error }]);
  expect([service.requests.attempted, await left()]).toMatchObject([before, { journals: 0, runs: 3 }]);
  expect((await home.wrong()).filter(({ level }) => level === 'difference')).toEqual([]);
});

once('a run that began while the clock was ahead is dropped, once the service shows that it is right', async () => {
  let right = RIGHT + 3 * DAY;
  const { sync, said, left } = await givenHome(() => right);
  await expect(sync(right, { stopAfter: { reports: 5 } })).rejects.toThrow('stopped');
  right = RIGHT;
  // A clock that is wrong the other way takes nothing away.
  await sync(RIGHT - DAY);
  expect(await left()).toEqual({ ...NOTHING, journals: 1 });
  said();
  const [website] = (await sync(RIGHT)).websites;
  expect(website).toMatchObject({ status: 'committed', resumed: false, reports: { fetched: 12, reused: 0 } });
  expect(said()).toEqual([expect.stringContaining('began 3d from now')]);
  const { snapshots, ...rest } = await left();
  expect(rest).toEqual({ journals: 0, runs: 1 });
  expect(Number(snapshots[0]?.['snapshot_at']) - RIGHT).toBeLessThan(MINUTE);
});

testAtLength('where the service has no usable date, such a run stays until somebody decides', async () => {
  const { home, sync, left } = await givenHome(() => Number.NaN);
  await expect(sync(RIGHT + 3 * DAY, { stopAfter: { reports: 5 } })).rejects.toThrow('stopped');
  const error = expect.stringContaining(
    `began 3d from now, by this machine's clock; set the clock, or delete ${home.journal('w')}`,
  );
  expect((await sync(RIGHT)).websites).toMatchObject([{ status: 'failed', error }]);
  expect(await left()).toEqual({ ...NOTHING, journals: 1 });
});

testAtLength('a run outlives nights with a wrong clock, and asks for no report again', async () => {
  const { sync, left } = await givenHome();
  await expect(sync(RIGHT, { stopAfter: { reports: 5 } })).rejects.toThrow('stopped');
  for (const now of [RIGHT - DAY, RIGHT + 90 * DAY]) {
    expect((await sync(now)).websites).toMatchObject([{ error: expect.stringContaining('clock is') }]);
    expect(await left()).toEqual({ ...NOTHING, journals: 1 });
  }
  expect((await sync(RIGHT)).websites).toMatchObject([{ status: 'committed', reports: { fetched: 12, reused: 5 } }]);
});

testAtLength('a clock that runs back in the middle of a run', async () => {
  const { home, sync, left, service } = await givenHome();
  const jump = (from: number, to: number) => {
    const after = service.requests.attempted + 5;
    return () => (service.requests.attempted < after ? from : to);
  };
  await sync(RIGHT, { clock: jump(RIGHT, RIGHT - 40 * MINUTE) });
  const [first] = (await left()).snapshots;
  expect([first?.['snapshot_at'], first?.['finished_at']]).toEqual([new Date(RIGHT), new Date(RIGHT)]);
  service.advance();
  // Back behind the newest snapshot: what was received stays for a night with the right time.
  const [stopped] = (await sync(RIGHT, { clock: jump(RIGHT + MINUTE, RIGHT - DAY) })).websites;
  expect(stopped?.error).toContain('behind the newest');
  expect(await left()).toMatchObject({ journals: 1, runs: 1 });
  expect((await sync(RIGHT + 2 * MINUTE)).websites).toMatchObject([{ status: 'committed', resumed: true }]);
  expect((await home.wrong()).filter(({ level }) => level === 'difference')).toEqual([]);
});

once('ids rise, though the clock runs back', () => {
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
