import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { FollowerLag } from '../analysis/follower-lag.js';
import { type NewDrift, readStatus, type Status, type StatusInput, type WebsiteStatus } from '../analysis/status.js';
import type { UnfinishedRun } from '../analysis/unfinished-runs.js';
import { UsageError } from '../exit.js';
import { safe } from '../observe/terminal.js';
import { HOUR_MS } from '../time.js';
import { configOf, DEFAULT_MEMORY_LIMIT_BYTES, rebuiltLog } from './configured.js';
import { EXIT, type Io, widthOf } from './io.js';
import { count, duration, formatJson, formatTable } from './output.js';
import type { Globals } from './program.js';

/** What holds where only a folder is named: the defaults of the configuration. */
const DEFAULTS = {
  memoryLimit: DEFAULT_MEMORY_LIMIT_BYTES,
  resumeWithin: 6 * HOUR_MS,
  maxRejectRatio: 0.01,
  websites: [],
};

/** Lines of drift that are printed. */
const DRIFT_TOLD = 10;

export interface Flags extends Globals {
  warehouse?: string;
}

/** `indexhouse status`: how the warehouse is doing. Asks the service nothing, and writes nothing. */
export async function run(flags: Flags, io: Io): Promise<number> {
  const input = { ...(await inputOf(flags, io)), onRebuilt: rebuiltLog(flags, io) };
  await checkFolder(input.warehouse);
  const status = await readStatus(input);
  io.stdout.write(flags.json ? formatJson(status) : printed(status, widthOf(io.stdout)));
  return status.warnings.length > 0 ? EXIT.warnings : EXIT.done;
}

async function inputOf(flags: Flags, io: Io): Promise<StatusInput> {
  const now = Date.now();
  if (flags.warehouse) return { ...DEFAULTS, warehouse: resolve(io.cwd, flags.warehouse), now };
  const { warehouse, sync, quality, websites } = await configOf(flags, io, { withoutTokens: true });
  return {
    warehouse: warehouse.path,
    memoryLimit: warehouse.memory_limit,
    resumeWithin: sync.resume_within,
    maxRejectRatio: quality.max_reject_ratio,
    websites: websites === 'all' ? [] : websites.map(({ id, name }) => ({ id, name: name ?? null })),
    now,
  };
}

async function checkFolder(path: string): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory()) return;
  const what = found ? 'is not a folder' : 'does not exist';
  throw new UsageError(`the warehouse ${path} ${what}: run \`indexhouse sync\` first, or name it with --warehouse`);
}

function printed(status: Status, width: number | undefined): string {
  const { websites, unfinished, followers, running, warnings, warehouse, quarantine, new_drift } = status;
  const none = websites.every(({ last_snapshot }) => last_snapshot === null);
  const lines = [
    ...(none ? ['No snapshots yet. `indexhouse sync` creates the first one.'] : []),
    running ? `A run is in progress: ${running.holder}.` : 'No run is in progress.',
    ...unfinished.map((run) => `Unfinished: ${unfinishedLine(run, status)}`),
    ...followers.map((follower) => followerLine(follower)),
    ...quarantine.filter(({ waiting }) => waiting > 0).map((one) => quarantineLine(one, status)),
    ...driftLines(new_drift, status),
    ...warnings.map((warning) => `! ${warning}`),
  ];
  const tables = websites.length > 0 ? `${websiteTables(status, { width })}\n` : '';
  return `Warehouse: ${safe(warehouse)}\n\n${tables}${lines.map((line) => `${safe(line)}\n`).join('')}`;
}

function websiteTables({ websites, checked_at }: Status, width: { width: number | undefined }): string {
  const snapshots = formatTable(
    ['website', 'last snapshot', 'age', 'listing', 'listed', 'expected', 'rejected', 'last run'],
    websites.map((website) => snapshotRow(website, Date.parse(checked_at))),
    width,
  );
  const reports = formatTable(
    ['website', 'last reports', 'fetched', 'planned', 'pages with a report', 'oldest', 'median'],
    websites.filter(({ last_snapshot }) => last_snapshot).map((website) => reportsRow(website)),
    width,
  );
  const requests = formatTable(
    ['website', 'last requests', 'throttled', 'retried', 'utilised'],
    websites.filter(({ last_run }) => last_run).map((website) => requestsRow(website)),
    width,
  );
  return [
    snapshots,
    ...(websites.some(({ last_snapshot }) => last_snapshot) ? [reports] : []),
    ...(websites.some(({ last_run }) => last_run) ? [requests] : []),
  ].join('\n');
}

function snapshotRow(website: WebsiteStatus, now: number): unknown[] {
  const { last_snapshot: last, last_run: run } = website;
  return [
    website.website_name ?? website.website_id,
    last?.snapshot_at ?? 'never',
    last ? duration(last.age_seconds * 1000) : '',
    last?.listing_status,
    last?.pages_listed,
    last?.pages_expected,
    last?.pages_rejected,
    run
      ? `${run.outcome === 'failed' ? 'FAILED' : run.outcome} ${duration(now - Date.parse(run.finished_at))} ago`
      : '',
  ];
}

function reportsRow({ website_name, website_id, last_snapshot, pages }: WebsiteStatus): unknown[] {
  const age = (seconds: number | null | undefined) => (seconds == null ? '' : duration(seconds * 1000));
  return [
    website_name ?? website_id,
    last_snapshot?.reports_status,
    last_snapshot?.reports_fetched,
    last_snapshot?.reports_planned,
    percent(pages?.report_share),
    age(pages?.oldest_report_seconds),
    age(pages?.median_report_seconds),
  ];
}

function requestsRow({ website_name, website_id, last_run }: WebsiteStatus): unknown[] {
  return [
    website_name ?? website_id,
    last_run?.requests_sent,
    last_run?.requests_throttled,
    last_run?.requests_retried,
    percent(last_run?.utilisation),
  ];
}

function percent(share: number | null | undefined): string {
  return share == null ? '' : `${count(Math.floor(share * 1000) / 10)}%`;
}

function unfinishedLine(run: UnfinishedRun, { checked_at }: Status): string {
  const since = run.started_at ? `begun ${duration(Date.parse(checked_at) - Date.parse(run.started_at))} ago, ` : '';
  const last = `last written ${duration(Date.parse(checked_at) - Date.parse(run.last_activity_at))} ago`;
  const reached = {
    listing: `listing ${run.pages_read === null ? '' : count(run.pages_read)} of ${run.pages_expected === null ? 'an unknown number of' : count(run.pages_expected)} pages`,
    reports: `reports ${count(run.reports_done ?? 0)} of ${count(run.reports_planned ?? 0)}`,
    commit: 'all fetched, not committed yet',
  }[run.stage];
  return `${run.website_name ?? run.website_id}, ${reached}, ${since}${last} (run ${run.run_id})`;
}

function followerLine({ name, behind, exact, held }: FollowerLag): string {
  const far = behind === 0 && exact ? 'is up to date' : `is ${exact ? '' : 'at least '}${behind} behind`;
  return `indexhouse.${name} ${far}${held ? `, held by ${held.holder} (${held.access})` : ''}.`;
}

function quarantineLine({ website_id, waiting }: Status['quarantine'][number], status: Status): string {
  const records = waiting === 1 ? '1 record waits' : `${count(waiting)} records wait`;
  return `${nameIn(status, website_id)}: ${records} in quarantine; after an upgrade, \`indexhouse replay\` commits those that are valid now.`;
}

/** What is new since last time, the most frequent first; the rest is in `api_drift`. */
function driftLines(drift: readonly NewDrift[], status: Status): string[] {
  const lines = drift.slice(0, DRIFT_TOLD).map(({ website_id, source, kind, field, value, occurrences }) => {
    const what = `${kind.replaceAll('_', ' ')} ${field}${value === null ? '' : ` = ${value}`}`;
    return `New since last time, ${nameIn(status, website_id)}: ${what} in ${source} (${count(occurrences)}×)`;
  });
  const more = drift.length - lines.length;
  return more > 0 ? [...lines, `… and ${count(more)} more: \`indexhouse query --sql "from api_drift"\``] : lines;
}

function nameIn({ websites }: Status, id: string): string {
  return websites.find(({ website_id }) => website_id === id)?.website_name ?? id;
}
