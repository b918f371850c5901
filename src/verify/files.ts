import { basename, join } from 'node:path';
import { z } from 'zod';
import { unfinishedJournals } from '../journal/folder.js';
import { readHeader } from '../journal/header.js';
import { exists } from '../storage/durable.js';
import type { Engine } from '../storage/engine.js';
import { listTableFiles, namesIn, tableFile } from '../warehouse/layout.js';
import type { Marker } from '../warehouse/markers.js';
import { sha256Of } from '../warehouse/stage.js';
import { DATA_TABLES, type DataTable } from '../warehouse/tables.js';
import { damaged, type Finding } from './finding.js';

export interface FilesChecked {
  /** Commits whose files are all whole: the only ones whose rows can be looked at. */
  whole: Marker[];
  files: number;
  rows: number;
  findings: Finding[];
}

/** Holds every file of every commit against its marker: there, the bytes of its SHA-256, and the rows it should have. */
export async function checkFiles(engine: Engine, warehouse: string, markers: readonly Marker[]): Promise<FilesChecked> {
  const checked: FilesChecked = { whole: [], files: 0, rows: 0, findings: [] };
  for (const marker of markers) {
    const before = checked.findings.length;
    for (const table of DATA_TABLES) {
      const expected = marker.files[table];
      if (!expected) continue;
      checked.files++;
      checked.rows += expected.rows;
      const wrong = await whatIsWrong(engine, fileOf(warehouse, marker, table), expected);
      if (wrong) checked.findings.push(damaged(wrong));
    }
    if (checked.findings.length === before) checked.whole.push(marker);
  }
  return checked;
}

function fileOf(warehouse: string, marker: Marker, table: DataTable): string {
  return tableFile(warehouse, table, { websiteId: marker.websiteId, date: marker.date, id: marker.commitId });
}

const rowCount = z.object({ rows: z.coerce.number() });

async function whatIsWrong(
  engine: Engine,
  file: string,
  expected: { rows: number; sha256: string },
): Promise<string | null> {
  if (!(await exists(file))) return `${file} is missing`;
  if ((await sha256Of(file)) !== expected.sha256) return `${file} is not what was committed: its SHA-256 differs`;
  const [found] = await engine.rows(rowCount, 'select num_rows as rows from parquet_file_metadata($file)', { file });
  return found?.rows === expected.rows ? null : `${file} has ${found?.rows} rows, its marker says ${expected.rows}`;
}

/**
 * Files of data and state that no marker names. They do not exist for any reader; a crash before the marker left them,
 * or somebody put them there. What an unfinished run is about to mark is not among them.
 */
export async function orphans(warehouse: string, markers: readonly Marker[]): Promise<string[]> {
  const known = new Set(markers.map((marker) => marker.commitId));
  for (const folder of await unfinishedJournals(warehouse)) {
    const header = await readHeader(folder).catch(() => null);
    if (header) known.add(header.snapshot_id);
  }
  const files = [...(await stateFiles(warehouse))];
  for (const table of DATA_TABLES) files.push(...(await listTableFiles(warehouse, table)));
  return files.filter((file) => !known.has(basename(file, '.parquet')));
}

async function stateFiles(warehouse: string): Promise<string[]> {
  const root = join(warehouse, 'state');
  const files: string[] = [];
  for (const website of await namesIn(root)) {
    for (const name of await namesIn(join(root, website))) {
      if (name.endsWith('.parquet')) files.push(join(root, website, name));
    }
  }
  return files;
}
