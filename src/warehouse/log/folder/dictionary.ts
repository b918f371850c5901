import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { grouped } from '../../../base/observe/format.js';
import type { Engine } from '../../../base/storage/engine.js';
import { identifier, literal, packageFolder, sql, sqlNames } from '../../../base/storage/sql.js';
import { yaml } from '../../../base/yaml.js';
import { TABLES } from './tables.js';

/** What answers most questions; the other tables and views are what these are made of. */
export const START_HERE = ['pages', 'page_history', 'page_changes', 'daily_listings', 'coverage_summary'];
/** The part of `docs/columns.yaml` about columns that mean the same in every table. */
export const EVERYWHERE = 'everywhere';

/** A table or a view, with its columns in order. */
export interface Relation {
  name: string;
  kind: 'table' | 'view';
  about: string;
  columns: { name: string; type: string; required: boolean; description: string | null }[];
}

const descriptionsSchema = z.record(z.string(), z.record(z.string(), z.string()));
export type Descriptions = z.infer<typeof descriptionsSchema>;

const columnRow = z.object({ relation: z.string(), name: z.string(), type: z.string(), required: z.boolean() });
/** `describe` of every table and view at once. */
const COLUMNS = `select table_name as relation, column_name as name, lower(data_type) as type, not is_nullable as required
  from duckdb_columns() where database_name = current_database() and not internal order by table_oid, column_index`;

/** `docs/columns.yaml`. */
export function descriptionsText(): string {
  return readFileSync(join(packageFolder(), 'docs', 'columns.yaml'), 'utf8');
}

/** What each column means, by table or view. */
export function readDescriptions(): Descriptions {
  return descriptionsSchema.parse(yaml().parse(descriptionsText()));
}

/** All tables and views of a database, each column with its description, or null where it has none. */
export async function readRelations(engine: Engine, descriptions: Descriptions): Promise<Relation[]> {
  const [tables, views] = [textsIn('tables'), new Map([...textsIn('search'), ...textsIn('views')])];
  const columns = grouped(await engine.rows(columnRow, COLUMNS), ({ relation }) => relation);
  const texts = [...TABLES.map((table) => [table, tables.get(table) ?? ''] as const), ...views];
  return texts.map(([name, text]) => {
    const sections = [name, ...(views.has(name) ? tablesIn(text) : []), EVERYWHERE];
    return {
      name,
      kind: views.has(name) ? 'view' : 'table',
      about: aboutOf(text),
      columns: (columns.get(name) ?? []).map(({ name: column, type, required }) => ({
        name: column,
        type: type.replace('timestamp with time zone', 'timestamptz'),
        required,
        description: sections.map((section) => descriptions[section]?.[column]).find((found) => found) ?? null,
      })),
    };
  });
}

/** The statements of a folder by the name of what they create. */
function textsIn(folder: string): Map<string, string> {
  return new Map(sqlNames(`warehouse/${folder}`).map((path) => [basename(path).replace(/^\d+_/, ''), sql(path)]));
}

/** Comments on every table, view and column of a database, which BI tools show beside their names. */
export async function commentOn(engine: Engine): Promise<void> {
  const query = 'select view_name as name from duckdb_views() where not internal';
  // Over Parquet files, what is a table in `indexhouse.duckdb` is a view.
  const views = new Set((await engine.rows(z.object({ name: z.string() }), query)).map(({ name }) => name));
  const relations = await readRelations(engine, readDescriptions());
  const comments = relations.flatMap(({ name, about, columns }) => [
    `comment on ${views.has(name) ? 'view' : 'table'} ${name} is ${literal(START_HERE.includes(name) ? `Start here. ${about}` : about)}`,
    ...columns.map((one) => `comment on column ${name}.${identifier(one.name)} is ${literal(one.description ?? '')}`),
  ]);
  await engine.run(comments.join(';\n'));
}

/** The tables that a view reads, in the order in which it names them. */
function tablesIn(text: string): string[] {
  const names: readonly string[] = TABLES;
  return [...text.matchAll(/\b(?:from|join) (\w+)/g)]
    .map(([, name]) => name ?? '')
    .filter((name) => names.includes(name));
}

/** The comment at the head of a statement. */
function aboutOf(text: string): string {
  const comment = text.match(/^(?:-- .*\n)+/)?.[0] ?? '';
  return comment.replace(/^-- /gm, '').trim().replaceAll('\n', ' ');
}
