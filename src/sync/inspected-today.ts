import { z } from 'zod';
import { scopeOf } from '../base/config/google.js';
import { withEngine } from '../base/storage/engine.js';
import { sql } from '../base/storage/sql.js';
import { withTemporary } from '../base/storage/temporary.js';
import { DAY_MS } from '../base/time.js';
import { jsonOf } from '../base/validate.js';
import type { InspectionDay } from '../source/search-console/account.js';
import type { JournalFolder } from '../warehouse/journal/folder.js';
import { readLines } from '../warehouse/journal/lines.js';
import { websitesIn } from '../warehouse/log/folder/layout.js';
import { openLog } from '../warehouse/log/log.js';
import { connection, type RunContext } from './context.js';

const countRow = z.object({ property: z.string(), inspections: z.int() });
const reportLine = z.object({
  at: z.string().optional(),
  url: z.string().optional(),
  again: z.int().optional(),
  extra: z.string().optional(),
});
const extraSchema = z.looseObject({ siteUrl: z.string() });

/**
 * Counts the inspections that are used of each property on this day of California: by every website, because several may
 * use the same property, and by runs that are resumed.
 */
export async function countInspected(
  context: Pick<RunContext, 'warehouse' | 'config' | 'effects'> & Partial<Pick<RunContext, 'engine'>>,
  journals: readonly JournalFolder[],
  day: InspectionDay,
): Promise<void> {
  const { warehouse, effects } = context;
  for (const { reports } of journals) {
    const held = new Map<string, [property: string, again: number]>();
    for await (const { value } of readLines(reports, reportLine)) {
      const { data } = extraSchema.safeParse(jsonOf(value.extra ?? ''));
      if (!data || !value.at || !day.isNow(value.at)) continue;
      day.count(data.siteUrl);
      if (value.url) held.set(value.url, [data.siteUrl, value.again ?? 0]);
    }
    for (const [property, again] of held.values()) day.hold(property, again);
  }
  const committed = await withTemporary('inspected', (temporary) =>
    withEngine(connection(context, temporary), async (engine) => {
      const websites = (await websitesIn(warehouse)).filter((id) => scopeOf(id) !== null);
      const log = await openLog(engine, warehouse, { websites, index: 'at once' });
      const recent = log.markers.filter(({ committedAt }) => Date.parse(committedAt) > effects.now() - 2 * DAY_MS);
      const files = recent.map(({ path }) => path);
      await engine.view('recent_snapshots', log.query('snapshots', files));
      await engine.set({ today: day.today });
      return engine.rows(countRow, sql('sync/plan/inspected_today'));
    }),
  );
  for (const { property, inspections } of committed) day.count(property, inspections);
}
