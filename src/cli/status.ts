import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { FollowerLag } from '../analysis/follower-lag.js';
import type { NewDrift, Status, StatusInput, WebsiteStatus } from '../analysis/status.js';
import type { UnfinishedRun } from '../analysis/unfinished-runs.js';
import { configOf, EXIT, flagsOf, type Globals, newCommand, type Outcome, UsageError } from './command.js';
import { DEFAULT_MEMORY_LIMIT_BYTES, rebuiltLog } from './reader-options.js';

const EXAMPLES = `
Examples:
  indexhouse status                        last runs, freshness, completeness, what is unfinished or lags
  indexhouse status --warehouse /data/wh   of a folder, without a configuration
  indexhouse status --json || alert        for monitoring: exit code 3 if something needs a look`;

/** What holds where only a folder is named: the defaults of the configuration. */
const DEFAULTS = {
  memoryLimit: DEFAULT_MEMORY_LIMIT_BYTES,
  resumeWithin: 6 * 3_600_000,
  maxRejectRatio: 0.01,
  websites: [],
};

/** Lines of drift that are printed. */
const DRIFT_TOLD = 10;

interface Flags extends Globals {
  warehouse?: string;
}

type Tools = Pick<typeof import('./output.js'), 'count' | 'duration' | 'formatTable'>;

/** `indexhouse status`: how the warehouse is doing. Asks the service nothing, and writes nothing. */
export function statusCommand(outcome: Outcome): Command {
  return newCommand('status', 'last runs, freshness, completeness, what is unfinished or lags')
    .option('--warehouse <path>', 'this folder instead of the configured one; then no configuration is needed')
    .addHelpText('after', EXAMPLES)
    .action(async (_: Flags, command: Command) => {
      outcome.exitCode = await showStatus(flagsOf<Flags>(command));
    });
}

async function showStatus(flags: Flags): Promise<number> {
  const input = { ...(await inputOf(flags)), onRebuilt: rebuiltLog(flags) };
  await checkFolder(input.warehouse);
  const [{ readStatus }, output] = await Promise.all([import('../analysis/status.js'), import('./output.js')]);
  const status = await readStatus(input);
  process.stdout.write(flags.json ? output.formatJson(status) : await printed(status, output));
  return status.looks.length > 0 ? EXIT.look : EXIT.done;
}

async function inputOf(flags: Flags): Promise<StatusInput> {
  const now = Date.now();
  if (flags.warehouse) return { ...DEFAULTS, warehouse: resolve(flags.warehouse), now };
  const { warehouse, sync, quality, websites } = await configOf(flags, { withoutTokens: true });
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

async function printed(status: Status, tools: Tools): Promise<string> {
  const { safe } = await import('../observe/terminal.js');
  const { websites, unfinished, followers, running, looks, warehouse, quarantine, new_drift } = status;
  const none = websites.every(({ last_snapshot }) => last_snapshot === null);
  const lines = [
    ...(none ? ['No snapshots yet: `indexhouse sync` makes the first one.'] : []),
    running ? `A run is under way: ${running.holder}.` : 'No run is under way.',
    ...unfinished.map((run) => `Unfinished: ${unfinishedLine(run, status, tools)}`),
    ...followers.map((follower) => followerLine(follower)),
    ...quarantine.filter(({ waiting }) => waiting > 0).map((one) => quarantineLine(one, status, tools)),
    ...driftLines(new_drift, status, tools),
    ...looks.map((look) => `! ${look}`),
  ];
  const tables = websites.length > 0 ? `${websiteTables(status, tools)}\n` : '';
  return `Warehouse ${safe(warehouse)}\n\n${tables}${lines.map((line) => `${safe(line)}\n`).join('')}`;
}

function websiteTables({ websites, checked_at }: Status, tools: Tools): string {
  const width = { width: process.stdout.columns };
  const snapshots = tools.formatTable(
    ['website', 'last snapshot', 'age', 'listing', 'listed', 'expected', 'rejected', 'last run'],
    websites.map((website) => snapshotRow(website, Date.parse(checked_at), tools)),
    width,
  );
  const reports = tools.formatTable(
    ['website', 'last reports', 'fetched', 'planned', 'pages with a report', 'oldest', 'median'],
    websites.filter(({ last_snapshot }) => last_snapshot).map((website) => reportsRow(website, tools)),
    width,
  );
  const requests = tools.formatTable(
    ['website', 'last requests', 'throttled', 'retried', 'utilised'],
    websites.filter(({ last_run }) => last_run).map((website) => requestsRow(website, tools)),
    width,
  );
  return [
    snapshots,
    ...(websites.some(({ last_snapshot }) => last_snapshot) ? [reports] : []),
    ...(websites.some(({ last_run }) => last_run) ? [requests] : []),
  ].join('\n');
}

function snapshotRow(website: WebsiteStatus, now: number, { duration }: Tools): unknown[] {
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

function reportsRow({ website_name, website_id, last_snapshot, pages }: WebsiteStatus, tools: Tools): unknown[] {
  const age = (seconds: number | null | undefined) => (seconds == null ? '' : tools.duration(seconds * 1000));
  return [
    website_name ?? website_id,
    last_snapshot?.reports_status,
    last_snapshot?.reports_fetched,
    last_snapshot?.reports_planned,
    percent(pages?.report_share, tools),
    age(pages?.oldest_report_seconds),
    age(pages?.median_report_seconds),
  ];
}

function requestsRow({ website_name, website_id, last_run }: WebsiteStatus, tools: Tools): unknown[] {
  return [
    website_name ?? website_id,
    last_run?.requests_sent,
    last_run?.requests_throttled,
    last_run?.requests_retried,
    percent(last_run?.utilisation, tools),
  ];
}

function percent(share: number | null | undefined, { count }: Tools): string {
  return share == null ? '' : `${count(Math.floor(share * 1000) / 10)} %`;
}

function unfinishedLine(run: UnfinishedRun, { checked_at }: Status, { count, duration }: Tools): string {
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

function quarantineLine(
  { website_id, waiting }: Status['quarantine'][number],
  status: Status,
  { count }: Tools,
): string {
  const records = waiting === 1 ? '1 record waits' : `${count(waiting)} records wait`;
  return `${nameIn(status, website_id)}: ${records} in quarantine; after an upgrade, \`indexhouse replay\` takes what passes.`;
}

/** What is new since last time, the most frequent first; the rest is in `api_drift`. */
function driftLines(drift: readonly NewDrift[], status: Status, { count }: Tools): string[] {
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
