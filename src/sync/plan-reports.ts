import { z } from 'zod';
import { crashPoint } from '../base/storage/crash-point.js';
import { publishFile } from '../base/storage/durable.js';
import type { Engine } from '../base/storage/engine.js';
import { sql } from '../base/storage/sql.js';
import { keyOf } from '../source/search-console/property.js';
import type { Page, Quota } from '../source/source.js';
import type { JournaledWalk } from '../warehouse/journal/listing.js';
import { type Planned, readPlanned, writePlanned } from '../warehouse/journal/plan.js';
import { setMaxReports, setPlanOrder } from '../warehouse/journal/plan-order.js';
import { tableQuery } from '../warehouse/log/folder/prepare.js';
import { COMPARED, setCommitFacts, viewComparison, viewPreviousState } from '../warehouse/log/stage/comparison.js';
import { commitFacts } from './commit-snapshot.js';
import type { Before, WebsiteRun } from './context.js';
import { keepOddRecords } from './stage/journal-views.js';
import { journalQuery } from './stage/stage.js';

/** The statements that `inspection_plan` builds on, in order. */
const INSPECTIONS = ['day_began', 'property_of', 'inspections_left', 'inspections_due'];

const answeredRow = z.object({ url: z.string(), spelling: z.string().nullable() });
const wantedRow = z.object({ wanted: z.coerce.number() });

/** Decides which reports to fetch, the most informative first, and writes the plan into the journal. */
export async function plan(run: WebsiteRun, listed: JournaledWalk, before: Before): Promise<Planned> {
  const made = await readPlanned(run.folder);
  if (made) return made;
  if (run.config.reports.max_per_run === 0) return { planned: 0, wanted: null };
  const planned = await run.journal.use(listed.walk, async (engine) => {
    await viewListing(engine, run, listed, before);
    return writePlan(engine, run, before);
  });
  await writePlanned(run.folder, planned);
  crashPoint('planned');
  return planned;
}

async function viewListing(engine: Engine, run: WebsiteRun, listed: JournaledWalk, before: Before): Promise<void> {
  const facts = commitFacts(run, listed, before);
  await setCommitFacts(engine, facts);
  await keepOddRecords(engine);
  await viewPreviousState(engine, run.warehouse, before.state);
  for (const table of COMPARED) {
    const query = journalQuery(table, facts) ?? tableQuery(run.warehouse, table, []);
    await engine.view(`now_${table}`, query);
  }
  await viewComparison(engine);
}

async function writePlan(engine: Engine, run: WebsiteRun, before: Before): Promise<Planned> {
  const { reports } = run.config;
  await setPlanOrder(engine, reports, run.effects.now());
  const quotas = await run.source.quotas({ lane: run.website.id, counts: run.requests });
  const query = quotas === null ? await reportPlan(engine) : await inspectionPlan(engine, run, before, quotas);
  const temporary = `${run.folder.plan}.tmp`;
  const planned = await engine.copy(query, temporary, 'format json');
  await publishFile(temporary, run.folder.plan);
  crashPoint('wrote the plan');
  if (quotas === null && planned < reports.max_per_run) return { planned, wanted: planned };
  const wanted = run.asked?.length ?? (await countWanted(engine, quotas));
  return { planned, wanted: Math.max(planned, wanted) };
}

async function reportPlan(engine: Engine): Promise<string> {
  await engine.run(sql('sync/plan/listed_candidates'));
  return sql('warehouse/plan/report_plan');
}

/** The plan of a source that inspects so many pages a day, each counted for the property that it belongs to. */
async function inspectionPlan(engine: Engine, run: WebsiteRun, before: Before, quotas: readonly Quota[]) {
  const { asked = null, website, warehouse } = run;
  // In the form of their pages.
  const addressed = (property: string) => keyOf(property) ?? property;
  const known = quotas.map(({ property, perDay: per_day }) => ({ property: addressed(property), per_day }));
  const own = addressed(website.id);
  const prefixes = known.map(({ property }) => property).filter((property) => property !== own);
  const properties = prefixes.sort((one, other) => other.length - one.length);
  await engine.set({
    own_property: own,
    properties,
    asked: [...(asked ?? [])],
    quotas: JSON.stringify(known),
  });
  await engine.view('recent_reports', tableQuery(warehouse, 'url_reports', before.recentReports));
  for (const name of INSPECTIONS) await engine.run(sql(`sync/plan/${name}`));
  return sql(`sync/plan/${asked ? 'asked_pages' : 'inspection_plan'}`);
}

/** A page whose report the service returned in an earlier run; null if it never returned one. */
export async function pageAnsweredBefore(run: WebsiteRun, { state }: Before): Promise<Page | null> {
  return run.journal.use(null, async (engine) => {
    await viewPreviousState(engine, run.warehouse, state);
    const [row] = await engine.rows(answeredRow, sql('sync/plan/answered_page'));
    return row ?? null;
  });
}

async function countWanted(engine: Engine, quotas: readonly Quota[] | null): Promise<number> {
  await setMaxReports(engine, Number.POSITIVE_INFINITY);
  const pages = sql(quotas === null ? 'warehouse/plan/report_plan' : 'sync/plan/inspections_wanted');
  const [row] = await engine.rows(wantedRow, `select count(*) as wanted from (${pages})`);
  return row?.wanted ?? 0;
}
