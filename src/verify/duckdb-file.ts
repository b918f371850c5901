import { z } from 'zod';
import { exists } from '../storage/durable.js';
import type { Engine } from '../storage/engine.js';
import { lockHolder } from '../storage/lock-holder.js';
import { literal } from '../storage/sql.js';
import { listTableFiles, warehouseFolder } from '../warehouse/layout.js';
import { filesOf, type Marker, newestMarkers, stateFileOf } from '../warehouse/markers.js';
import { tableQuery } from '../warehouse/prepare.js';
import { DATA_TABLES, type Table } from '../warehouse/tables.js';
import type { Finding } from './finding.js';
import { columnsOf, rowsDiffer } from './same-rows.js';

const CHECK = 'indexhouse.duckdb';
const REBUILD = 'run `indexhouse rebuild`: it makes the file anew from the Parquet files';

/** Compares `indexhouse.duckdb` row for row with the commits that it has taken. Being behind is no difference. */
export async function checkDuckdb(engine: Engine, warehouse: string, markers: readonly Marker[]): Promise<Finding[]> {
  const file = warehouseFolder(warehouse).database;
  if (!(await exists(file))) {
    if (markers.length === 0) return [];
    return [lag(`${file} is missing`, 'the next sync makes it anew, or `indexhouse rebuild`')];
  }
  try {
    await engine.run(`attach ${literal(file)} as follower (read_only)`);
  } catch (error) {
    const holder = lockHolder(error);
    if (holder) return [lag(`${file} cannot be compared now: ${holder} holds it`, 'try again when it is let go')];
    return [difference(`${file} cannot be opened: ${error instanceof Error ? error.message : error}`)];
  }
  try {
    return await compare(engine, warehouse, markers);
  } finally {
    await engine.run('detach follower');
  }
}

async function compare(engine: Engine, warehouse: string, markers: readonly Marker[]): Promise<Finding[]> {
  const rows = await engine.rows(z.object({ id: z.string() }), 'select snapshot_id as id from follower.snapshots');
  const taken = new Set(rows.map(({ id }) => id));
  const [has, lacks] = [markers.filter((m) => taken.has(m.commitId)), markers.filter((m) => !taken.has(m.commitId))];
  const findings: Finding[] = [];
  for (const [table, files] of filesSeen(warehouse, has)) {
    await engine.view('parquet_side', tableQuery(warehouse, table, files));
    const columns = await columnsOf(engine, `follower.${table}`);
    const differs = await rowsDiffer(engine, columns, 'parquet_side', `follower.${table}`);
    if (differs)
      findings.push(difference(`${table} in indexhouse.duckdb is not what the Parquet files hold: ${differs}`));
  }
  if (lacks.length > 0) {
    findings.push(lag(`indexhouse.duckdb is ${lacks.length} snapshots behind`, 'the next sync catches up'));
    return findings;
  }
  return [...findings, ...(await compareDerived(engine, warehouse, markers))];
}

function filesSeen(warehouse: string, markers: readonly Marker[]): Map<Table, string[]> {
  const files = new Map<Table, string[]>(DATA_TABLES.map((table) => [table, filesOf(warehouse, markers, table)]));
  return files.set(
    'snapshots',
    markers.map(({ path }) => path),
  );
}

/** State and runs, which only a file that lacks nothing has to have. */
async function compareDerived(engine: Engine, warehouse: string, markers: readonly Marker[]): Promise<Finding[]> {
  const states = newestMarkers(markers).map((marker) => stateFileOf(warehouse, marker));
  const there = await Promise.all(states.map((file) => exists(file)));
  const sides: [Table, string[]][] = [['runs', await listTableFiles(warehouse, 'runs')]];
  if (there.every(Boolean)) sides.push(['page_state', states]);
  const findings: Finding[] = [];
  for (const [table, files] of sides) {
    await engine.view('parquet_side', tableQuery(warehouse, table, files));
    const columns = await columnsOf(engine, `follower.${table}`);
    const differs = await rowsDiffer(engine, columns, 'parquet_side', `follower.${table}`);
    if (differs)
      findings.push(difference(`${table} in indexhouse.duckdb is not what the Parquet files hold: ${differs}`));
  }
  return findings;
}

function difference(message: string): Finding {
  return { check: CHECK, level: 'difference', message, remedy: REBUILD };
}

function lag(message: string, remedy: string): Finding {
  return { check: CHECK, level: 'lag', message, remedy };
}
