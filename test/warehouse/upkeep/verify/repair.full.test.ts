import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { TABLES } from '../../../../src/warehouse/log/folder/tables.js';
import { readIndex, updateIndex } from '../../../../src/warehouse/log/update-index.js';
import { verifyExitCode } from '../../../../src/warehouse/upkeep/verify/finding.js';
import { run, start } from '../../../given/cli.js';
import { temporaryFolder } from '../../../given/folder.js';
import { Home } from '../../../given/home.js';
import { leftBehind } from '../../../given/left-behind.js';
import { hashOf, inDuckdb, newestFile, onDuckdb, rewrite, truth } from '../../../given/tamper.js';
import { buildNights, NOW } from '../../../given/thinned.js';
import { findingsOf, verified } from '../../../given/verified.js';
import { givenTwoNights } from './given.js';

const MEMORY_BYTES = 256e6;
const given = givenTwoNights();
let home: Home;
beforeEach(() => {
  home = given.home;
});

/** Rows and a hash of each table, so that two files can be compared without their order. */
function contents(): Promise<Record<string, unknown>> {
  const row = z.object({ rows: z.string(), hash: z.string().nullable() });
  return onDuckdb(home.warehouse, async (engine) => {
    const found: Record<string, unknown> = {};
    for (const table of TABLES) {
      const query = `select count(*)::varchar as rows, bit_xor(hash(t))::varchar as hash from ${table} as t`;
      found[table] = await engine.rows(row, query);
    }
    return found;
  });
}

describe('verify --repair', () => {
  test('mends state, orphans and indexhouse.duckdb, and leaves every marked file as it is', async () => {
    const state = join(home.warehouse, 'state', 'website=w', basename(await newestFile(home.warehouse, 'snapshots')));
    const before = await truth(home.warehouse);
    await rewrite(state, 'select * replace (absences + 1 as absences) from self');
    const coverage = await newestFile(home.warehouse, 'coverage');
    const orphan = join(dirname(coverage), '0198c0de-0000-7000-8000-000000000000.parquet');
    copyFileSync(coverage, orphan);
    await inDuckdb(home.warehouse, 'delete from coverage where rowid = 3');

    const { findings, repaired } = await home.verify(true);
    expect(findings).toEqual([]);
    expect(repaired.map((what) => what.replaceAll(home.warehouse, ''))).toEqual([
      expect.stringContaining('0198c0de-0000-7000-8000-000000000000.parquet'),
      expect.stringContaining('/state/website=w'),
      expect.stringContaining('indexhouse.duckdb'),
    ]);
    expect(existsSync(orphan)).toBe(false);
    const [aside] = readdirSync(join(home.warehouse, 'set-aside'));
    expect(hashOf(join(home.warehouse, 'set-aside', `${aside}`, relative(home.warehouse, orphan)))).toBe(
      hashOf(coverage),
    );
    expect(await truth(home.warehouse)).toEqual(before);
    expect((await home.verify()).findings).toEqual([]);
  });

  test('cannot mend a file that is the truth', async () => {
    const file = await newestFile(home.warehouse, 'coverage');
    writeFileSync(file, 'garbage');
    const verified = await home.verify(true);
    expect([verifyExitCode(verified), verified.repaired]).toEqual([1, []]);
    expect(verified.findings[0]).toMatchObject({ message: expect.stringContaining(file), level: 'difference' });
    expect(verified.findings[0]?.remedy).toContain('backup');
  });

  test('keeps what an unfinished run has renamed already, also where its journal cannot be read', async () => {
    const left = mkdtempSync(join(given.root, 'home-'));
    await leftBehind(
      `${home.folder}/.`,
      ['moved url_reports'],
      () => left,
      () => home.sync({ follow: false }),
    );
    home = new Home(left, given.simulator, ['w']);
    const moved = await newestFile(home.warehouse, 'coverage');
    expect((await home.verify(true)).repaired).toEqual([]);
    writeFileSync(join(home.journal('w'), 'run.json'), 'garbage');
    expect((await home.verify(true)).repaired).toEqual([]);
    expect(existsSync(moved)).toBe(true);
  });
});

test('indexhouse.duckdb is rebuilt equal to the old one', async () => {
  const expected = await contents();
  expect(Object.keys(expected)).toContain('page_state');
  await inDuckdb(home.warehouse, 'drop table coverage cascade');
  expect(await run(['verify', '--repair', '--config', home.config])).toMatchObject({ code: 0 });
  expect(await contents()).toEqual(expected);
});

test('an index of old markers that differs from them is dropped by --repair', async () => {
  const { path: warehouse } = await buildNights([1, 2, 3]);
  await updateIndex(warehouse, { memoryLimit: MEMORY_BYTES, temporary: temporaryFolder() }, NOW, 1);
  const file = (await readIndex(warehouse))?.files.snapshots ?? expect.fail();
  const was = hashOf(file);
  await rewrite(file, 'select * replace (pages_listed + 1 as pages_listed) from self');
  const index = join(warehouse, 'index', 'index.json');
  writeFileSync(index, readFileSync(index, 'utf8').replace(was, hashOf(file)));
  expect(await findingsOf(warehouse)).toContainEqual(
    expect.objectContaining({ check: 'marker index', level: 'difference' }),
  );
  const { repaired } = await verified(warehouse, true);
  expect(repaired).toContain('dropped the index of old markers: the next sync rebuilds it');
});

test('a sync that runs meanwhile is no difference', async () => {
  const api = { requests_per_minute: 6000 };
  const paced = new Home(given.home.folder, given.simulator, ['w'], { api });
  const sync = start(['sync', '--config', paced.config]);
  let running = true;
  const ended = sync.ended.finally(() => {
    running = false;
  });
  const found: unknown[] = [];
  while (running) found.push(...(await paced.wrong()).filter(({ level }) => level === 'difference'));
  expect([await ended, found]).toMatchObject([{ code: 0 }, []]);
});
