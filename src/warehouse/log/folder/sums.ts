import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { Failure } from '../../../base/exit.js';
import { stampOf } from '../../../base/storage/durable.js';
import type { Engine, Parameters } from '../../../base/storage/engine.js';
import { checkAreFiles } from '../../../base/storage/only-files.js';
import { sql } from '../../../base/storage/sql.js';
import { websiteOf } from './layout.js';

/** What is wrong with a file, as it follows its name. */
export const OTHER_ROWS = 'does not hold the rows that were written';

const sumRow = z.object({ file: z.string(), sum: z.string() });

/** The stamps of files that were found whole by this process: files of the log never change. */
const whole = new LRUCache<string, string>({ max: 20_000 });

/** Makes every file be read again: a disk may have changed it since. */
export function forgetChecked(): void {
  whole.clear();
}

/** Writes the rows of a marker, run or tombstone, with their sum in the footer: nothing else says what they should be. */
export async function copyRows(
  engine: Engine,
  query: string,
  { file, format }: { file: string; format: string },
  parameters: Parameters = {},
): Promise<void> {
  await engine.run(
    `create or replace temp table rows_to_sum as select '' as summed_file, * from (${query})`,
    parameters,
  );
  const [row] = await engine.rows(sumRow, sql('warehouse/log/row_sums'));
  const own = `${format}, kv_metadata {rows_sha256: '${row?.sum ?? ''}'}`;
  await engine.copy('select * exclude (summed_file) from rows_to_sum', file, own);
  await engine.run('drop table rows_to_sum');
}

/** @throws Failure if the rows of one of these files are not those that it was written with */
export async function checkRows(engine: Engine, files: readonly string[]): Promise<void> {
  const [first] = await withOtherRows(engine, files);
  if (first !== undefined) throw new Failure(OTHER_ROWS);
}

/**
 * Those of these files whose rows are not those that they were written with, or are of another website than their folder.
 *
 * @throws EngineError for an unreadable one
 */
export async function withOtherRows(engine: Engine, files: readonly string[]): Promise<string[]> {
  // What is outside the folders of websites is derived, and has no sum of its own.
  const own = files.filter((file) => websiteOf(file) !== '');
  checkAreFiles(own);
  const stamps = new Map(await Promise.all(own.map(async (file) => [file, await stampOf(file)] as const)));
  const all = own.filter((file) => whole.get(file) !== stamps.get(file));
  if (all.length === 0) return [];
  await engine.set({ files_to_sum: all });
  await engine.run(`create or replace temp view rows_to_sum as ${sql('warehouse/log/rows_to_sum')}`);
  try {
    const found = await sumsIn(engine, 'row_sums');
    const written = await sumsIn(engine, 'written_sums', { files: all });
    const owners = await engine.rows(sumRow, 'select distinct summed_file as file, website_id as sum from rows_to_sum');
    const foreign = new Set(owners.filter(({ file, sum }) => sum !== websiteOf(file)).map(({ file }) => file));
    const others = all.filter((file) => found.get(file) !== written.get(file) || !found.has(file) || foreign.has(file));
    for (const file of all) if (!others.includes(file)) whole.set(file, stamps.get(file));
    return others;
  } finally {
    await engine.run('drop view rows_to_sum');
  }
}

async function sumsIn(engine: Engine, name: 'row_sums' | 'written_sums', parameters: Parameters = {}) {
  const rows = await engine.rows(sumRow, sql(`warehouse/log/${name}`), parameters);
  return new Map(rows.map(({ file, sum }) => [file, sum]));
}
