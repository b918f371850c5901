import { type Engine, MemoryError } from '../../base/storage/engine.js';
import { identifier, sql, sqlNames, sqlScript } from '../../base/storage/sql.js';
import { tableQuery } from '../../warehouse/log/folder/prepare.js';
import { SEARCH_TABLES } from '../../warehouse/log/folder/tables.js';
import { ownColumnsOf } from '../../warehouse/log/stage/comparison.js';
import type { Before, PlannedRun } from '../context.js';

/** Engines that have the views, which read the journal as it is at each query. */
const viewed = new WeakSet<Engine>();

/**
 * Runs `work` over the views of search analytics. If that needs more memory than there is, it runs again as if nothing were
 * known of search, because what else is known of a website is worth a snapshot. `JournalEngine.lacks` says so.
 */
export async function withSearch<T>(
  engine: Engine,
  run: Pick<PlannedRun, 'header' | 'website' | 'journal'>,
  { before, work }: { before: Before; work: () => Promise<T> },
): Promise<T> {
  await viewSearch(engine, run, before);
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    run.journal.lacks = `search analytics is left out: ${error.message}`;
    for (const table of SEARCH_TABLES) await engine.view(table, tableQuery(table, []));
    return work();
  }
}

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
  await engine.run(sqlScript(['warehouse/macros/002_host_of', 'warehouse/macros/029_california_date']));
  for (const table of SEARCH_TABLES) {
    const own = ownColumnsOf(table)
      .map(({ name }) => identifier(name))
      .join(', ');
    const committed = `select snapshot_id, website_id, ${own} from (${tableQuery(table, search[table])})`;
    const tonight = `select $snapshot_id, $website_id, ${own} from (${sql(`sync/stage/${table}`)})`;
    const named = tonight.replace(/\$(\w+)/g, "getvariable('$1')::varchar");
    await engine.view(table, `${committed} union all ${named}`);
  }
  await engine.run(sqlScript(sqlNames('warehouse/search')));
  viewed.add(engine);
}
