import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, win32 } from 'node:path';
import { z } from 'zod';
import { UsageError } from '../../base/exit.js';
import { exists } from '../../base/storage/durable.js';
import { type EngineOptions, withEngine } from '../../base/storage/engine.js';
import { lockHolder } from '../../base/storage/locks.js';
import { withTemporary } from '../../base/storage/temporary.js';
import { warehouseFolder } from '../log/folder/layout.js';
import { checkPath, checkSchemas, checkWarehouseThere } from '../log/folder/prepare.js';
import { type AnalyticsPlace, analyticsStatements, publishAnalytics } from './analytics.js';

/**
 * Writes the views of `analytics.duckdb` for readers that see the warehouse under another path. Takes no lock, and does
 * not change the warehouse.
 *
 * @param input the root is where the readers see the warehouse: an absolute path on their machine
 * @returns the names of the views, too
 * @throws WarehouseError if there is none that can be read; UsageError for an unusable root or file
 */
export async function exportAnalytics(input: AnalyticsPlace & { out: string; memoryLimit: number }) {
  const { warehouse, out, memoryLimit } = input;
  const root = rootOf(input.root);
  await checkWarehouseThere(warehouse);
  return withTemporary('analytics', async (temporary) => {
    const engine = { memoryLimit, temporary };
    await checkSchemas(warehouse);
    const file = await replaceable(out, warehouse, engine);
    await publishAnalytics(file, await analyticsStatements({ warehouse, root }), engine);
    return { file, root, views: await viewsIn(file, engine) };
  });
}

/** The root without a trailing slash. */
function rootOf(root: string): string {
  // Readers may run on Windows, where POSIX absolute paths count as absolute, too.
  if (!win32.isAbsolute(root)) {
    throw new UsageError(`--root must be the absolute path of the warehouse as readers see it (given: ${root})`);
  }
  checkPath('--root', root);
  return root.replace(/(?<=.)[/\\]+$/, '');
}

/** The file to write. Only a file of views over a warehouse is overwritten, so nothing is lost. */
async function replaceable(out: string, warehouse: string, engine: EngineOptions): Promise<string> {
  const folder = dirname(resolve(out));
  if (!(await isFolder(folder))) throw new UsageError(`folder ${folder} does not exist`);
  const file = join(await realpath(folder), basename(resolve(out)));
  const { database, analytics, lock } = warehouseFolder(await realpath(warehouse));
  if ([database, analytics, lock].includes(file)) {
    throw new UsageError(`${file} is the warehouse's own: choose another name for --out`);
  }
  if (!(await exists(file))) return file;
  if (await isFolder(file)) throw new UsageError(`${file} is a folder: name a file in it, such as analytics.duckdb`);
  if (await isAnalytics(file, engine)) return file;
  throw new UsageError(`${file} exists and is not an analytics file: choose another name for --out, or delete it`);
}

async function isFolder(path: string): Promise<boolean> {
  return (await exists(path)) && (await stat(path)).isDirectory();
}

/** Whether a file holds only views, among them those of a warehouse. */
async function isAnalytics(file: string, engine: EngineOptions): Promise<boolean> {
  try {
    const views = await viewsIn(file, engine);
    return ['snapshots', 'coverage', 'page_state'].every((name) => views.includes(name));
  } catch (error) {
    const holder = lockHolder(error);
    if (holder) throw new UsageError(`${basename(file)} is locked by ${holder}, which has it open for writing`);
    return false;
  }
}

/** The names of the views in a file; none if it holds a table. */
async function viewsIn(file: string, engine: EngineOptions): Promise<string[]> {
  return withEngine({ ...engine, file, readOnly: true }, async (opened) => {
    const row = z.object({ name: z.string(), is_view: z.boolean() });
    const relations = await opened.rows(
      row,
      `select view_name as name, true as is_view from duckdb_views() where not internal
       union all select table_name, false from duckdb_tables()
       order by name`,
    );
    return relations.some(({ is_view }) => !is_view) ? [] : relations.map(({ name }) => name);
  });
}
