import { copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { type Engine, withEngine } from '../src/storage/engine.js';
import { tableFile } from '../src/warehouse/layout.js';
import { updateIndex } from '../src/warehouse/marker-index.js';
import { filesOf, type Marker } from '../src/warehouse/markers.js';
import { OpenWarehouse } from '../src/warehouse/open.js';
import { prepareWarehouse } from '../src/warehouse/prepare.js';
import type { DataTable } from '../src/warehouse/tables.js';
import { generateHistory } from './generate-history.js';
import { benchSql, engineOptions, MEMORY_LIMIT } from './generated-nights.js';

/** The second night has changes, too. */
const MODEL = { pages: 200, nights: 2, reportEvery: 20 };
/** DuckDB holds the files that it writes side by side in memory. */
const NIGHTS_AT_ONCE = 50;
const DAY_MS = 86_400_000;
const FIRST_NIGHT_MS = Date.parse('2024-01-01T02:00:00Z');

export interface ManyCommits {
  warehouse: string;
  websites: number;
  nights: number;
  /** The tables that the commits have files of. */
  tables: readonly DataTable[];
}

/**
 * Makes a warehouse of many small commits, all copies of one night but for the rows of `snapshots` and `runs`. Its
 * answers are nonsense; its files cost a reader what those of as many nights cost.
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
    const log = await OpenWarehouse.read(engine, model);
    const night = log.markers.at(-1);
    if (!night) throw new Error('the model has no nights');
    const kept = Object.fromEntries(tables.map((table) => [table, night.files[table]]));
    await engine.set({ websites, files: JSON.stringify(kept) });
    for (let first = 0; first < nights; first += NIGHTS_AT_ONCE) {
      const until = Math.min(nights, first + NIGHTS_AT_ONCE);
      await engine.set({ first, until });
      await engine.run(benchSql('many_nights'));
      for (const table of ['snapshots', 'runs'] as const) {
        await engine.set({ model: log.files(table).at(-1) ?? '' });
        for (const place of await writeRows(engine, warehouse, table)) {
          if (table === 'snapshots') linkFiles(commits, night, model, place);
        }
      }
      await updateIndex(warehouse, options, FIRST_NIGHT_MS + until * DAY_MS);
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
function linkFiles({ warehouse, tables }: ManyCommits, night: Marker, model: string, place: Place): void {
  for (const table of tables) {
    const copy = join(`${warehouse}.model`, `${table}-${place.websiteId}`);
    if (!existsSync(copy)) copyFileSync(filesOf(model, [night], table)[0] ?? '', copy);
    const file = tableFile(warehouse, table, place);
    mkdirSync(dirname(file), { recursive: true });
    linkSync(copy, file);
  }
}
