import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { type Engine, withEngine } from '../../src/base/storage/engine.js';
import { packageFolder, sql, sqlNames } from '../../src/base/storage/sql.js';
import { createTables, TABLES, viewStatements } from '../../src/warehouse/log/folder/tables.js';

export const DICTIONARY = join(packageFolder(), 'docs', 'data-dictionary.md');
const COLUMNS = join(packageFolder(), 'docs', 'columns.yaml');
const EVERYWHERE = 'everywhere';
const HEAD = `# Data dictionary

Every column of every table and view, generated from \`docs/columns.yaml\` and \`sql/\`. All times are TIMESTAMPTZ in UTC. A
column that is *required* is never null in a row that this version wrote; every column can be null where an older file does
not have it. [contract.md](contract.md) documents what values mean together.
`;

/** A table or a view, with its columns in order. */
export interface Relation {
  name: string;
  kind: 'table' | 'view';
  about: string;
  columns: { name: string; type: string; required: boolean; description: string | null }[];
}

type Descriptions = Record<string, Record<string, string>>;

const columnRow = z.object({ column_name: z.string(), column_type: z.string(), null: z.string() });

export function readDescriptions(): Descriptions {
  return z.record(z.string(), z.record(z.string(), z.string())).parse(parse(readFileSync(COLUMNS, 'utf8')));
}

/** All tables and views as they are now, each column with its description, or null where it has none. */
export async function readRelations(descriptions: Descriptions): Promise<Relation[]> {
  return withEngine({ memoryLimit: 256e6, temporary: join(tmpdir(), 'indexhouse-test') }, async (engine) => {
    await createTables(engine);
    for (const statement of viewStatements('UTC')) await engine.run(statement);
    const views = sqlNames('warehouse/views').map((path) => basename(path));
    const relations: Relation[] = [];
    for (const name of [...TABLES, ...views]) relations.push(await readRelation(engine, name, descriptions));
    return relations;
  });
}

async function readRelation(engine: Engine, name: string, descriptions: Descriptions): Promise<Relation> {
  const table = sqlNames('warehouse/tables').find((path) => basename(path).replace(/^\d+_/, '') === name);
  const text = sql(table ?? `warehouse/views/${name}`);
  const sections = [name, ...(table ? [] : tablesIn(text)), EVERYWHERE];
  const columns = await engine.rows(columnRow, `describe ${name}`);
  return {
    name,
    kind: table ? 'table' : 'view',
    about: aboutOf(text),
    columns: columns.map(({ column_name: column, column_type, null: nullable }) => ({
      name: column,
      type: column_type.toLowerCase().replace('timestamp with time zone', 'timestamptz'),
      required: nullable === 'NO',
      description: sections.map((section) => descriptions[section]?.[column]).find((found) => found) ?? null,
    })),
  };
}

/** The tables that a view reads, in the order in which it names them. */
function tablesIn(text: string): string[] {
  const names: readonly string[] = TABLES;
  return [...text.matchAll(/\b(?:from|join) (\w+)/g)]
    .map(([, name]) => name ?? '')
    .filter((name) => names.includes(name));
}

/** The comment at the head of a statement. */
export function aboutOf(text: string): string {
  const comment = text.match(/^(?:-- .*\n)+/)?.[0] ?? '';
  return comment.replace(/^-- /gm, '').trim().replaceAll('\n', ' ');
}

/** Descriptions of what does not exist, as `section.column`. */
export function unused(descriptions: Descriptions, relations: readonly Relation[]): string[] {
  return Object.entries(descriptions).flatMap(([section, columns]) => {
    const own = relations.filter(({ name }) => section === EVERYWHERE || name === section);
    const known = new Set(own.flatMap((relation) => relation.columns.map(({ name }) => name)));
    return Object.keys(columns).flatMap((column) => (known.has(column) ? [] : [`${section}.${column}`]));
  });
}

export function dictionaryText(relations: readonly Relation[]): string {
  const parts = relations.map(({ name, kind, about, columns }) => {
    const rows = columns.map(
      (column) =>
        `| \`${column.name}\` | ${column.type}${column.required ? ', required' : ''} | ${column.description?.replaceAll('|', '\\|')} |`,
    );
    return [`## \`${name}\` (${kind})`, '', about, '', '| column | type | meaning |', '|---|---|---|', ...rows].join(
      '\n',
    );
  });
  return `${[HEAD.trimEnd(), ...parts].join('\n\n')}\n`;
}
