import type { Engine } from '../../base/storage/engine.js';
import { identifier, sql, sqlNames } from '../../base/storage/sql.js';
import { tableQuery } from '../../warehouse/log/folder/prepare.js';
import { SEARCH_TABLES } from '../../warehouse/log/folder/tables.js';
import { ownColumnsOf } from '../../warehouse/log/stage/comparison.js';
import type { Before, PlannedRun } from '../context.js';

/** Engines that have the views, which read the journal as it is at each query. */
const viewed = new WeakSet<Engine>();

/**
 * Creates the views of search analytics over what is committed of a website and what its journal holds: `search_days` and
 * so on, as readers of the warehouse have them after the commit.
 */
export async function viewSearch(
  engine: Engine,
  run: Pick<PlannedRun, 'header' | 'website'>,
  { search }: Before,
): Promise<void> {
  if (viewed.has(engine)) return;
  await engine.set({ snapshot_id: run.header.snapshot_id, website_id: run.website.id });
  for (const name of ['002_host_of', '029_california_date']) await engine.run(sql(`warehouse/macros/${name}`));
  for (const table of SEARCH_TABLES) {
    const own = ownColumnsOf(table)
      .map(({ name }) => identifier(name))
      .join(', ');
    const committed = `select snapshot_id, website_id, ${own} from (${tableQuery(table, search[table])})`;
    const tonight = `select $snapshot_id, $website_id, ${own} from (${sql(`sync/stage/${table}`)})`;
    const named = tonight.replace(/\$(\w+)/g, "getvariable('$1')::varchar");
    await engine.view(table, `${committed} union all ${named}`);
  }
  for (const name of sqlNames('warehouse/search')) await engine.run(sql(name));
  viewed.add(engine);
}
