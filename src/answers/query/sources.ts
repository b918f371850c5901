import type { Engine } from '../../base/storage/engine.js';
import { literal, sql } from '../../base/storage/sql.js';
import { listedQuery, listFiles, withEmpty } from '../../warehouse/log/folder/prepare.js';
import { TABLES, viewStatements } from '../../warehouse/log/folder/tables.js';
import { addOwnPages, type OwnColumns } from './own-pages.js';
import { addOwnTable } from './own-tables.js';
import type { ReaderOptions } from './reader-options.js';

/** Makes all tables and views, whose files are yet to be listed, the user's own included. */
export async function viewSources(
  engine: Engine,
  schemas: string,
  {
    folder,
    timeZone,
    tables = [],
    pagesFrom,
  }: Pick<ReaderOptions, 'tables' | 'pagesFrom'> & Record<'folder' | 'timeZone', string>,
): Promise<OwnColumns> {
  for (const table of TABLES) await listFiles(engine, table, withEmpty(schemas, table, []));
  for (const table of TABLES) await engine.view(table, listedQuery(table, table));
  for (const statement of viewStatements(timeZone)) await engine.run(statement);
  const own = await addOwnPages(engine, folder, pagesFrom);
  for (const name of ['listed_pages', 'selected_pages']) await engine.run(sql(`answers/query/${name}`));
  for (const table of tables) await addOwnTable(engine, folder, table);
  for (const table of TABLES) await listFiles(engine, table, null);
  return own;
}

/** Restricts the engine to these folders from now on, and locks its settings. */
export async function lockDown(engine: Engine, folders: string[]): Promise<void> {
  await engine.run(`set allowed_directories = [${folders.map(literal).join(', ')}]`);
  await engine.run('set enable_external_access = false');
  await engine.run('set lock_configuration = true');
}
