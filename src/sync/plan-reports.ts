import { z } from 'zod';
import { crashPoint } from '../base/storage/crash-point.js';
import { publish, syncFile } from '../base/storage/durable.js';
import type { Engine } from '../base/storage/engine.js';
import { sql } from '../base/storage/sql.js';
import type { Listed } from '../warehouse/journal/listing.js';
import { type Planned, readPlanned, writePlanned } from '../warehouse/journal/plan.js';
import { setMaxReports, setPlanOrder } from '../warehouse/journal/plan-order.js';
import { setCommitFacts, viewComparison, viewPreviousState } from '../warehouse/log/stage/comparison.js';
import { keepOddRecords } from '../warehouse/log/stage/journal-views.js';
import { commitFacts } from './commit-snapshot.js';
import type { Before, WebsiteRun } from './context.js';

/** Decides which reports to fetch, the most informative first, and writes the plan into the journal. */
export async function plan(run: WebsiteRun, listed: Listed, before: Before): Promise<Planned> {
  const made = await readPlanned(run.folder);
  if (made) return made;
  if (run.config.reports.max_per_run === 0) return { planned: 0, wanted: null };
  const planned = await run.journal.use(listed.walk, async (engine) => {
    await viewListing(engine, run, listed, before);
    return writePlan(engine, run);
  });
  await writePlanned(run.folder, planned);
  crashPoint('planned');
  return planned;
}

async function viewListing(engine: Engine, run: WebsiteRun, listed: Listed, before: Before): Promise<void> {
  const facts = commitFacts(run, listed, before);
  await setCommitFacts(engine, facts);
  await keepOddRecords(engine);
  for (const table of ['coverage', 'rejected_records', 'url_reports', 'report_failures']) {
    await engine.view(`now_${table}`, sql(`warehouse/stage/${table}`));
  }
  await viewPreviousState(engine, run.warehouse, before.state);
  await viewComparison(engine, facts);
}

async function writePlan(engine: Engine, run: WebsiteRun): Promise<Planned> {
  const { reports } = run.config;
  await engine.run(sql('sync/plan/listed_candidates'));
  await setPlanOrder(engine, reports, run.effects.now());
  const temporary = `${run.folder.plan}.tmp`;
  const planned = await engine.copy(sql('warehouse/plan/report_plan'), temporary, 'format json');
  await syncFile(temporary);
  await publish(temporary, run.folder.plan);
  crashPoint('wrote the plan');
  return { planned, wanted: planned < reports.max_per_run ? planned : await countWanted(engine) };
}

/** A page whose report the service returned in an earlier run; null if it never returned one. */
export async function pageAnsweredBefore(run: WebsiteRun, { state }: Before): Promise<string | null> {
  return run.journal.use(null, async (engine) => {
    await viewPreviousState(engine, run.warehouse, state);
    const [row] = await engine.rows(z.object({ url: z.string() }), sql('sync/plan/answered_page'));
    return row?.url ?? null;
  });
}

async function countWanted(engine: Engine): Promise<number> {
  await setMaxReports(engine, Number.POSITIVE_INFINITY);
  const [row] = await engine.rows(
    z.object({ wanted: z.coerce.number() }),
    `select count(*) as wanted from (${sql('warehouse/plan/report_plan')})`,
  );
  return row?.wanted ?? 0;
}
