import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { DATA_TABLES, type Table } from '../../../../src/warehouse/log/folder/tables.js';
import { run, start } from '../../../given/cli.js';
import { Home } from '../../../given/home.js';
import { inDuckdb, newestFile, onDuckdb, truth } from '../../../given/tamper.js';
import { givenTwoNights, loseNights, tampersOf, verdictOn } from './given.js';

const given = givenTwoNights();

test.for(tampersOf(given))('finds %s', async ([, tamper, code, levels]) => {
  const text = await tamper();
  const verified = await verdictOn(given.home);
  expect(verified).toMatchObject({ code, text: expect.stringContaining(text) });
  if (levels) expect(verified.levels).toEqual(levels);
});

/** What the newest nights have lost, of how many, whether `indexhouse.duckdb` is lost too, and what `verify` says. */
const LOSSES: [name: string, tables: Table[], nights: number, isDatabaseLost: boolean, message: string][] = [
  ['its marker, its run, and indexhouse.duckdb', ['snapshots', 'runs'], 1, true, 'no marker names'],
  ['its marker, and indexhouse.duckdb', ['snapshots'], 1, true, 'snapshots has no marker of'],
  [
    'every file, as has the one before',
    ['snapshots', 'runs', ...DATA_TABLES],
    2,
    false,
    'indexhouse.duckdb has its row',
  ],
];
test.for(LOSSES)(
  'a night that has lost %s is a difference, and --repair destroys nothing of it',
  async ([, tables, nights, isDatabaseLost, message]) => {
    const { home } = given;
    const database = join(home.warehouse, 'indexhouse.duckdb');
    await loseNights(home, nights, tables);
    if (isDatabaseLost) rmSync(database);
    const left = await truth(home.warehouse);
    expect(await verdictOn(home)).toMatchObject({
      code: 1,
      levels: ['difference'],
      text: expect.stringContaining(message),
    });
    await home.verify(true);
    expect(await truth(home.warehouse)).toMatchObject(left);
    if (isDatabaseLost) return;
    // Neither does the next night.
    await home.sync({ follow: true });
    expect(await truth(home.warehouse)).toMatchObject(left);
    const rows = 'select count(distinct snapshot_id)::integer as n from coverage';
    expect(await onDuckdb(home.warehouse, (engine) => engine.rows(z.object({ n: z.int() }), rows))).toEqual([{ n: 3 }]);
  },
);

test('finds that indexhouse.duckdb lacks the newest snapshot: it lags', async () => {
  const id = basename(await newestFile(given.home.warehouse, 'snapshots'), '.parquet');
  const tables = [...DATA_TABLES, 'snapshots'];
  await inDuckdb(given.home.warehouse, ...tables.map((table) => `delete from ${table} where snapshot_id = '${id}'`));
  const text = expect.stringContaining('1 snapshot behind');
  expect(await verdictOn(given.home)).toMatchObject({ code: 3, levels: ['lag'], text });
});

test('a sync that runs meanwhile is no difference', async () => {
  const api = { requests_per_minute: 6000 };
  const paced = new Home(given.home.folder, given.simulator, ['w'], { api });
  const sync = start(['sync', '--config', paced.config]);
  const seen: unknown[] = [];
  let running = true;
  const ended = sync.ended.finally(() => {
    running = false;
  });
  while (running) {
    const { code, stdout } = await run(['verify', '--json', '--config', paced.config]);
    const findings: { level: string }[] = JSON.parse(stdout).findings;
    seen.push(code, ...findings.filter(({ level }) => level === 'difference'));
  }
  expect(await ended).toMatchObject({ code: 0 });
  expect(seen.length).toBeGreaterThan(0);
  expect(seen.filter((one) => one !== 0 && one !== 3)).toEqual([]);
});
