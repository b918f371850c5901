import type { Engine } from '../../base/storage/engine.js';
import { sql } from '../../base/storage/sql.js';
import { listedQuery, listFiles } from '../../warehouse/log/folder/prepare.js';
import { definitionsIn, TABLES, VIEW_FOLDERS } from '../../warehouse/log/folder/tables.js';

const QUERY_MACROS = ['listed_pages', 'selected_pages'];
/** The source of `own.pages`, as `listFiles` takes it. */
export const OWN_PAGES = 'own_pages';
/** Without a file of the user's. */
const NO_OWN_PAGES =
  'select null::varchar as website_id, null::varchar as url, null::map(varchar, varchar) as own where false';
/** Whose files a statement may need. */
const SOURCES = [...TABLES, OWN_PAGES] as const;
export type Source = (typeof SOURCES)[number];
const COMMENT = /--.*$/gm;
/** What follows FROM or JOIN, or is called. */
const NAMED = /\b(?:from|join)\s+(\w+)|\b(\w+)\(/gi;

/** The names in a statement of ours that can be those of tables, views and macros. */
export function namedIn(statement: string): Set<string> {
  const found = [...statement.replace(COMMENT, '').matchAll(NAMED)];
  return new Set(found.map(([, read, called]) => read ?? called ?? ''));
}

/** The sources whose files are read by these tables and views. */
export function sourcesIn(names: readonly string[]): Source[] {
  return SOURCES.filter(
    (source) =>
      names.includes(source) || (source === OWN_PAGES && names.some((name) => name === 'own' || name === 'pages')),
  );
}

/**
 * All tables, views and macros that a statement can name. Each is made when a statement first names it, for all
 * connections of a reader: to make them all takes longer than most answers.
 */
export class Definitions {
  readonly #all: ReadonlyMap<string, () => string>;
  /** What each names. */
  readonly #used = new Map<string, ReadonlySet<string>>();
  readonly #made = new Set<string>();
  #making: Promise<unknown> = Promise.resolve();

  /** @param empty a file without rows that has the columns of every table */
  constructor(
    timeZone: string,
    private readonly empty: string,
  ) {
    this.#all = new Map([
      ...TABLES.map(
        (table) => [table, () => `create or replace view ${table} as ${listedQuery(table, table)}`] as const,
      ),
      ...definitionsIn(VIEW_FOLDERS, timeZone),
      ['own', () => `create schema if not exists own; create or replace view own.pages as ${NO_OWN_PAGES}`],
      ...QUERY_MACROS.map((name) => [name, () => sql(`answers/query/${name}`)] as const),
    ]);
  }

  /** Those of these names that mean something, and everything that it is made of, in the order in which it is made. */
  needed(names: Iterable<string>): string[] {
    const found = new Set<string>();
    const left = [...names].map((name) => name.toLowerCase());
    for (let name = left.pop(); name !== undefined; name = left.pop()) {
      const text = this.#all.get(name);
      if (!text || found.has(name)) continue;
      found.add(name);
      const used = this.#used.get(name) ?? namedIn(text());
      this.#used.set(name, used);
      left.push(...used);
    }
    return [...this.#all.keys()].filter((name) => found.has(name));
  }

  get names(): Iterable<string> {
    return this.#all.keys();
  }

  /**
   * Makes what a statement needs and is not there yet. A view is bound when it is made: until `work` is done, all of its
   * tables are empty on this connection, and not listed then.
   */
  make(engine: Engine, names: Iterable<string>, listed: ReadonlySet<Source>, work = async () => {}): Promise<void> {
    const needed = this.needed(names);
    // Two connections cannot change the same view at once.
    const making = this.#making.then(async () => {
      const missing = needed.filter((name) => !this.#made.has(name));
      if (missing.length === 0) return work();
      const unlisted = sourcesIn(needed).filter((source) => !listed.has(source));
      await listFiles(engine, unlisted, [this.empty]);
      try {
        await engine.run(missing.map((name) => this.#all.get(name)?.() ?? '').join(';\n'));
        await work();
      } finally {
        await listFiles(engine, unlisted, null);
      }
      for (const name of missing) this.#made.add(name);
    });
    this.#making = making.catch(() => {});
    return making;
  }
}
