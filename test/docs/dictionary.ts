import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withEngine } from '../../src/base/storage/engine.js';
import { packageFolder } from '../../src/base/storage/sql.js';
import {
  type Descriptions,
  EVERYWHERE,
  type Relation,
  readRelations,
  START_HERE,
} from '../../src/warehouse/log/folder/dictionary.js';
import { createTables, viewScript } from '../../src/warehouse/log/folder/tables.js';

export const DICTIONARY = join(packageFolder(), 'docs', 'data-dictionary.md');
const HEAD = `# Data dictionary

Every column of every table and view, generated from \`docs/columns.yaml\` and \`sql/\`; \`analytics.duckdb\` and
\`indexhouse.duckdb\` have the same texts as comments. All times are TIMESTAMPTZ in UTC. A column that is *required* is
never null in a row that this version wrote; every column can be null where an older file does not have it.
[contract.md](contract.md) documents what values mean together.

The first five answer most questions:

| | one row for each | use it for |
|---|---|---|
| \`pages\` | page | what is known now, with the ages of its listing and report |
| \`page_history\` | page and period without a change | what was known on any date |
| \`page_changes\` | page and change | what changed when |
| \`daily_listings\` | website and date | which snapshot stands for a date: join with it, or two on one date count twice |
| \`coverage_summary\` | snapshot, directory and state | trends; small, and never thinned |

## Three worked questions

As of a date: \`pages_as_of\` takes a date or the id of a snapshot.

\`\`\`sql
select status, count(*) as pages from pages_as_of('2026-11-01') group by all order by all;
\`\`\`

A transition matrix: every page at both ends of a period, those included that did not move.

\`\`\`sql
select coalesce(before.status, 'not known yet') as was, after.status as became, count(*) as pages
from pages_as_of('2026-11-08') as after
left join pages_as_of('2026-11-01') as before using (website_id, url)
group by all
order by all;
\`\`\`

Days out of the index, of pages that have been in it. \`retired\` pages are left out: nothing was reported of them.

\`\`\`sql
select website_id, url, round(sum(date_diff('hour', valid_from, coalesce(valid_to, newest_at))) / 24, 1) as days_out
from page_history as known
join pages using (website_id, url)
where known.status not in ('indexed', 'retired') and valid_from > first_indexed_at
group by all
order by days_out desc, url;
\`\`\`
`;

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
  return `${[HEAD.trimEnd(), ...parts].join('\n\n')}\n`;
}
