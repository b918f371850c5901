import { basename, dirname } from 'node:path';
import { websiteOf } from '../base/config/websites.js';
import { duration } from '../base/observe/format.js';
import { withRemedy } from '../base/storage/disk-error.js';
import { exists } from '../base/storage/durable.js';
import { withEngine } from '../base/storage/engine.js';
import { encodeId } from '../base/storage/names.js';
import { ClockError, MAX_SKEW_MS } from '../source/clock.js';
import { type JournalFolder, unfinishedJournals } from '../warehouse/journal/folder.js';
import {
  JournalError,
  lastActivity,
  RESUME_WITHIN_MS,
  type RunHeader,
  readHeader,
  type SetAside,
} from '../warehouse/journal/header.js';
import { readListing } from '../warehouse/journal/listing.js';
import { readPlanned, readReports, totalOf } from '../warehouse/journal/plan.js';
import { commitStaged, dropJournal, isStagedWhole } from '../warehouse/log/commit.js';
import { listTableFiles, scratchFolder } from '../warehouse/log/folder/layout.js';
import { openLog } from '../warehouse/log/log.js';
import { markersOf } from '../warehouse/log/markers.js';
import { readManifest } from '../warehouse/log/stage/commit-files.js';
import { commit, committedReceipt, readBefore, recordCommitted, recordFailure, stage } from './commit-snapshot.js';
import { connection, type RunContext, type WebsiteRun } from './context.js';
import { setAsideIfDamaged, setAsideText } from './journal/set-aside.js';
import { ReportsJournal } from './journal/write-reports.js';
import { failedReceipt, type WebsiteReceipt } from './receipt.js';

/** What earlier runs left. */
export interface Recovered {
  /** The run to resume, if one is young enough; then no other run starts. */
  runId: string | null;
  /** What is left to do of that run. */
  unfinished: { folder: JournalFolder; header: RunHeader }[];
  /** Its parts that were finished without a request, and websites whose journal cannot be read or finished. */
  receipts: WebsiteReceipt[];
  /** What was finished of older runs. */
  older: WebsiteReceipt[];
  /** Damaged journals that were set aside, by website. */
  setAside: Map<string, SetAside>;
}

/** What a recovery needs from the run that it prepares. */
export interface RecoverDeps {
  /** Opens the part of a run that a journal belongs to, even for a website that is no longer configured. */
  openRun(folder: JournalFolder, header: RunHeader): WebsiteRun;
  /** A header for a run whose own is lost. */
  newHeader(folder: JournalFolder): RunHeader;
  isConfigured(websiteId: string): boolean;
  /** Why a run stopped, as `stopReason` has it. */
  whyStopped(folder: JournalFolder, lastActivity: number): string;
}

/**
 * Looks through the journals of unfinished runs, oldest first, and finishes what needs no request:
 *
 * - empty: the run died before its first request; the folder is deleted.
 * - recorded (it has a row in `runs`): the journal is deleted.
 * - committed (a marker says so) or staged: what is missing of the commit is renamed, the marker last.
 * - begun while the clock was ahead: it is dropped, once the service shows that the clock is right.
 * - damaged: it is set aside, and the run starts over.
 * - younger than six hours, the website is configured, and it is a night: left to be resumed.
 * - older, or an `inspect`: what has a complete listing is committed as `interrupted`; the rest is dropped with a row in
 *   `runs`.
 */
export async function recover(context: RunContext, deps: RecoverDeps): Promise<Recovered> {
  const recovered: Recovered = { runId: null, unfinished: [], receipts: [], older: [], setAside: new Map() };
  const journals = await unfinishedJournals(context.warehouse);
  const ended = await endedIds(context.warehouse, new Set(journals.map(({ websiteId }) => websiteId)));
  for (const folder of journals) {
    const isNewest = folder.runId === journals.at(-1)?.runId;
    const mayResume = isNewest && deps.isConfigured(folder.websiteId);
    try {
      const end = await recoverOne(context, folder, { deps, ended, mayResume, setAside: recovered.setAside });
      if (end.kind === 'gone') continue;
      if (isNewest && end.young) recovered.runId = folder.runId;
      if (end.kind === 'resumed') recovered.unfinished.push({ folder, header: end.header });
      else (isNewest && end.young ? recovered.receipts : recovered.older).push(end.receipt);
      context.logger.info(
        { website: folder.websiteId, run: folder.runId, recovery: end.kind },
        'found an unfinished run',
      );
    } catch (error) {
      // The files stay. A disk that is full or cannot be read is no reason to stop the other websites.
      const message = withRemedy(error);
      context.logger.info({ website: folder.websiteId, run: folder.runId, err: error }, message);
      const requests = { sent: 0, throttled: 0, retried: 0 };
      const rest = { requests, resumed: true, duration_ms: 0 };
      const { websiteId: website_id } = folder;
      recovered.receipts.push(
        failedReceipt({ website_id, website_name: websiteOf(context.config, website_id).name }, message, rest),
      );
    }
  }
  return recovered;
}

type End =
  | { kind: 'gone' }
  | { kind: 'resumed'; header: RunHeader; young: boolean }
  | { kind: 'committed' | 'dropped'; receipt: WebsiteReceipt; young: boolean };

interface RecoveryInput {
  deps: RecoverDeps;
  ended: EndedIds;
  mayResume: boolean;
  setAside: Map<string, SetAside>;
}

async function recoverOne(context: RunContext, folder: JournalFolder, input: RecoveryInput): Promise<End> {
  if (input.ended.runs.has(idOf(folder.websiteId, folder.runId)) || (await isEmpty(folder))) {
    await dropJournal(folder);
    return { kind: 'gone' };
  }
  const dropped = await dropIfAhead(folder, input);
  if (dropped) return { kind: 'dropped', receipt: dropped, young: false };
  const active = await lastActivity(folder);
  const isRecent = context.effects.now() - active <= RESUME_WITHIN_MS;
  const isNight = !(await headerIfWhole(folder))?.asked;
  const young = isRecent && isNight;
  const receipt = await finishStaged(context, folder);
  if (receipt) return { kind: 'committed', receipt, young };
  const committed = await committedHeader(context, folder, input);
  if (committed) {
    await recordCommitted(input.deps.openRun(folder, committed));
    return { kind: 'gone' };
  }
  const header = await wholeHeader(context, folder, input);
  if (young && input.mayResume) return { kind: 'resumed', header, young };
  const run = input.deps.openRun(folder, header);
  // A clock that is ahead makes every run look old.
  if (!isRecent) await run.clock.confirm(run);
  const gone = isNight ? 'its website is no longer part of this run' : 'only nights are resumed';
  const why = isRecent ? gone : 'that is too long ago to resume';
  const old = await finishOld(run, `${input.deps.whyStopped(folder, active)}, and ${why}`);
  return { kind: old.status === 'committed' ? 'committed' : 'dropped', receipt: old, young: false };
}

/** Drops a journal that was begun while the clock was ahead. @throws ClockError if the clock may be behind instead */
async function dropIfAhead(folder: JournalFolder, { deps, ended }: RecoveryInput): Promise<WebsiteReceipt | null> {
  const header = await headerIfWhole(folder);
  if (!header || ended.snapshots.has(idOf(folder.websiteId, header.snapshot_id))) return null;
  const run = deps.openRun(folder, header);
  const ahead = Date.parse(header.started_at) - run.effects.now();
  if (ahead <= MAX_SKEW_MS) return null;
  await run.clock.confirm(run);
  const message = `the unfinished run began ${duration(ahead)} from now, by this machine's clock`;
  if (run.source.client.clockAhead === null)
    throw new ClockError(`${message}; set the clock, or delete ${folder.path}`);
  await dropJournal(folder);
  // The run says so at `warn`, with all that ended like it.
  run.logger.info({ website: folder.websiteId, run: folder.runId }, `${message}: it is dropped`);
  return failedReceipt(header, message, { requests: run.requests, resumed: true, duration_ms: 0 });
}

/** Whether the run died before its first request: the header is written before that. */
async function isEmpty(folder: JournalFolder): Promise<boolean> {
  const files = [folder.header, folder.search, folder.listing, folder.planned, folder.plan, folder.reports];
  const there = await Promise.all(files.map((file) => exists(file)));
  return !there.includes(true);
}

/** Commits what is staged. Damaged files count as not staged: they can be staged again from the journal. */
async function finishStaged(context: RunContext, folder: JournalFolder) {
  const { warehouse, effects, logger } = context;
  const manifest = await readManifest(folder);
  if (!manifest) return null;
  if (!(await isStagedWhole(warehouse, folder, manifest))) {
    logger.info({ website: folder.websiteId, run: folder.runId }, 'staged files are damaged: staging them again');
    return null;
  }
  const reused = await countAnswers(folder);
  await commitStaged(warehouse, folder, manifest);
  return committedReceipt(manifest, reused, effects.now());
}

/** The header of a run whose marker is committed but whose row in `runs` is missing; else null. */
async function committedHeader(
  context: RunContext,
  folder: JournalFolder,
  { deps, ended }: RecoveryInput,
): Promise<RunHeader | null> {
  const isCommitted = (id: string) => ended.snapshots.has(idOf(folder.websiteId, id));
  const header = await headerIfWhole(folder);
  if (header) return isCommitted(header.snapshot_id) ? header : null;
  const snapshotId = await snapshotOfRun(context, folder);
  return snapshotId === null ? null : { ...deps.newHeader(folder), snapshot_id: snapshotId };
}

async function headerIfWhole(folder: JournalFolder): Promise<RunHeader | null> {
  try {
    return await readHeader(folder);
  } catch (error) {
    if (error instanceof JournalError) return null;
    throw error;
  }
}

async function snapshotOfRun(context: RunContext, folder: JournalFolder): Promise<string | null> {
  const { warehouse } = context;
  return withEngine(connection(context, scratchFolder(warehouse)), async (engine) => {
    const log = await openLog(engine, warehouse);
    return markersOf(log.markers, folder.websiteId).find(({ runId }) => runId === folder.runId)?.snapshotId ?? null;
  });
}

/** The header of a run, after its journal was set aside if it was damaged. */
async function wholeHeader(
  { warehouse, logger }: RunContext,
  folder: JournalFolder,
  { deps, setAside }: RecoveryInput,
): Promise<RunHeader> {
  const found = await setAsideIfDamaged(folder, { warehouse, newHeader: () => deps.newHeader(folder) });
  const header = await readHeader(folder);
  if (header === null) throw new JournalError(`${folder.header} is missing`);
  if (header.set_aside) setAside.set(folder.websiteId, header.set_aside);
  if (found) logger.info({ website: folder.websiteId, run: folder.runId, ...found }, setAsideText(found));
  return header;
}

type EndedIds = Awaited<ReturnType<typeof endedIds>>;

/** What is committed or recorded of some websites, from the names of markers alone. */
async function endedIds(warehouse: string, websiteIds: Iterable<string>) {
  const ended = { snapshots: new Set<string>(), runs: new Set<string>() };
  for (const websiteId of websiteIds) {
    for (const table of ['snapshots', 'runs'] as const) {
      for (const file of await listTableFiles(warehouse, table, { websiteId })) ended[table].add(idOfFile(file));
    }
  }
  return ended;
}

function idOf(websiteId: string, id: string): string {
  return `website=${encodeId(websiteId)}/${id}`;
}

/** `…/website=<id>/date=<date>/<id>.parquet` */
function idOfFile(file: string): string {
  return `${basename(dirname(dirname(file)))}/${basename(file, '.parquet')}`;
}

/** The websites of a run that are recorded as ended. */
export async function endedWebsites(warehouse: string, runId: string, websiteIds: string[]): Promise<string[]> {
  const { runs } = await endedIds(warehouse, websiteIds);
  return websiteIds.filter((websiteId) => runs.has(idOf(websiteId, runId)));
}

/** Ends a run that is not resumed: commits it if its listing is complete, else drops it. */
async function finishOld(run: WebsiteRun, why: string): Promise<WebsiteReceipt> {
  const listing = await readListing(run.folder, run.effects.now());
  if (listing.kind !== 'listed' || !listing.listed.complete) {
    return recordFailure(run, `the run ended before its listing was complete: ${why}`);
  }
  const left = await readReports(run.folder);
  const end = left.done ?? {
    status: 'interrupted' as const,
    message: `the run ended before all reports were fetched: ${why}`,
  };
  // Cuts off what follows the last complete line.
  const journal = new ReportsJournal(run.folder, left);
  if (!left.done) await journal.finish(end.status, end.message, new Date(run.effects.now()));
  journal.close();
  const { counts } = journal;
  const { wanted = null, quotas, evidence } = (await readPlanned(run.folder)) ?? {};
  // The pace of this process says nothing about that run.
  const fetched = { ...end, reused: totalOf(counts), wanted, quotas, evidence, counts, utilisation: null };
  return commit(run, await stage(run, listing.listed, await readBefore(run), fetched), fetched);
}

/** None if the journal is damaged: what is staged is whole all the same. */
async function countAnswers(folder: JournalFolder): Promise<number> {
  try {
    return totalOf((await readReports(folder)).counts);
  } catch (error) {
    if (error instanceof JournalError) return 0;
    throw error;
  }
}
