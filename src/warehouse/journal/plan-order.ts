import { globExpression } from '../../base/config/globs.js';
import type { Config } from '../../base/config/schema.js';
import type { Engine } from '../../base/storage/engine.js';
import { sql } from '../../base/storage/sql.js';
import { DAY_MS } from '../../base/time.js';
import { REASONS } from './plan.js';

const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/**
 * Sets what `sql/warehouse/plan/report_plan` needs to order and cut the view `candidates`, and the variable `planned_at`.
 *
 * @param now milliseconds since 1970
 */
export async function setPlanOrder(engine: Engine, reports: Config['reports'], now: number): Promise<void> {
  const { first, never } = reports.priority;
  const margin = Math.min(DAY_MS, Math.floor(reports.refresh_after / 4));
  const cycle = Math.max(1, reports.refresh_after - 2 * margin);
  await engine.setTimes({ planned_at: new Date(now) });
  await engine.set({ refresh_margin_ms: margin, refresh_cycle_ms: cycle });
  await engine.set({ reasons: [...REASONS], first_pages: globExpression(first), never_pages: globExpression(never) });
  await engine.run(sql('warehouse/plan/goes_first'));
  await engine.run(sql('warehouse/plan/never_fetched'));
  await engine.run(sql('warehouse/plan/refresh_due'));
  await setMaxReports(engine, reports.max_per_run);
}

/** @param most reports; Infinity for all that are wanted */
export async function setMaxReports(engine: Engine, most: number): Promise<void> {
  await engine.set({ max_reports: Number.isFinite(most) ? most : NO_LIMIT });
}
