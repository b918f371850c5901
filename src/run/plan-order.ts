import { globExpression } from '../config/globs.js';
import type { Config } from '../config/schema.js';
import { REASONS } from '../journal/plan.js';
import type { Engine } from '../storage/engine.js';
import { sql } from '../storage/sql.js';

const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/**
 * Sets what orders and cuts the plan of `sql/plan/report_plan`, which stands over the view `candidates`.
 *
 * @param now milliseconds since 1970
 */
export async function setPlanOrder(engine: Engine, reports: Config['reports'], now: number): Promise<void> {
  const { first, never } = reports.priority;
  await engine.setTimes({ refresh_before: new Date(now - reports.refresh_after) });
  await engine.set({ reasons: [...REASONS], first_pages: globExpression(first), never_pages: globExpression(never) });
  await engine.run(sql('plan/goes_first'));
  await engine.run(sql('plan/never_fetched'));
  await setMaxReports(engine, reports.max_per_run);
}

/** @param most reports; Infinity for all that are wanted */
export async function setMaxReports(engine: Engine, most: number): Promise<void> {
  await engine.set({ max_reports: Number.isFinite(most) ? most : NO_LIMIT });
}
