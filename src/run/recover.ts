import { basename, dirname } from 'node:path';
import { type JournalFolder, unfinishedJournals } from '../journal/folder.js';
import { JournalError, lastActivity, type RunHeader, readHeader } from '../journal/header.js';
import { readListing } from '../journal/listing.js';
import { readPlanned } from '../journal/plan.js';
import { ReportsJournal, readReports } from '../journal/reports.js';
import { withRemedy } from '../storage/disk-error.js';
import { encodeId } from '../storage/names.js';
import { commitStaged, dropJournal } from '../warehouse/commit.js';
import { listTableFiles } from '../warehouse/layout.js';
import { readManifest } from '../warehouse/stage.js';
import { commit, committedReceipt, stage } from './commit-snapshot.js';
import { journalEngine, type RunContext, type WebsiteRun } from './context.js';
import { readBefore } from './facts.js';
import { failedReceipt, type WebsiteReceipt } from './receipt.js';
import { recordCommitted, recordFailure } from './record-run.js';
import { recoverReplays } from './recover-replays.js';

/** What earlier runs left. */
export interface Recovered {
  /** The run that is still going on, if one is young enough: no second one starts after it. */
  runId: string | null;
  /** What is left of that run. */
  unfinished: { folder: JournalFolder; header: RunHeader }[];
  /** What was finished of it without a request, and websites whose journal cannot be read or finished. */
  receipts: WebsiteReceipt[];
  /** What was finished of older runs. */
  older: WebsiteReceipt[];
}

/** Makes the part of a run that a journal belongs to, also for a website that is not configured any more. */
export type OpenRun = (folder: JournalFolder, header: RunHeader) => WebsiteRun;

/**
 * Looks through the journals of unfinished runs, oldest first, and finishes what needs no request:
 *
 * - no header: the run died before its first request; its folder goes.
 * - recorded (a row of `runs` says so): the journal goes.
 * - committed (a marker says so) or staged: what is missing of the commit is renamed, the marker last.
 * - younger than `sync.resume_within`, and the website is configured: left to go on.
 * - older: what has a complete listing is committed as `interrupted`; the rest is dropped with a line in `runs`.
 */
export async function recover(
  context: RunContext,
  openRun: OpenRun,
  isConfigured: (websiteId: string) => boolean,
): Promise<Recovered> {
  await recoverReplays(context.warehouse, context.log);
  const recovered: Recovered = { runId: null, unfinished: [], receipts: [], older: [] };
  const journals = await unfinishedJournals(context.warehouse);
  const ended = await endedIds(context.warehouse);
  for (const folder of journals) {
    const isNewest = folder.runId === journals.at(-1)?.runId;
    try {
      const end = await recoverOne(context, folder, {
        openRun,
        ended,
        mayGoOn: isNewest && isConfigured(folder.websiteId),
      });
      if (end.kind === 'gone') continue;
      if (isNewest && end.young) recovered.runId = folder.runId;
      if (end.kind === 'goes_on') recovered.unfinished.push({ folder, header: end.header });
      else if (isNewest && end.young) recovered.receipts.push(end.receipt);
      else recovered.older.push(end.receipt);
      context.log.info({ website: folder.websiteId, run: folder.runId, recovery: end.kind }, 'found an unfinished run');
    } catch (error) {
      // The files stay, and the other websites go on: a full disk or a damaged file is no reason to stop them.
      const message = withRemedy(error);
      context.log.error({ website: folder.websiteId, run: folder.runId, err: error }, message);
      recovered.receipts.push(unfinishable(folder, message));
    }
  }
  return recovered;
}

type End =
  | { kind: 'gone' }
  | { kind: 'goes_on'; header: RunHeader; young: boolean }
  | { kind: 'committed' | 'given_up'; receipt: WebsiteReceipt; young: boolean };

interface RecoveryInput {
  openRun: OpenRun;
  ended: EndedIds;
  mayGoOn: boolean;
}

async function recoverOne(context: RunContext, folder: JournalFolder, input: RecoveryInput): Promise<End> {
  const header = await readHeader(folder);
  if (header === null || input.ended.runs.has(idOf(folder.websiteId, folder.runId))) {
    await dropJournal(folder);
    return { kind: 'gone' };
  }
  const young = context.effects.now() - (await lastActivity(folder)) <= context.config.sync.resume_within;
  const manifest = await readManifest(folder);
  if (manifest) {
    const reused = await countAnswers(folder);
    await commitStaged(context.warehouse, folder, manifest);
    return { kind: 'committed', receipt: committedReceipt(manifest, reused, context.effects.now()), young };
  }
  const run = input.openRun(folder, header);
  if (input.ended.snapshots.has(idOf(folder.websiteId, header.snapshot_id))) {
    await recordCommitted(run);
    return { kind: 'gone' };
  }
  if (young && input.mayGoOn) return { kind: 'goes_on', header, young };
  const receipt = await finishOld(run, young ? 'its website is not part of this run any more' : TOO_OLD);
  return { kind: receipt.status === 'committed' ? 'committed' : 'given_up', receipt, young: false };
}

interface EndedIds {
  snapshots: Set<string>;
  runs: Set<string>;
}

/** What is committed or recorded, from the names of markers alone. */
async function endedIds(warehouse: string): Promise<EndedIds> {
  const idsIn = (files: string[]) => new Set(files.map((file) => idOfFile(file)));
  return {
    snapshots: idsIn(await listTableFiles(warehouse, 'snapshots')),
    runs: idsIn(await listTableFiles(warehouse, 'runs')),
  };
}

function idOf(websiteId: string, id: string): string {
  return `website=${encodeId(websiteId)}/${id}`;
}

/** `…/website=<id>/date=<date>/<id>.parquet` */
function idOfFile(file: string): string {
  return `${basename(dirname(dirname(file)))}/${basename(file, '.parquet')}`;
}

/** The websites of a run that are recorded as ended. */
export async function endedWebsites(warehouse: string, runId: string, websiteIds: string[]): Promise<Set<string>> {
  const { runs } = await endedIds(warehouse);
  return new Set(websiteIds.filter((websiteId) => runs.has(idOf(websiteId, runId))));
}

const TOO_OLD = 'too long ago to go on';

/** What does not go on: commits what has a complete listing, drops what has not. */
async function finishOld(run: WebsiteRun, why: string): Promise<WebsiteReceipt> {
  const listing = await readListing(run.folder, run.config.api.page_size, run.effects.now());
  if (listing.kind !== 'listed' || !listing.listed.complete) {
    return recordFailure(run, `interrupted before its listing was complete, and ${why}`);
  }
  const { done, bytes } = await readReports(run.folder);
  // What stands behind the last whole line is cut off.
  new ReportsJournal(run.folder, bytes).close();
  const end = done ?? { status: 'interrupted' as const, message: `interrupted, and ${why}` };
  const fetched = { ...end, reused: await countAnswers(run.folder), wanted: await wantedOf(run.folder) };
  const before = await readBefore(run.warehouse, run.website.id, journalEngine(run));
  // Whatever this process answers for the key, it is not of that run.
  const old = { ...run, utilisation: () => null };
  return commit(run, await stage(old, listing.listed, before, fetched), fetched);
}

/** Null where no plan was made, or where it is damaged: what was fetched is worth more than this count. */
async function wantedOf(folder: JournalFolder): Promise<number | null> {
  try {
    return (await readPlanned(folder))?.wanted ?? null;
  } catch (error) {
    if (error instanceof JournalError) return null;
    throw error;
  }
}

async function countAnswers(folder: JournalFolder): Promise<number> {
  const { counts } = await readReports(folder);
  return Object.values(counts).reduce((all, each) => all + each, 0);
}

function unfinishable(folder: JournalFolder, message: string): WebsiteReceipt {
  const requests = { sent: 0, throttled: 0, retried: 0 };
  return failedReceipt(folder.websiteId, message, { requests, resumed: true, duration_ms: 0 });
}
