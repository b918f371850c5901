import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Engine } from '../../base/storage/engine.js';
import { checkAreFiles } from '../../base/storage/only-files.js';
import { identifier, literal, sql } from '../../base/storage/sql.js';
import { tableQuery } from '../../warehouse/log/folder/prepare.js';
import { columnsOf, hasRowPerFile, TABLES, type Table } from '../../warehouse/log/folder/tables.js';
import type { Log } from '../../warehouse/log/log.js';
import { markersOf } from '../../warehouse/log/markers.js';
import { readStates } from '../../warehouse/log/state.js';
import { type Definitions, OWN_PAGES, type Source } from './definitions.js';
import { addOwnPages, addOwnTable, type OwnColumns } from './own-pages.js';
import type { ReaderOptions } from './reader-options.js';

/**
 * The files of tables, of a website or of all (null), for a reader and its further connections: found and checked when
 * one is first asked for.
 */
export class SourceFiles {
  /** By source and website. Pending while they are checked, one source at a time. */
  readonly #listed = new Map<string, Promise<string[]>>();
  #checking: Promise<unknown> = Promise.resolve();
  /** How many pages of a website, or of all (null), the user's own columns say something of. */
  readonly matched = new Map<string | null, number>();

  /** @param folder a temporary folder for what is made of them */
  constructor(
    readonly log: Log,
    private readonly engine: Engine,
    private readonly folder: string,
    private readonly options: Pick<ReaderOptions, 'memoryLimit' | 'onRebuilt'>,
  ) {}

  /** @throws DamageError if one of them cannot be read; CheckpointError if nothing is left to rebuild a state from */
  async of(source: Source, website: string | null): Promise<string[]> {
    if (source === OWN_PAGES) await this.of('page_state', website);
    const name = JSON.stringify([source, website]);
    const ofAll = source === OWN_PAGES ? this.#listed.get(JSON.stringify([source, null])) : undefined;
    const files = this.#listed.get(name) ?? ofAll ?? this.#checking.then(() => this.#find(source, website));
    this.#listed.set(name, files);
    // The next question tries again.
    this.#checking = files.catch(() => this.#listed.delete(name));
    return files;
  }

  /** Some files of a table, in the form that our own statements expect. @throws Failure if one is not a file */
  filled(files: readonly string[]): string[] {
    checkAreFiles(files);
    return files.length > 0 ? [...files] : [emptyFile(this.folder)];
  }

  async #find(table: Source, website: string | null): Promise<string[]> {
    if (table === OWN_PAGES) return this.#ownPages(website);
    if (hasRowPerFile(table)) return this.#rows(table, website);
    const { log } = this;
    await log.load(website === null ? null : [website]);
    log.check(website);
    const asked = website === null ? log.markers : markersOf(log.markers, website);
    if (table === 'page_state') {
      const { memoryLimit, onRebuilt } = this.options;
      const options = { memoryLimit, temporary: this.folder, onRebuilt };
      return this.filled(await readStates(this.engine, { path: log.path, markers: asked }, options));
    }
    const files = log.files(table, website);
    const all = this.filled(files);
    await log.needing(table, files, () => this.engine.run(sql('answers/query/look_at_files'), { files: all }));
    return all;
  }

  /** Copies many small files into one. */
  async #rows(table: Exclude<Table, 'page_state'>, website: string | null): Promise<string[]> {
    const copied = this.#newFile(table);
    const where = website === null ? 'true' : `website_id = ${literal(website)}`;
    const files = this.log.files(table, website);
    const query = `from (${this.log.query(table, files)}) where ${where}`;
    await this.log.needing(table, files, () => this.engine.copy(query, copied, 'format parquet'));
    return [copied];
  }

  /** Joins the user's rows to the pages, whose states are listed before. */
  async #ownPages(website: string | null): Promise<string[]> {
    const states = (await this.#listed.get(JSON.stringify(['page_state', website]))) ?? [];
    const file = this.#newFile(OWN_PAGES);
    const known = tableQuery('page_state', states);
    const query = `with known as (${known}) ${sql('answers/own/pages')}`;
    this.matched.set(website, await this.engine.copy(query, file, 'format parquet'));
    return [file];
  }

  #newFile(source: Source): string {
    return join(this.folder, `${source}-${randomUUID()}.parquet`);
  }
}

/** Makes the user's own tables and columns, and what tells the definitions of a reader that a table has no rows. */
export async function addOwn(
  engine: Engine,
  definitions: Definitions,
  { folder, tables = [], pagesFrom }: Pick<ReaderOptions, 'tables' | 'pagesFrom'> & { folder: string },
): Promise<OwnColumns> {
  let own: OwnColumns = { columns: [], notes: [] };
  const addColumns = async () => {
    if (pagesFrom !== undefined) own = await addOwnPages(engine, folder, pagesFrom);
  };
  if (pagesFrom !== undefined) await definitions.make(engine, ['own', 'pages', 'url_key'], new Set(), addColumns);
  // A name may be taken.
  if (tables.length > 0) await definitions.make(engine, definitions.names, new Set());
  for (const table of tables) await addOwnTable(engine, folder, table);
  return own;
}

/** A file without rows that has the columns of every table, so that a list of files is never empty. */
export function emptyFile(folder: string): string {
  return join(folder, 'empty.parquet');
}

/** A statement that writes it. */
export function emptyFileScript(folder: string): string {
  const columns = new Map(TABLES.flatMap((table) => columnsOf(table).map(({ name, type }) => [name, type])));
  // Of the user's own pages.
  columns.set('own', 'map(varchar, varchar)');
  const nulls = [...columns].map(([name, type]) => `null::${type} as ${identifier(name)}`);
  return `copy (select ${nulls.join(', ')} where false) to ${literal(emptyFile(folder))} (format parquet)`;
}

/** Restricts the engine to these folders from now on, and locks its settings. */
export async function lockDown(engine: Engine, folders: string[]): Promise<void> {
  const allowed = `set allowed_directories = [${folders.map(literal).join(', ')}]`;
  await engine.run(`${allowed}; set enable_external_access = false; set lock_configuration = true`);
}
