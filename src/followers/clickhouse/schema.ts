import { createHash } from 'node:crypto';
import { z } from 'zod';
import { identifier, literal, sql, sqlNames } from '../../storage/sql.js';
import { type Column, columnsOf, columnsText, TABLES, type Table } from '../../warehouse/tables.js';
import { type ClickhouseServer, isMissing } from './server.js';

/** Holds the new state of one website until it replaces the one in `page_state`. */
export const NEXT_STATE = 'page_state_next';

const TYPES: Readonly<Record<string, string>> = {
  VARCHAR: 'String',
  JSON: 'String',
  INTEGER: 'Int32',
  BIGINT: 'Int64',
  DOUBLE: 'Float64',
  BOOLEAN: 'Bool',
  DATE: 'Date32',
  'TIMESTAMP WITH TIME ZONE': "DateTime64(6, 'UTC')",
};
/** Columns that rows are sorted by, in this order, if a table has them; none of them is ever null. */
const SORTED_BY = ['website_id', 'snapshot_date', 'commit_id'];
/** Tables of pages, which are also sorted by URL. */
const OF_PAGES: readonly Table[] = ['coverage', 'url_reports', 'page_changes', 'page_state'];

const thereRow = z.object({ name: z.string(), comment: z.string(), columns: z.array(z.string()) });

/** Creates the tables, columns and views that the database lacks. Columns are only ever added. */
export async function migrate(server: ClickhouseServer): Promise<void> {
  const there = new Map((await described(server)).map((table) => [table.name, table]));
  for (const table of TABLES) await makeTable(server, table, table, there.get(table)?.columns);
  await makeTable(server, 'page_state', NEXT_STATE, there.get(NEXT_STATE)?.columns);
  for (const name of sqlNames('clickhouse')) {
    const text = sql(name);
    // A view keeps the columns that its tables had when it was created.
    const version = createHash('sha256')
      .update(text + columnsText())
      .digest('hex')
      .slice(0, 16);
    const [, view = ''] = /^create or replace view (\w+)/m.exec(text) ?? [];
    if (there.get(view)?.comment !== version) await server.run(`${text}\ncomment ${literal(version)}`);
  }
}

async function described(server: ClickhouseServer): Promise<z.infer<typeof thereRow>[]> {
  const query = `
    select t.name as name, any(t.comment) as comment, groupArray(c.name) as columns
    from system.tables as t
    left join system.columns as c on c.database = t.database and c.table = t.name
    where t.database = currentDatabase()
    group by t.name`;
  try {
    return await server.rows(thereRow, query);
  } catch (error) {
    if (!(error instanceof Error && isMissing(error.cause))) throw error;
    await server.createDatabase();
    return [];
  }
}

async function makeTable(
  server: ClickhouseServer,
  table: Table,
  name: string,
  there: readonly string[] | undefined,
): Promise<void> {
  const all = columnsOf(table);
  if (there === undefined) {
    const key = keyOf(table);
    // A partition can be replaced as a whole.
    const partition = table === 'page_state' ? 'partition by website_id' : '';
    const columns = all.map((column) => columnOf(column, key)).join(', ');
    return server.run(
      `create table if not exists ${name} (${columns}) engine = MergeTree ${partition} order by (${key.join(', ')})`,
    );
  }
  const lacking = all.filter((column) => !there.includes(column.name));
  if (lacking.length === 0) return;
  const added = lacking.map((column) => `add column if not exists ${columnOf(column, [])}`);
  await server.run(`alter table ${name} ${added.join(', ')}`);
}

function keyOf(table: Table): string[] {
  const names = columnsOf(table).map(({ name }) => name);
  const key = SORTED_BY.filter((name) => names.includes(name));
  return OF_PAGES.includes(table) ? [...key, 'url'] : key;
}

function columnOf({ name, type }: Column, key: readonly string[]): string {
  const list = type.endsWith('[]');
  const known = TYPES[list ? type.slice(0, -2) : type];
  if (known === undefined) throw new TypeError(`the type ${type} of ${name} has none in ClickHouse`);
  const nullable = key.includes(name) ? known : `Nullable(${known})`;
  return `${identifier(name)} ${list ? `Array(${nullable})` : nullable}`;
}
