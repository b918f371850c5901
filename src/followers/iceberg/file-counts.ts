import { z } from 'zod';
import type { Engine } from '../../storage/engine.js';
import { sql } from '../../storage/sql.js';

const footerRow = z.object({
  file: z.string(),
  column: z.string(),
  rows: z.coerce.number(),
  nulls: z.coerce.number().nullable(),
});
const listRow = z.object({ file: z.string(), nulls: z.coerce.number() });

/** What a Parquet file holds. */
export interface FileCounts {
  rows: number;
  /** By column; null: unknown. Columns that the file lacks are left out. */
  nulls: Map<string, number | null>;
}

/** The numbers of rows in Parquet files and of nulls in each column. @throws EngineError if one cannot be read */
export async function fileCounts(engine: Engine, files: readonly string[]): Promise<Map<string, FileCounts>> {
  const counts = new Map<string, FileCounts>();
  if (files.length === 0) return counts;
  const lists = new Set<string>();
  const footers = await engine.rows(footerRow, sql('iceberg/footers'), { files: [...files] });
  for (const { file, column, rows, nulls } of footers) {
    const of = counts.get(file) ?? { rows, nulls: new Map() };
    counts.set(file, of);
    const [name = ''] = column.split(', ');
    if (name !== column) lists.add(name);
    of.nulls.set(name, name === column ? nulls : null);
  }
  for (const list of lists) await countLists(engine, list, counts);
  return counts;
}

/** Counts the nulls of a list column: footers only count those of its elements. */
async function countLists(engine: Engine, list: string, counts: ReadonlyMap<string, FileCounts>): Promise<void> {
  const files = [...counts].flatMap(([file, { nulls }]) => (nulls.has(list) ? [file] : []));
  const query = `select filename as file, count(*) - count(${list}) as nulls
    from read_parquet($files, filename = true, hive_partitioning = false) group by all`;
  for (const { file, nulls } of await engine.rows(listRow, query, { files })) counts.get(file)?.nulls.set(list, nulls);
}
