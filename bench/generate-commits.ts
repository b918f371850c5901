import { copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { type Engine, withEngine } from '../src/base/storage/engine.js';
import { literal } from '../src/base/storage/sql.js';
import { addDays } from '../src/base/time.js';
import { openWaiting } from '../src/warehouse/copies/duckdb.js';
import { stateFile, tableFile, warehouseFolder } from '../src/warehouse/log/folder/layout.js';
import { prepareWarehouse } from '../src/warehouse/log/folder/prepare.js';
import type { DataTable } from '../src/warehouse/log/folder/tables.js';
import { openLog } from '../src/warehouse/log/log.js';
import { filesOf, type Marker, stateFileOf } from '../src/warehouse/log/markers.js';
import { generateHistory } from './generate-history.js';
import { benchSql, engineOptions, MEMORY_LIMIT } from './generated-nights.js';

/** The second night has changes, too. */
const MODEL = { pages: 200, nights: 2, reportEvery: 20 };
/** DuckDB holds the files that it writes side by side in memory. */
const COMMITS_AT_ONCE = 250;
const FIRST_DATE = '2024-01-01';

export interface ManyCommits {
  warehouse: string;
  websites: number;
  nights: number;
  /** The tables that the commits have files of. */
  tables: readonly DataTable[];
}

/** The date of a night, counted from 0. */
export function dateOfNight(night: number): string {
  return addDays(FIRST_DATE, night);
}

/**
 * Makes a warehouse of many small commits, all copies of one night but for the rows of `snapshots` and `runs`. Its
 * answers are nonsense; its files cost a reader what those of as many nights cost. `indexhouse.duckdb` knows the commits
 * without their rows.
 */
export async function generateCommits(commits: ManyCommits): Promise<void> {
  const { warehouse, websites, nights, tables } = commits;
  const model = `${warehouse}.model`;
  await generateHistory({ warehouse: model, ...MODEL });
  await prepareWarehouse(warehouse, 'UTC', MEMORY_LIMIT);
  const options = { ...engineOptions(`${warehouse}.tmp`), memoryLimit: MEMORY_LIMIT };
  await withEngine(options, async (engine) => {
    await engine.run('set partitioned_write_max_open_files = 4');
    await engine.run('set partitioned_write_flush_threshold = 64');
    await attachNative(engine, warehouse);
    const log = await openLog(engine, model);
    const night = log.markers.at(-1);
    if (!night) throw new Error('the model has no nights');
    const kept = Object.fromEntries(tables.map((table) => [table, night.files[table]]));
    await engine.set({ websites, files: JSON.stringify(kept) });
    const atOnce = Math.ceil(COMMITS_AT_ONCE / websites);
    for (let first = 0; first < nights; first += atOnce) {
      const until = Math.min(nights, first + atOnce);
      await engine.set({ first, until });
      await engine.run(benchSql('many_nights'));
      for (const table of ['snapshots', 'runs'] as const) {
        await engine.set({ model: log.files(table).at(-1) ?? '' });
        for (const place of await writeRows(engine, warehouse, table)) {
          if (table !== 'snapshots') continue;
          linkFiles(commits, night, place);
          if (place.date === dateOfNight(nights - 1)) linkState(warehouse, night, place);
        }
        await engine.run(
          `insert into native.${table} by name select * exclude (website, date, id) from (${benchSql(`many_${table}`)})`,
        );
      }
    }
  });
}

interface Place {
  websiteId: string;
  date: string;
  id: string;
}

/** A file for each row, all written by one statement, and then named as a commit names them. */
async function writeRows(engine: Engine, warehouse: string, table: 'snapshots' | 'runs'): Promise<Place[]> {
  const written = `${warehouse}.rows`;
  rmSync(written, { recursive: true, force: true });
  await engine.copy(benchSql(`many_${table}`), written, 'format parquet, partition_by (website, date, id)');
  const files = readdirSync(written, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.parquet'));
  return files.map((name) => {
    const [websiteId = '', date = '', id = ''] = name.split(sep).map((part) => part.replace(/^\w+=/, ''));
    const place = { websiteId, date, id };
    const file = tableFile(warehouse, table, place);
    mkdirSync(dirname(file), { recursive: true });
    renameSync(join(written, name), file);
    return place;
  });
}

/** The files of a commit are the model's: a copy for each website, because a file can have only so many names. */
function linkFiles({ warehouse, tables }: ManyCommits, night: Marker, place: Place): void {
  const model = `${warehouse}.model`;
  for (const table of tables) {
    const copy = join(model, `${table}-${place.websiteId}`);
    if (!existsSync(copy)) copyFileSync(filesOf(model, [night], table)[0] ?? '', copy);
    const file = tableFile(warehouse, table, place);
    mkdirSync(dirname(file), { recursive: true });
    linkSync(copy, file);
  }
}

/** Of the newest night; the states of earlier ones are deleted anyway. */
function linkState(warehouse: string, night: Marker, { websiteId, id }: Place): void {
  const file = stateFile(warehouse, websiteId, id);
  mkdirSync(dirname(file), { recursive: true });
  linkSync(stateFileOf(`${warehouse}.model`, night), file);
}

/** Attaches an `indexhouse.duckdb` without rows as `native`. */
async function attachNative(engine: Engine, warehouse: string): Promise<void> {
  const native = await openWaiting({ warehouse, memoryLimit: MEMORY_LIMIT, lockTimeout: 0 });
  native.close();
  await engine.run(`attach ${literal(warehouseFolder(warehouse).database)} as native`);
}
