import { rm } from 'node:fs/promises';
import { withEngine } from '../storage/engine.js';
import { standInForFiles } from './analytics-views.js';

/** The oldest format that DuckDB 1.5 still writes for every reader since 1.0. */
const STORAGE_VERSION = 'v1.0.0';

export interface AnalyticsEngine {
  /** Bytes. */
  memoryLimit: number;
  /** Folder for spill files. */
  temporary: string;
}

/** Makes a DuckDB file of nothing but views, in the place of what an attempt that died left there. */
export async function makeAnalytics(file: string, statements: string[], engine: AnalyticsEngine): Promise<void> {
  // The log of an attempt that died would be played into the new file.
  for (const left of [file, `${file}.wal`]) await rm(left, { force: true });
  await withEngine({ ...engine, file, storageVersion: STORAGE_VERSION }, async (opened) => {
    await standInForFiles(opened);
    for (const statement of statements) await opened.run(statement);
    await opened.run('checkpoint');
  });
}
