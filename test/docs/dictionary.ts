import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withEngine } from '../../src/base/storage/engine.js';
import {
  type Descriptions,
  EVERYWHERE,
  type Relation,
  readRelations,
  START_HERE,
} from '../../src/warehouse/log/folder/dictionary.js';
import { createTables, viewScript } from '../../src/warehouse/log/folder/tables.js';

/** All tables and views as they are now. */
export async function relationsNow(descriptions: Descriptions): Promise<Relation[]> {
  return withEngine({ memoryLimit: 256e6, temporary: join(tmpdir(), 'indexhouse-test') }, async (engine) => {
    await createTables(engine);
    await engine.run(viewScript('UTC'));
    return readRelations(engine, descriptions);
  });
}

/** Descriptions of what does not exist, as `section.column`. */
export function unused(descriptions: Descriptions, relations: readonly Relation[]): string[] {
  return Object.entries(descriptions).flatMap(([section, columns]) => {
    const own = relations.filter(({ name }) => section === EVERYWHERE || name === section);
    const known = new Set(own.flatMap((relation) => relation.columns.map(({ name }) => name)));
    return Object.keys(columns).flatMap((column) => (known.has(column) ? [] : [`${section}.${column}`]));
  });
}

/** The tables and views as the data dictionary shows them. */
export function dictionaryText(relations: readonly Relation[]): string {
  const [first, others] = [true, false].map((is) => relations.filter(({ name }) => START_HERE.includes(name) === is));
  const parts = [...(first ?? []), ...(others ?? [])].map(({ name, kind, about, columns }) => {
    const rows = columns.map(
      (column) =>
        `| \`${column.name}\` | ${column.type}${column.required ? ', required' : ''} | ${column.description?.replaceAll('|', '\\|')} |`,
    );
    return [`## \`${name}\` (${kind})`, '', about, '', '| column | type | meaning |', '|---|---|---|', ...rows].join(
      '\n',
    );
  });
  return parts.join('\n\n');
}
