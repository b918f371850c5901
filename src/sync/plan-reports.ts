import { z } from 'zod';
import { globExpression } from '../base/config/globs.js';
import type { Config } from '../base/config/schema.js';
import { crashPoint } from '../base/storage/crash-point.js';
import { publishFile } from '../base/storage/durable.js';
import type { Engine } from '../base/storage/engine.js';
import { sql, sqlScript } from '../base/storage/sql.js';
import { DAY_MS } from '../base/time.js';
import { covers } from '../source/search-console/property.js';
import type { Page, Quota } from '../source/source.js';
import type { JournaledWalk } from '../warehouse/journal/listing.js';
import { evidenceSchema, type Planned, REASONS, readPlanned, writePlanned } from '../warehouse/journal/plan.js';
import { tableQuery } from '../warehouse/log/folder/prepare.js';
import { COMPARED, previousState, setCommitFacts, viewComparison } from '../warehouse/log/stage/comparison.js';
import { commitFacts } from './commit-snapshot.js';
import type { Before, PlannedRun, WebsiteRun } from './context.js';
import { keepOddRecords } from './stage/journal-views.js';
import { withSearch } from './stage/search-views.js';
import { journalQuery } from './stage/stage.js';

/** The statements that `choose_inspections` builds on, in order. */
const INSPECTIONS = [
  ...['sync/plan/scopes_of', 'sync/plan/history_of'],
  ...['008_is_website', '041_silence_chance', '044_is_shown_lately', '045_is_shown_later'].map(
    (name) => `warehouse/macros/${name}`,
  ),
  'warehouse/periods/010_search_silences',
  ...['day_began', 'today', 'quotas_left', 'page_silence', 'inspections_due'].map((name) => `sync/plan/${name}`),
  ...['reason_share', 'ranked_inspections', 'chosen_inspections'].map((name) => `sync/plan/${name}`),
];

/** More pages than any website has. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

const answeredRow = z.object({ url: z.string(), spelling: z.string().nullable() });
const wantedRow = z.object({ wanted: z.coerce.number() });
const shareRow = z.object({ reason_share: z.number() });

type PlannedListing = Pick<JournaledWalk, 'walk' | 'complete' | 'startedAt'>;

/** Decides which reports to fetch, the most informative first, and writes the plan into the journal. */
export async function plan(run: PlannedRun, listed: PlannedListing, before: Before): Promise<Planned> {
  const made = await readPlanned(run.folder);
  if (made) return made;
  if (run.config.reports.max_per_run === 0) return { planned: 0, wanted: null, ...known(await quotasOf(run)) };
  const planned = await run.journal.use(listed.walk, async (engine) => {
    await viewListing(engine, run, listed, before);
    const work = () => writePlan(engine, run);
    return run.source.byInspection ? withSearch(engine, run, { before, work }) : work();
  });
  await writePlanned(run.folder, planned);
  crashPoint('planned');
  return planned;
}

async function viewListing(engine: Engine, run: PlannedRun, listed: PlannedListing, before: Before): Promise<void> {
  const facts = commitFacts(run, listed, before);
  await setCommitFacts(engine, facts);
  await keepOddRecords(engine);
  const now = COMPARED.map((table) => [`now_${table}`, journalQuery(table, facts) ?? tableQuery(table, [])] as const);
  // `is_website` needs `snapshots` to find names; the plan is that of one website.
  await engine.views({
    ...previousState(before.state),
    ...Object.fromEntries(now),
    snapshots: tableQuery('snapshots', []),
  });
  await viewComparison(engine);
}

async function writePlan(engine: Engine, run: PlannedRun): Promise<Planned> {
  const { reports } = run.config;
  await setPlanOrder(engine, reports, run.effects.now());
  const quotas = await quotasOf(run);
  const query = quotas === null ? await reportPlan(engine) : await inspectionPlan(engine, run, quotas);
  const temporary = `${run.folder.plan}.tmp`;
  const planned = await engine.copy(query, temporary, 'format json');
  await publishFile(temporary, run.folder.plan);
  crashPoint('wrote the plan');
  if (quotas === null && planned < reports.max_per_run) return { planned, wanted: planned };
  const wanted = run.asked?.length ?? (await countWanted(engine, quotas, planned));
  const [evidence] = quotas === null || run.asked ? [] : await engine.rows(evidenceSchema, sql('sync/plan/evidence'));
  return { planned, wanted, ...known(quotas), ...(evidence && { evidence }) };
}

/**
 * Sets what `sync/plan/report_plan` needs to order and cut the view `candidates`, and the variable `planned_at`.
 *
 * @param now milliseconds since 1970
 */
export async function setPlanOrder(engine: Engine, reports: Config['reports'], now: number): Promise<void> {
  const { first, never } = reports.priority;
  const margin = Math.min(DAY_MS, Math.floor(reports.refresh_after / 4));
  const cycle = Math.max(1, reports.refresh_after - 2 * margin);
  await engine.set({
    planned_at: new Date(now),
    refresh_margin_ms: margin,
    refresh_cycle_ms: cycle,
    reasons: REASONS,
    first_pages: globExpression(first),
    never_pages: globExpression(never),
    ...mostReports(reports.max_per_run),
  });
  await engine.run(sqlScript(['sync/plan/goes_first', 'sync/plan/never_fetched', 'sync/plan/refresh_due']));
}

/** @param most reports; Infinity for all that are wanted */
function mostReports(most: number) {
  return { max_reports: Number.isFinite(most) ? most : NO_LIMIT };
}

function quotasOf({ source, website, requests }: PlannedRun) {
  return source.quotas({ lane: website.id, counts: requests });
}

/** As the plan and the snapshot have them. */
function known(quotas: readonly Quota[] | null): Pick<Planned, 'quotas'> {
  return quotas ? { quotas: quotas.map(({ property, scope, perDay: per_day }) => ({ property, scope, per_day })) } : {};
}

async function reportPlan(engine: Engine): Promise<string> {
  await engine.run(sql('sync/plan/listed_candidates'));
  return sql('sync/plan/report_plan');
}

/**
 * The plan of a source that inspects so many pages a day. A page counts for the narrowest property that has it; what is
 * too much for one counts for the next wider. So the properties choose their pages from the narrowest to the widest.
 */
async function inspectionPlan(engine: Engine, run: PlannedRun, quotas: readonly (Quota & { left: number })[]) {
  const { asked } = run;
  const scopes = quotas.map(({ scope }) => scope);
  const left = quotas.map(({ scope, left, perDay: per_day }) => ({ scope, left, per_day }));
  await engine.set({ scopes, quotas: JSON.stringify(left), asked: [...(asked ?? [])] });
  if (asked) {
    await engine.run(sql('sync/plan/history_of'));
    return sql('sync/plan/asked_pages');
  }
  const deepest = Math.max(0, ...scopes.map((scope) => scopes.filter((other) => covers(other, scope)).length));
  return planInspections(engine, deepest);
}

/** @param deepest so many properties hold the same page at most */
export async function planInspections(engine: Engine, deepest: number): Promise<string> {
  await engine.run(sqlScript(INSPECTIONS));
  const [row] = await engine.rows(shareRow, "select getvariable('reason_share')::double as reason_share");
  for (const share of [row?.reason_share ?? 0, 1]) {
    for (let depth = deepest; depth > 0; depth--) {
      await engine.set({ share, depth });
      await engine.run(sql('sync/plan/choose_inspections'));
    }
  }
  return sql('sync/plan/inspection_plan');
}

/** A page whose report the service returned in an earlier run; null if it never returned one. */
export async function pageAnsweredBefore(run: WebsiteRun, { state }: Before): Promise<Page | null> {
  return run.journal.use(null, async (engine) => {
    await engine.views(previousState(state));
    const [row] = await engine.rows(answeredRow, sql('sync/plan/answered_page'));
    return row ?? null;
  });
}

/** How many pages are due, also those that are left out of the plan. */
async function countWanted(engine: Engine, quotas: readonly Quota[] | null, planned: number): Promise<number> {
  if (quotas === null) await engine.set(mostReports(Number.POSITIVE_INFINITY));
  const pages = sql(quotas === null ? 'sync/plan/report_plan' : 'sync/plan/inspections_left_out');
  const [row] = await engine.rows(wantedRow, `select count(*) as wanted from (${pages})`);
  return (quotas === null ? 0 : planned) + (row?.wanted ?? 0);
}
