import { z } from 'zod';
import { exists } from '../storage/durable.js';
import type { Engine } from '../storage/engine.js';
import { tableFile } from '../warehouse/layout.js';
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
  if ((await sha256Of(file)) !== expected.sha256) return `${file} was changed after its commit: its SHA-256 differs`;
  const [found] = await engine.rows(rowCount, 'select num_rows as rows from parquet_file_metadata($file)', { file });
  return found?.rows === expected.rows ? null : `${file} has ${found?.rows} rows, its marker says ${expected.rows}`;
}
