import { z } from 'zod';
import { count, counted, moment } from '../base/observe/format.js';
import { withRemedy } from '../base/storage/disk-error.js';
import { sizeOf } from '../base/storage/durable.js';
import { type Engine, withEngine } from '../base/storage/engine.js';
import { sql } from '../base/storage/sql.js';
import { calendarDate } from '../base/time.js';
import { ClockError } from '../source/clock.js';
import { type RunHeader, writeHeader } from '../warehouse/journal/header.js';
import type { JournaledWalk } from '../warehouse/journal/listing.js';
import { totalOf } from '../warehouse/journal/plan.js';
import { commitStaged, dropJournal, dropOldStates, writeRunRow } from '../warehouse/log/commit.js';
import { openLog } from '../warehouse/log/log.js';
import { filesOf, latestOf, type Marker } from '../warehouse/log/markers.js';
import type { Manifest } from '../warehouse/log/stage/commit-files.js';
import { type CommitFacts, previousState } from '../warehouse/log/stage/comparison.js';
import { currentState, hasComplete } from '../warehouse/log/state.js';
import { type Before, connection, type FetchedReports, type PlannedRun, type WebsiteRun } from './context.js';
import { setAsideText } from './journal/set-aside.js';
import { countsIn, failedReceipt, type WebsiteReceipt } from './receipt.js';
import { idAfter } from './run-clock.js';
import { stageCommit } from './stage/stage.js';

/**
 * Reads what is committed of a website, from markers alone. A missing state file is rebuilt.
 *
 * @throws DamageError if one of its markers cannot be read: the next commit would repeat every change since then
 */
export async function readBefore(run: WebsiteRun): Promise<Before> {
  const { warehouse, website } = run;
  // Only this website: a warehouse may hold many, each with a marker per night.
  const read = (engine: Engine) => openLog(engine, warehouse, { websites: [website.id], whole: true });
  const engine = connection(run, run.folder.temporary);
  const { markers } = await run.oneAtATime(() => withEngine(engine, read));
  return beforeOf(warehouse, markers, await currentState(warehouse, markers, engine));
}

/** What these commits of a website left, of which `state` is the state. */
export function beforeOf(warehouse: string, markers: readonly Marker[], state: string | null): Before {
  return {
    state,
    hadComplete: hasComplete(markers),
    newest: markers.at(-1)?.snapshotId ?? null,
    latest: latestOf(markers),
    search: {
      search_final: filesOf(warehouse, markers, 'search_final'),
      search_fresh: filesOf(warehouse, markers, 'search_fresh'),
      search_fetches: filesOf(warehouse, markers, 'search_fetches'),
    },
  };
}

export function commitFacts(
  run: Pick<PlannedRun, 'header' | 'source' | 'config'>,
  listed: Pick<JournaledWalk, 'complete' | 'startedAt'>,
  before: Before,
): CommitFacts {
  // A walk whose clock was behind is dated right after the latest snapshot.
  const snapshotAt = new Date(Math.max(listed.startedAt, (before.latest?.at ?? 0) + 1));
  return {
    snapshotId: run.header.snapshot_id,
    websiteId: run.header.website_id,
    snapshotAt,
    date: calendarDate(snapshotAt, run.config.warehouse.time_zone),
    listingComplete: listed.complete,
    hadComplete: before.hadComplete,
    byInspection: run.source.byInspection,
  };
}

/** Writes every file of the commit from the journal. None is visible yet. */
export async function stage(
  run: WebsiteRun,
  listed: JournaledWalk,
  before: Before,
  given: FetchedReports,
): Promise<Manifest> {
  const judged = await judgeReports(run, before, given);
  const { lacks } = run.journal;
  // Unless the listing says so.
  const fetched = lacks && listed.complete ? { ...judged, status: 'interrupted' as const, message: lacks } : judged;
  run.header = await headerAfter(run, before);
  const { header, requests } = run;
  const facts = commitFacts(run, listed, before);
  const finishedAt = new Date(Math.max(run.effects.now(), facts.snapshotAt.getTime())).toISOString();
  // A listing-only run that was interrupted may have been planned since it ended.
  const wanted = fetched.status === 'off' ? null : fetched.wanted;
  const reasons = [listed.reason, fetched.message, header.set_aside ? setAsideText(header.set_aside) : null];
  const ids = { run_id: header.run_id, website_id: header.website_id, snapshot_id: header.snapshot_id };
  const input = {
    warehouse: run.warehouse,
    folder: run.folder,
    facts,
    previousState: before.state,
    snapshot: {
      ...ids,
      website_name: header.website_name,
      snapshot_at: facts.snapshotAt.toISOString(),
      snapshot_date: facts.date,
      finished_at: finishedAt,
      listing_status: listed.complete ? 'complete' : 'partial',
      reports_status: fetched.status,
      pages_expected: listed.count,
      walks: listed.walks,
      requests_sent: requests.sent,
      requests_throttled: requests.throttled,
      resumed: header.resumed > 0,
      version: header.version,
      requests_retried: requests.retried,
      utilisation: given.utilisation === undefined ? run.source.client.utilisation : given.utilisation,
      reports_wanted: wanted,
      source: run.source.byInspection ? 'google' : 'api',
      quotas: fetched.quotas ? JSON.stringify(fetched.quotas) : null,
      evidence: fetched.evidence ? JSON.stringify(fetched.evidence) : null,
    },
    run: {
      ...ids,
      started_at: header.started_at,
      finished_at: finishedAt,
      outcome: 'committed',
      error: reasons.filter((reason) => reason !== null).join('; ') || null,
      requests_sent: requests.sent,
      requests_throttled: requests.throttled,
      requests_retried: requests.retried,
      snapshot_date: facts.date,
    },
    setAside: header.set_aside?.folder,
  };
  try {
    return await run.journal.use(listed.walk, (engine) => stageCommit(engine, input));
  } finally {
    // The commit deletes its folder.
    run.journal.close();
  }
}

/** Commits sort by their ids, so one whose clock was behind needs a new id. */
async function headerAfter({ header, folder }: WebsiteRun, { newest }: Before): Promise<RunHeader> {
  if (newest === null || newest < header.snapshot_id) return header;
  const renamed = { ...header, snapshot_id: idAfter(newest) };
  await writeHeader(folder, renamed);
  return renamed;
}

/** Makes the snapshot visible, and returns its receipt. */
export async function commit(run: WebsiteRun, manifest: Manifest, fetched: FetchedReports): Promise<WebsiteReceipt> {
  await commitStaged(run.warehouse, run.folder, manifest);
  await dropOldStates(run.warehouse, run.website.id, run.effects.now());
  return committedReceipt(manifest, fetched.reused, run.effects.now());
}

/** The receipt of a commit, from what was staged of it. */
export function committedReceipt({ snapshot, run, set_aside }: Manifest, reused: number, now: number): WebsiteReceipt {
  const requests = (name: string) => Number(run[`requests_${name}`] ?? 0);
  return {
    website_id: String(snapshot['website_id']),
    website_name: snapshot['website_name'] == null ? null : String(snapshot['website_name']),
    snapshot_id: String(snapshot['snapshot_id']),
    status: 'committed',
    listing_status: snapshot['listing_status'] === 'complete' ? 'complete' : 'partial',
    reports_status: String(snapshot['reports_status']),
    ...countsIn(snapshot, reused),
    requests: { sent: requests('sent'), throttled: requests('throttled'), retried: requests('retried') },
    resumed: snapshot['resumed'] === true,
    duration_ms: Math.max(0, now - Date.parse(String(run['started_at']))),
    ...(snapshot['sources_quiet'] == null ? {} : { sources_quiet: String(snapshot['sources_quiet']) }),
    ...(snapshot['rejected_for'] == null ? {} : { rejected_for: String(snapshot['rejected_for']) }),
    ...(set_aside === undefined ? {} : { set_aside }),
    ...(run['error'] === null ? {} : { error: String(run['error']) }),
  };
}

/**
 * Records in `runs` why a website got no snapshot, and deletes its journal: the next run starts over.
 *
 * @throws ClockError if the clock is wrong: the row would pass for an earlier or a later one
 */
export async function recordFailure(run: WebsiteRun, message: string): Promise<WebsiteReceipt> {
  const { header, clock } = run;
  const error = header.set_aside ? `${message}; ${setAsideText(header.set_aside)}` : message;
  run.latest ??= (await readBefore(run)).latest;
  clock.check(run);
  await writeRow(run, { outcome: 'failed', snapshot_id: null, error });
  return failed(run, error);
}

/** The journal stays: the fault is on our side (a disk, the clock, a bug), and the next sync resumes from it. */
export async function keptForNextTime(run: WebsiteRun, error: unknown): Promise<WebsiteReceipt> {
  const { logger, website, folder } = run;
  if (error instanceof ClockError) logger.info({ website: website.id }, `no snapshot: ${error.message}`);
  else logger.info({ website: website.id, err: error }, 'a website got no snapshot');
  // It would only show the wrong time.
  if (error instanceof ClockError && (await sizeOf(folder.listing)) === 0) await dropJournal(folder);
  return failed(run, withRemedy(error));
}

function failed({ header, requests, effects }: WebsiteRun, error: string): WebsiteReceipt {
  return failedReceipt(header, error, {
    ...(header.set_aside ? { set_aside: header.set_aside.folder } : {}),
    requests,
    resumed: header.resumed > 0,
    duration_ms: Math.max(0, effects.now() - Date.parse(header.started_at)),
  });
}

/** Writes the row of a committed run that crashed before it could, and deletes its journal. */
export async function recordCommitted(run: WebsiteRun): Promise<void> {
  await writeRow(run, { outcome: 'committed', snapshot_id: run.header.snapshot_id, error: null });
}

async function writeRow(
  run: WebsiteRun,
  end: { outcome: 'committed' | 'failed'; snapshot_id: string | null; error: string | null },
): Promise<void> {
  const { header, requests, config, effects, folder, warehouse } = run;
  await writeRunRow({
    warehouse,
    folder,
    engine: connection(run, folder.temporary),
    date: calendarDate(new Date(header.started_at), config.warehouse.time_zone),
    row: {
      run_id: header.run_id,
      website_id: header.website_id,
      started_at: header.started_at,
      finished_at: new Date(effects.now()).toISOString(),
      ...end,
      requests_sent: requests.sent,
      requests_throttled: requests.throttled,
      requests_retried: requests.retried,
    },
  });
  await dropJournal(folder);
}

/** Fewer failed reports are the fault of their pages, whatever their share. */
const LEAST_FAILED = 3;
/** Above this share, a 404 is not the answer of single pages. */
const NEARLY_ALL = 0.9;

const failuresRow = z.object({ unknown_pages: z.int(), since: z.string(), message: z.string().nullable() });

/** What was fetched, with the status `failed` if too many reports failed, whatever ended the fetching. */
async function judgeReports(run: WebsiteRun, before: Before, fetched: FetchedReports): Promise<FetchedReports> {
  const { counts, status } = fetched;
  if (status === 'failed' || status === 'interrupted') return fetched;
  const reason = await whyFailed(run, before, counts);
  return reason === null ? fetched : { ...fetched, status: 'failed', message: reason };
}

async function whyFailed(run: WebsiteRun, before: Before, counts: FetchedReports['counts']): Promise<string | null> {
  const { failed, missing } = counts;
  const all = totalOf(counts);
  const haveFailed = failed >= LEAST_FAILED && failed > run.config.reports.max_failed_ratio * all;
  if (!haveFailed && (missing < LEAST_FAILED || missing <= NEARLY_ALL * all)) return null;
  const { unknown_pages: unknown, since, message } = await failuresOf(run, before);
  if (haveFailed) {
    const of = `${count(failed)} of ${counted(all, 'report')} failed since ${moment(since)}`;
    return `${of}, more than reports.max_failed_ratio allows; most often: ${message}`;
  }
  // Pages that left the listing are asked for to confirm that they are gone.
  const listed = all - missing + unknown;
  if (unknown < LEAST_FAILED || unknown <= NEARLY_ALL * listed) return null;
  const of = `${count(unknown)} of ${count(listed)} reports of listed pages were answered with 404`;
  return `${of} since ${moment(since)}: check api.base_url, and whether a proxy answers instead of the service`;
}

async function failuresOf(run: WebsiteRun, { state }: Before): Promise<z.infer<typeof failuresRow>> {
  return run.journal.use(null, async (engine) => {
    await engine.views(previousState(state));
    const [row] = await engine.rows(failuresRow, sql('sync/stage/report_failures_counted'));
    return failuresRow.parse(row);
  });
}
