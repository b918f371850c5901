import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crashPoint } from '../storage/crash-point.js';
import { exists, publish, syncFile, writeDurably } from '../storage/durable.js';
import { scratchFolder, warehouseFolder } from '../warehouse/layout.js';
import { makeAnalytics } from './analytics-file.js';
import { analyticsStatements } from './analytics-views.js';
import type { FollowerState } from './duckdb.js';

/**
 * Writes `analytics.duckdb`: views over the Parquet files with absolute paths, for BI tools that want one file to open
 * and may hold it open all day. It is replaced by rename, and only when its text changes.
 */
export async function writeAnalytics(warehouse: string, memoryLimit: number): Promise<FollowerState> {
  const upToDate = { name: 'analytics', behind: 0 };
  const engine = { memoryLimit, temporary: scratchFolder(warehouse) };
  const statements = await analyticsStatements({ warehouse, root: warehouse });
  const { analytics } = warehouseFolder(warehouse);
  const textFile = join(warehouse, 'schema', 'analytics.sql');
  const text = `${statements.join(';\n')};\n`;
  if ((await exists(analytics)) && (await readText(textFile)) === text) return upToDate;
  const temporary = `${analytics}.tmp`;
  await makeAnalytics(temporary, statements, engine);
  crashPoint('made analytics.duckdb');
  await syncFile(temporary);
  await publish(temporary, analytics);
  crashPoint('published analytics.duckdb');
  await writeDurably(textFile, text);
  return upToDate;
}

async function readText(file: string): Promise<string | null> {
  return (await exists(file)) ? readFile(file, 'utf8') : null;
}
