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
  const parts = ['rows_to_sum', 'row_sums', 'written_sums'].map(
    (name) => `${name} as materialized (${sql(`warehouse/log/${name}`)})`,
  );
  const query = `with ${parts.join(', ')} from (select distinct summed_file as file, website_id as website from rows_to_sum)
    semi join (from row_sums semi join written_sums using (file, sum)) using (file)`;
  const found = await engine.rows(z.object({ file: z.string(), website: z.string() }), query);
  const foreign = new Set(found.filter(({ file, website }) => website !== websiteOf(file)).map(({ file }) => file));
  const intact = new Set(found.map(({ file }) => file).filter((file) => !foreign.has(file)));
  for (const file of intact) whole.set(file, stamps.get(file));
  return all.filter((file) => !intact.has(file));
}
