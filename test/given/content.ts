import { join } from 'node:path';
import { listTableFiles, namesIn } from '../../src/warehouse/log/folder/layout.js';
import { DATA_TABLES, type Table } from '../../src/warehouse/log/folder/tables.js';
import { type Row, readParquet, readTable } from './parquet.js';

/** What differs between two runs that saw the same: moments of our own doing, and figures of the wire. */
const OWN_MOMENTS =
  /^(snapshot_at|snapshot_date|finished_at|started_at|listed_at|fetched_at|attempted_at|received_at|observed_at|(first|last)_seen_at|report_fetched_at|last_failure_at|disappeared_at|unlisted_since|first_data_at|first_indexed_at|index_since|fell_at)$/;
const OF_THE_RUN = /^(run_id|requests_\w+|utilisation|resumed|version|files|error)$/;

const ID = /(^|_)snapshot_id$/;

/**
 * What a warehouse holds, so that two warehouses that saw the same are equal: snapshots are named by their place in the
 * log instead of their ids, our own moments only by whether they are there.
 */
export async function contentOf(warehouse: string): Promise<Record<string, string[]>> {
  const ids = (await readTable(warehouse, 'snapshots')).map(({ snapshot_id }) => String(snapshot_id)).sort();
  const comparable = (row: Row) => comparableRow(row, ids);
  const content: Record<string, string[]> = {};
  for (const table of ['snapshots', ...DATA_TABLES] satisfies Table[]) {
    content[table] = (await readTable(warehouse, table)).map(comparable).sort();
  }
  content['runs'] = (await readTable(warehouse, 'runs')).map(comparable).sort();
  content['page_state'] = (await newestState(warehouse, ids.at(-1) ?? '')).map(comparable).sort();
  return content;
}

async function newestState(warehouse: string, id: string): Promise<Row[]> {
  for (const website of await namesIn(join(warehouse, 'state'))) {
    const files = await namesIn(join(warehouse, 'state', website));
    if (files.includes(`${id}.parquet`)) return readParquet(join(warehouse, 'state', website, `${id}.parquet`));
  }
  return [];
}

function comparableRow(row: Row, ids: string[]): string {
  return JSON.stringify(row, (name, value) => {
    if (OF_THE_RUN.test(name)) return undefined;
    if (OWN_MOMENTS.test(name)) return value !== null && value !== undefined;
    if (ID.test(name) && value) return ids.indexOf(String(value));
    return typeof value === 'bigint' ? Number(value) : (value ?? null);
  });
}

/** How many files a warehouse has in all tables: a crash must leave none that nobody knows. */
export async function countFiles(warehouse: string): Promise<number> {
  const files = await Promise.all(DATA_TABLES.map((table) => listTableFiles(warehouse, table)));
  return files.flat().length;
}
