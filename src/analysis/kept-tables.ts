import type { Engine } from '../storage/engine.js';
import type { Table } from '../warehouse/tables.js';

/** Tables of a small file a night, by their names and by those of the views that read them. */
const NIGHTLY: ReadonlyMap<string, Table> = new Map([
  ['snapshots', 'snapshots'],
  ['coverage_daily', 'snapshots'],
  ['runs', 'runs'],
  ['coverage_summary', 'coverage_summary'],
  ['snapshot_summary', 'coverage_summary'],
]);
/** About 60 MB. */
const MAX_ROWS = 200_000;

/**
 * The tables that a reader keeps in memory: those of a small file a night, from the second question on that names them.
 * Opening the files is what such a question costs; but reading all of their columns costs more than the first one does.
 */
export class KeptTables {
  readonly #named = new Set<Table>();
  readonly #kept = new Set<Table>();

  /** @param rows how many rows each table has; one that is not there is never kept */
  constructor(
    private readonly engine: Engine,
    private readonly rows: ReadonlyMap<Table, number>,
  ) {}

  /** To be told every question before it is asked. */
  async beforeQuestion(sql: string): Promise<void> {
    const words = new Set(sql.toLowerCase().match(/\w+/g));
    const named = new Set([...NIGHTLY].flatMap(([name, table]) => (words.has(name) ? [table] : [])));
    for (const table of named) {
      if (this.#named.has(table) && !this.#kept.has(table)) await this.#keep(table);
      this.#named.add(table);
    }
  }

  async #keep(table: Table): Promise<void> {
    this.#kept.add(table);
    if ((this.rows.get(table) ?? Number.POSITIVE_INFINITY) > MAX_ROWS) return;
    await this.engine.run('create schema if not exists kept');
    await this.engine.run(`create or replace table kept.${table} as from ${table}`);
    await this.engine.view(table, `from kept.${table}`);
  }
}
