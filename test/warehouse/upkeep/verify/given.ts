import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeAll, beforeEach } from 'vitest';
import { z } from 'zod';
import type { Simulator } from '../../../../src/app/demo/simulator/simulator.js';
import { withEngine } from '../../../../src/base/storage/engine.js';
import { listTableFiles } from '../../../../src/warehouse/log/folder/layout.js';
import type { DataTable, Table } from '../../../../src/warehouse/log/folder/tables.js';
import { verifyExitCode } from '../../../../src/warehouse/upkeep/verify/finding.js';
import { startSimulator } from '../../../given/client-clock.js';
import { temporaryFolder } from '../../../given/folder.js';
import { Home } from '../../../given/home.js';
import { hashOf, inDuckdb, newestFile, rewrite } from '../../../given/tamper.js';

/** A warehouse of two nights, as it should be; each test gets a copy of its own. */
export interface Given {
  simulator: Simulator;
  root: string;
  home: Home;
}

export function givenTwoNights(): Given {
  const given = {} as Given;
  let clean: Home;
  beforeAll(async () => {
    given.root = temporaryFolder();
    given.simulator = await startSimulator({ maxLimit: 20, seed: 6, nights: 2, websites: [{ id: 'w', pages: 20 }] });
    clean = new Home(mkdtempSync(join(given.root, 'home-')), given.simulator, ['w']);
    for (let night = 0; night < 2; night++) {
      await clean.sync({ follow: night === 1 });
      given.simulator.advance(2);
    }
  });
  beforeEach(() => {
    given.home = clean.copyTo(mkdtempSync(join(given.root, 'home-')));
  });
  return given;
}

/** What `verify` says, and what it would exit with. */
export async function verdictOn(home: Home): Promise<{ code: number; levels: string[]; text: string }> {
  const verified = await home.verify();
  return {
    code: verifyExitCode(verified),
    levels: [...new Set(verified.findings.map(({ level }) => level))].sort(),
    text: verified.findings.map(({ message, remedy }) => `${message}\n${remedy}`).join('\n'),
  };
}

/** Deletes files of the newest nights, so many of them. */
export async function loseNights({ warehouse }: Home, nights: number, tables: readonly Table[]): Promise<void> {
  const listed = await Promise.all((['snapshots', 'runs'] as const).map((table) => listTableFiles(warehouse, table)));
  const ids = listed.flatMap((files) => files.slice(-nights).map((file) => basename(file)));
  for (const table of tables) {
    const files = await listTableFiles(warehouse, table);
    for (const file of files.filter((one) => ids.includes(basename(one)))) rmSync(file);
  }
}

/** What is done to the warehouse, which gives a text that `verify` then says; its exit code, and levels of its findings. */
type Tamper = [name: string, tamper: () => Promise<string>, code: number, levels?: string[]];

export function tampersOf(given: Given): Tamper[] {
  const database = () => join(given.home.warehouse, 'indexhouse.duckdb');
  const newest = (table: Table) => newestFile(given.home.warehouse, table);
  const spoilt = async (file: string | Promise<string>, how: (file: string) => unknown) => {
    const path = await file;
    await how(path);
    return path;
  };
  const garbled = (file: string) => writeFileSync(file, 'garbage');
  const state = async () => join(given.home.warehouse, 'state', 'website=w', basename(await newest('snapshots')));
  const copied = async (table: 'coverage' | 'snapshots') => {
    const file = await newest(table);
    const copy = join(dirname(file), '0198c0de-0000-7000-8000-000000000000.parquet');
    copyFileSync(file, copy);
    return copy;
  };
  const inDatabase = async (statement: string, text: string) => {
    await inDuckdb(given.home.warehouse, statement);
    return text;
  };

  /** Rewrites the newest file of a table, and gives the marker its hash, as a bug of ours would. */
  async function miswritten(table: DataTable, query: string, text: string): Promise<string> {
    const file = await newest(table);
    await rewrite(file, query);
    const [{ rows } = { rows: 0 }] = await withEngine(
      { memoryLimit: 256e6, temporary: join(given.root, 'duckdb') },
      (engine) =>
        engine.rows(z.object({ rows: z.int() }), 'select count(*)::integer as rows from read_parquet($file)', { file }),
    );
    const files = `json_merge_patch(files::json, {${table}: {rows: ${rows}, sha256: '${hashOf(file)}'}}::json) as files`;
    await rewrite(await newest('snapshots'), `select * replace (${files}) from self`);
    return text;
  }

  const replaced = (columns: string) => `select * replace (${columns}) from self`;
  const fallen = (status: string) =>
    replaced(`if(was_status = 'indexed' and status <> 'indexed', '${status}', status) as status`);

  return [
    [
      'a flipped byte',
      () =>
        spoilt(newest('coverage'), (file) => {
          const bytes = readFileSync(file);
          bytes[200] = (bytes[200] ?? 0) ^ 1;
          writeFileSync(file, bytes);
        }),
      1,
      ['difference'],
    ],
    ['a deleted file', async () => `${await spoilt(newest('coverage'), rmSync)} is missing`, 1, ['difference']],
    ['a garbage marker', () => spoilt(newest('snapshots'), garbled), 1, ['difference']],
    ['a garbage row of runs', () => spoilt(newest('runs'), garbled), 1],
    ['an extra file of data', () => copied('coverage'), 0, ['note']],
    ['a marker that was copied under another name', () => copied('snapshots'), 1],
    [
      'a marker whose count of reports is off',
      () =>
        spoilt(newest('snapshots'), (file) => rewrite(file, replaced('reports_fetched + 1 as reports_fetched'))).then(
          () => 'reports planned',
        ),
      1,
    ],
    [
      'a marker whose count of pages is off',
      () =>
        spoilt(newest('snapshots'), (file) => rewrite(file, replaced('pages_rejected + 1 as pages_rejected'))).then(
          () => 'pages listed',
        ),
      1,
    ],
    ['doubled rows', () => miswritten('coverage', 'from self union all (from self limit 1)', 'is listed 2 times'), 1],
    [
      'a summary that does not add up',
      () => miswritten('coverage_summary', replaced('pages + 1 as pages'), 'the summary of '),
      1,
    ],
    [
      'a page that left the index, not recorded',
      () => miswritten('page_versions', fallen('indexed'), 'page_versions differs from the log'),
      1,
    ],
    // The next sync makes it anew.
    ['a state that is missing', () => spoilt(state(), rmSync), 0, ['note']],
    [
      'a state that is altered',
      () => spoilt(state(), (file) => rewrite(file, replaced('absences + 1 as absences'))),
      1,
    ],
    ['a state that is garbage', () => spoilt(state(), garbled), 1, ['difference']],
    ['a dropped table', () => inDatabase('drop table coverage cascade', 'coverage'), 1],
    [
      'two rows that have exchanged their values',
      () => {
        const urlOf = (row: number) => `(select url from coverage where rowid = ${row})`;
        const change = `update coverage set url = case rowid when 3 then ${urlOf(4)} else ${urlOf(3)} end`;
        return inDatabase(`${change} where rowid in (3, 4)`, 'coverage in indexhouse.duckdb differs');
      },
      1,
    ],
    [
      'indexhouse.duckdb without the row of a run',
      () => inDatabase('delete from runs where rowid = 1', 'runs'),
      3,
      ['lag'],
    ],
    ['no indexhouse.duckdb', () => spoilt(database(), rmSync), 3, ['lag']],
    ['garbage as indexhouse.duckdb', () => spoilt(database(), garbled), 1],
  ];
}
