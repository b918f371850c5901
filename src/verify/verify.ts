import { rm } from 'node:fs/promises';
import { z } from 'zod';
import { rebuildDuckdb } from '../followers/rebuild.js';
import { type Engine, type EngineOptions, withEngine } from '../storage/engine.js';
import { sql, sqlNames } from '../storage/sql.js';
import { listTableFiles } from '../warehouse/layout.js';
import { type Marker, markersOf, readMarkersThatCan, viewDataTables } from '../warehouse/markers.js';
import { tableQuery } from '../warehouse/prepare.js';
import { rebuildState } from '../warehouse/state.js';
import { checkDuckdb } from './duckdb-file.js';
import { checkFiles, orphans } from './files.js';
import { damaged, type Finding, type Verified } from './finding.js';
import { checkStates } from './state.js';

const PROBLEMS_TOLD = 5;

export interface VerifyOptions {
  warehouse: string;
  /** Bytes. */
  memoryLimit: number;
  engine: EngineOptions;
  /** Mends what is provably safe to mend. The caller holds the run lock. */
  repair: boolean;
}

/**
 * Proves that the warehouse is what it claims to be: every marked file has its bytes and rows, every listed entry and
 * planned report is accounted for, no key is doubled, nothing is orphaned, the state is what the log gives, and the
 * native DuckDB file holds what the Parquet files hold. Reads only, unless `repair` is asked for.
 */
export async function verify(options: VerifyOptions): Promise<Verified> {
  return withEngine(options.engine, async (engine) => {
    const { markers, unreadable } = await readMarkersThatCan(engine, options.warehouse);
    const { whole, files, rows, findings } = await checkFiles(engine, options.warehouse, markers);
    const verified: Verified = { snapshots: markers.length, files, rows, findings, repaired: [] };
    findings.push(...unreadable.map(({ path, message }) => damaged(`the marker ${path} cannot be read: ${message}`)));
    findings.push(...(await checkRows(engine, options.warehouse, whole)));
    await lookAtOrphans(options, markers, verified);
    // What follows from the log can be compared only where the whole log can be read.
    if (whole.length < markers.length || unreadable.length > 0) return verified;
    await lookAtStates(engine, options, markers, verified);
    await lookAtDuckdb(engine, options, markers, verified);
    return verified;
  });
}

const problemRow = z.object({ website_id: z.string(), snapshot_id: z.string(), problem: z.string() });

/** Asks each statement of `sql/checks`, which returns the rows that break an invariant. */
async function checkRows(engine: Engine, warehouse: string, markers: readonly Marker[]): Promise<Finding[]> {
  await viewDataTables(engine, warehouse, markers);
  await engine.view(
    'snapshots',
    tableQuery(
      warehouse,
      'snapshots',
      markers.map(({ path }) => path),
    ),
  );
  await engine.view('runs', tableQuery(warehouse, 'runs', await listTableFiles(warehouse, 'runs')));
  const findings: Finding[] = [];
  for (const name of sqlNames('checks')) {
    const check = name.replace('checks/', '').replaceAll('_', ' ');
    const level = /^-- level: note$/m.test(sql(name)) ? 'note' : 'difference';
    const remedy =
      level === 'note' ? 'nothing to do' : 'a defect of indexhouse: please report it; the rows are kept as they are';
    for (const row of await engine.rows(problemRow, `select * from (${sql(name)}\n) limit ${PROBLEMS_TOLD}`)) {
      findings.push({
        check,
        level,
        message: `${row.website_id}, snapshot ${row.snapshot_id}: ${row.problem}`,
        remedy,
      });
    }
  }
  return findings;
}

async function lookAtOrphans(
  { warehouse, repair }: VerifyOptions,
  markers: Marker[],
  verified: Verified,
): Promise<void> {
  for (const file of await orphans(warehouse, markers)) {
    if (repair) {
      await rm(file);
      verified.repaired.push(`removed ${file}, which no marker names`);
    } else {
      const remedy = '`indexhouse verify --repair` removes it; no reader sees it';
      verified.findings.push({ check: 'orphans', level: 'note', message: `no marker names ${file}`, remedy });
    }
  }
}

async function lookAtStates(
  engine: Engine,
  options: VerifyOptions,
  markers: Marker[],
  verified: Verified,
): Promise<void> {
  const { warehouse, repair } = options;
  for (const { websiteId, file, kind, message } of await checkStates(engine, warehouse, markers, options.engine)) {
    if (repair) {
      await rebuildState(warehouse, markersOf(markers, websiteId), options.engine, file);
      verified.repaired.push(`made ${file} anew from the log`);
    } else {
      const remedy = '`indexhouse verify --repair` makes it anew from the log';
      verified.findings.push({ check: 'state', level: kind === 'missing' ? 'note' : 'difference', message, remedy });
    }
  }
}

async function lookAtDuckdb(
  engine: Engine,
  options: VerifyOptions,
  markers: Marker[],
  verified: Verified,
): Promise<void> {
  const { warehouse, memoryLimit, repair } = options;
  const found = await checkDuckdb(engine, warehouse, markers);
  if (!repair || !found.some(({ level }) => level === 'difference')) {
    verified.findings.push(...found);
    return;
  }
  await rebuildDuckdb({ warehouse, memoryLimit });
  verified.repaired.push('made indexhouse.duckdb anew from the Parquet files');
  verified.findings.push(...(await checkDuckdb(engine, warehouse, markers)));
}
