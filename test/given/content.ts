import { join } from 'node:path';
import { listTableFiles, namesIn } from '../../src/warehouse/layout.js';
import { DATA_TABLES, type Table } from '../../src/warehouse/tables.js';
import { type Row, readParquet, readTable } from './parquet.js';

/** What differs between two runs that saw the same: moments of our own doing, and figures of the wire. */
const OWN_MOMENTS =
  /^(snapshot_at|snapshot_date|finished_at|started_at|listed_at|fetched_at|attempted_at|received_at|observed_at|(first|last)_seen_at|report_fetched_at|last_failure_at|disappeared_at|unlisted_since)$/;
const OF_THE_RUN = /^(run_id|requests_\w+|utilisation|resumed|version|files|error)$/;
/** In `page_changes`, of a page that was crawled, both are the service's; every other id is ours. */
const ID = /(^|_)(snapshot_id|commit_id)$/;

/**
 * What a warehouse holds, so that two warehouses that saw the same are equal: snapshots are told by their place in the
 * log instead of their ids, our own moments only by whether they are there.
 */
export async function contentOf(warehouse: string): Promise<Record<string, string[]>> {
  const snapshots = await readTable(warehouse, 'snapshots');
  const ids = snapshots.map(({ snapshot_id }) => String(snapshot_id)).sort();
  const content: Record<string, string[]> = {};
  for (const table of ['snapshots', ...DATA_TABLES] satisfies Table[]) {
    content[table] = (await readTable(warehouse, table)).map((row) => comparable(row, ids)).sort();
  }
  content['runs'] = (await readTable(warehouse, 'runs')).map((row) => comparable(row, ids)).sort();
  content['page_state'] = (await newestState(warehouse, ids.at(-1) ?? '')).map((row) => comparable(row, ids)).sort();
  return content;
}

async function newestState(warehouse: string, id: string): Promise<Row[]> {
  for (const website of await namesIn(join(warehouse, 'state'))) {
    const files = await namesIn(join(warehouse, 'state', website));
    if (files.includes(`${id}.parquet`)) return readParquet(join(warehouse, 'state', website, `${id}.parquet`));
  }
  return [];
}

function comparable(row: Row, ids: string[]): string {
  const fields = Object.entries(row).flatMap(([name, value]) => {
    if (OF_THE_RUN.test(name)) return [];
    if (OWN_MOMENTS.test(name)) return [[name, value !== null && value !== undefined]];
    if (ID.test(name) && value) return [[name, ids.indexOf(String(value))]];
    return [[name, value ?? null]];
  });
  return JSON.stringify(Object.fromEntries(fields), (_, value) => (typeof value === 'bigint' ? Number(value) : value));
}

/** How many files a warehouse has in all tables: a crash must leave none that nobody knows. */
export async function countFiles(warehouse: string): Promise<number> {
  const files = await Promise.all(DATA_TABLES.map((table) => listTableFiles(warehouse, table)));
  return files.flat().length;
}
