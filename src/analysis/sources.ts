import type { Engine } from '../storage/engine.js';
import { literal } from '../storage/sql.js';
import { filesOf, type Marker, markersOf } from '../warehouse/markers.js';
import { listedQuery, listFiles, withEmpty } from '../warehouse/prepare.js';
import { TABLES, viewStatements } from '../warehouse/tables.js';

/** Coverage of commits without a summary, usually none. */
export const UNSUMMARIZED = 'unsummarized_coverage';
/** The tables that a question may name. */
export const SOURCES = [...TABLES, UNSUMMARIZED] as const;
export type Source = (typeof SOURCES)[number];

/** Makes all tables and views, whose files are yet to be listed. */
export async function viewSources(engine: Engine, schemas: string): Promise<void> {
  const tableOf = (source: Source) => (source === UNSUMMARIZED ? 'coverage' : source);
  for (const source of SOURCES) await listFiles(engine, source, withEmpty(schemas, tableOf(source), []));
  for (const table of TABLES) await engine.view(table, listedQuery(table, table));
  const unsummarized = `create or replace macro ${UNSUMMARIZED}() as table ${listedQuery('coverage', UNSUMMARIZED)}`;
  for (const statement of viewStatements(unsummarized)) await engine.run(statement);
  for (const source of SOURCES) await listFiles(engine, source, null);
}

/** Restricts the engine to these folders from now on, and locks its settings. */
export async function lockDown(engine: Engine, folders: string[]): Promise<void> {
  await engine.run(`set allowed_directories = [${folders.map(literal).join(', ')}]`);
  await engine.run('set enable_external_access = false');
  await engine.run('set lock_configuration = true');
}

/** The coverage of loaded commits that have no summary: of one website, or of all. */
export function unsummarizedFiles(log: { path: string; markers: readonly Marker[] }, website: string | null): string[] {
  const own = website === null ? log.markers : markersOf(log.markers, website);
  const unsummarized = own.filter(({ files }) => !Object.hasOwn(files, 'coverage_summary'));
  return filesOf(log.path, unsummarized, 'coverage');
}
