import { causesOf } from '../../../answers/status/status.js';
import { duration as milliseconds } from '../../../base/config/scalars.js';
import type { Config } from '../../../base/config/schema.js';
import { namedWebsites, secretsOf, websiteIds } from '../../../base/config/websites.js';
import { count, counted, duration, moment, namesText, percent, type Said } from '../../../base/observe/format.js';
import { createLogger, type LogLevel } from '../../../base/observe/log.js';
import { createProgress, type Progress } from '../../../base/observe/progress.js';
import { colorsWanted, safe } from '../../../base/observe/terminal.js';
import { SECOND_MS } from '../../../base/time.js';
import { packageVersion } from '../../../base/version.js';
import type { ClientsOptions } from '../../../source/clients.js';
import { configuredTime, realRunEffects } from '../../../sync/context.js';
import { type DryRun, dryRun } from '../../../sync/dry-run.js';
import { nameOf, type Receipt, saidIn, type WebsiteReceipt } from '../../../sync/receipt.js';
import { type SyncOptions, sync } from '../../../sync/sync.js';
import { REASONS } from '../../../warehouse/journal/plan.js';
import { checkIdentity } from '../../../warehouse/log/folder/prepare.js';
import { knownWebsites } from '../../../warehouse/log/log.js';
import { exitCodeOf, type Problem } from '../../../warehouse/log/verdict.js';
import { configOf, flagValue, rebuiltLog } from '../configured.js';
import { EXIT, type Globals, type Io, stoppable, widthOf } from '../io.js';
import { figures, formatJson, formatTable, recordTable, warningLines, wrapped } from '../output/output.js';

/** The table has so many websites at most, those that need attention first. */
const MOST_WEBSITES = 20;
/** More websites share a line. */
const MOST_LINES = 5;
const MAY_BE_LEFT_OUT = new Set(['missing', 'failed', 'rejected', 'utilised']);
/** What ended the fetching early. */
const CUT_BY: Readonly<Record<string, string>> = {
  budget: 'budget reached',
  deadline: 'deadline reached',
  interrupted: 'the run was interrupted',
  failed: 'reports failed',
};

export interface Flags extends Globals {
  website?: string[];
  maxReports?: number;
  deadline?: string;
  recover?: boolean;
  dryRun?: boolean;
  retryFor?: string;
}

/** `indexhouse sync`: one run now. */
export async function run(flags: Flags, io: Io): Promise<number> {
  const reports = { max_per_run: flags.maxReports, deadline: flags.deadline };
  const config = await configOf(flags, io, { overrides: { reports } });
  if (flags.dryRun) return showPlan(config, flags, io);
  const receipt = await syncOnce(config, flags, io);
  const problems = saidIn(receipt);
  io.stdout.write(flags.json ? formatJson(receipt) : syncSummary(receipt, problems, widthOf(io.stdout)));
  return exitCodeOf(problems);
}

async function showPlan(config: Config, flags: Flags, io: Io): Promise<number> {
  const effects = await configuredTime(config, realRunEffects);
  const websites = await chosenWebsites(flags.website ?? [], config, null);
  const planned = await dryRun({ config, websites, effects, onRebuilt: rebuiltLog(flags, io) });
  io.stdout.write(flags.json ? formatJson(planned) : dryRunText(planned, widthOf(io.stdout)));
  return EXIT.done;
}

/** @param flags `asked`: as `SyncOptions` has it */
export async function syncOnce(config: Config, flags: Flags & Pick<SyncOptions, 'asked'>, io: Io): Promise<Receipt> {
  const { logger, progress } = display(flags.logLevel ?? 'info', io, secretsOf(config));
  const version = await packageVersion();
  const retryFor = flags.retryFor === undefined ? 0 : flagValue(milliseconds(), '--retry-for', flags.retryFor);
  const recoverOnly = flags.recover ?? false;
  return stoppable(io, async (signal) => {
    const { asked } = flags;
    const effects = await configuredTime(config, realRunEffects);
    const websites = await chosenWebsites(flags.website ?? [], config, { effects, signal });
    const given = { config, version, websites, asked, recoverOnly, retryFor, logger, progress, signal, effects };
    if (config.notify.channels.length === 0) return sync(given);
    const { notifiedRun } = await import('../../notify/notify.js');
    const isNight = !recoverOnly && !asked;
    return notifiedRun({ config, logger, isNight }, (onLongOutage) => sync({ ...given, onLongOutage }));
  });
}

/** Log levels with which people read the log, mostly in a mail from cron. */
const READ_BY_PEOPLE: ReadonlySet<LogLevel> = new Set(['warn', 'error', 'fatal']);

/** Logs and a progress line that share stderr without overwriting each other. */
export function display(level: LogLevel, { stderr, env }: Io, secrets: string[] = []) {
  const color = colorsWanted(stderr, env);
  const progress: Progress = createProgress({
    stream: stderr,
    isTerminal: stderr.isTTY === true,
    color,
    log: (line) => logger.info(line),
  });
  const pretty = stderr.isTTY === true || READ_BY_PEOPLE.has(level);
  const logger = createLogger({ level, destination: progress.logStream, pretty, color, secrets });
  return { logger, progress };
}

/**
 * The receipt as text: one line per website, why reports were fetched, what is left, what is wrong, and how it ended.
 *
 * @param problems what is wrong with the receipt
 * @param width cells of the terminal; undefined for a file or a pipe
 */
export function syncSummary(
  { run_id, websites, error }: Receipt,
  problems: readonly (Said & Problem)[],
  width: number | undefined,
): string {
  const end = `${warningLines(causesOf(problems))}\n${lastLine(websites, problems)}\n`;
  if (error !== undefined) return end.trimStart();
  if (websites.length === 0) return `No interrupted run.\n${end}`;
  const named = websites.map((website) => [nameOf(website), website] as const);
  const lines = [reasonsLine(websites), ...linesFor(named, leftLine), ...linesFor(named, troubleLine)].flat();
  const notes = lines.length > 0 ? `\n${lines.map((line) => `${safe(line)}\n`).join('')}` : '';
  const affected = new Set(problems.map(({ website_id }) => website_id));
  const isCut = websites.length > MOST_WEBSITES;
  const shown = isCut ? websites.toSorted((one, other) => rank(other) - rank(one)).slice(0, MOST_WEBSITES) : websites;
  const more = isCut ? `… and ${counted(websites.length - MOST_WEBSITES, 'website')} more with --json.\n` : '';
  return `Run ${run_id}\n\n${table(shown, width)}${more}${notes}${end}`;

  function rank({ website_id }: WebsiteReceipt): number {
    return affected.has(website_id) ? 1 : 0;
  }
}

/** A line for each website; of many, one about all of them together. */
function linesFor(
  all: readonly (readonly [name: string, WebsiteReceipt])[],
  lineOf: (name: string, all: readonly WebsiteReceipt[]) => string[],
): string[] {
  const told = all.filter(([name, website]) => lineOf(name, [website]).length > 0);
  if (told.length <= MOST_LINES) return told.flatMap(([name, website]) => lineOf(name, [website]));
  return lineOf(
    namesText(told.map(([name]) => name)),
    told.map(([, website]) => website),
  );
}

function sumOf(all: readonly WebsiteReceipt[], figureOf: (website: WebsiteReceipt) => number): number {
  return all.reduce((sum, website) => sum + figureOf(website), 0);
}

/** How the run ended, as its exit code has it. */
function lastLine(websites: readonly WebsiteReceipt[], problems: readonly Problem[]): string {
  const exitCode = exitCodeOf(problems);
  const committed = websites.filter(({ status }) => status === 'committed').length;
  const synced =
    committed === websites.length
      ? committed === 0
        ? 'no website'
        : counted(committed, 'website')
      : `${committed || 'none'} of ${counted(websites.length, 'website')}`;
  if (exitCode === 0) return `Done: ${synced} synced.`;
  const how = exitCode === 1 ? 'Failed' : 'Completed with warnings';
  return `${how}: ${synced} synced, ${counted(problems.length, 'warning')} (exit code ${exitCode}).`;
}

/** Leaves out figures that are 0 in every row, so that the rest fits into a terminal. */
function table(websites: WebsiteReceipt[], width: number | undefined): string {
  const columns: [name: string, textOf: (website: WebsiteReceipt) => string | null][] = [
    ['pages', ({ pages }) => count(pages.listed)],
    ['reports', ({ reports, reports_status }) => `${count(reports.fetched)} (${reports_status ?? 'none'})`],
    ['missing', ({ reports }) => count(reports.missing)],
    ['failed', ({ reports }) => count(reports.failed)],
    ['rejected', ({ pages, reports }) => count(pages.rejected + reports.rejected)],
    ['requests', ({ requests }) => count(requests.sent)],
    ['utilised', ({ utilisation }) => percent(utilisation) || null],
    ['took', ({ duration_ms }) => duration(duration_ms)],
  ];
  const shown = columns.filter(
    ([name, textOf]) => !MAY_BE_LEFT_OUT.has(name) || websites.some((website) => (textOf(website) ?? '0') !== '0'),
  );
  const rows = websites.map((website) => [
    nameOf(website),
    website.resumed ? `${website.status} (resumed)` : website.status,
    website.listing_status,
    ...shown.map(([, textOf]) => textOf(website)),
  ]);
  const heads = ['website', 'status', 'listing', ...figures(...shown.map(([name]) => name))];
  return formatTable(heads, rows, { width });
}

function leftLine(name: string, all: readonly WebsiteReceipt[]): string[] {
  const left = sumOf(all, ({ reports }) => reports.left ?? 0);
  if (left <= 0) return [];
  const cuts = [...new Set(all.flatMap(({ reports_status }) => CUT_BY[reports_status ?? ''] ?? []))].join(', ');
  const were = `${counted(left, 'report was', 'reports were')} left for the next run${cuts ? ` (${cuts})` : ''}`;
  return [`${name}: ${were}; it starts with ${left === 1 ? 'it' : 'the most informative ones'}.`];
}

function troubleLine(name: string, all: readonly WebsiteReceipt[]): string[] {
  const of = (key: keyof WebsiteReceipt['requests']) => sumOf(all, ({ requests }) => requests[key]);
  const parts = (['throttled', 'retried'] as const).flatMap((key) => (of(key) > 0 ? [`${count(of(key))} ${key}`] : []));
  return parts.length > 0 ? [`${name}: ${counted(of('sent'), 'request')}, of which ${parts.join(', ')}.`] : [];
}

/**
 * Resolves the ids and names of websites that a user gave for a run. Looks in the configuration; where that says `all`,
 * in the warehouse, and only then in what the service lists for the key.
 *
 * @param asking how to ask the service, at the cost of a request; null: do not ask
 * @throws UsageError if one of them is unknown
 * @throws SourceError if the service does not list the key's websites
 */
export async function chosenWebsites(
  given: readonly string[],
  config: Config,
  asking: ClientsOptions | null,
): Promise<string[]> {
  const named = namedWebsites(config);
  if (named || given.length === 0) return websiteIds(given, named ?? [], 'the configuration');
  const { path, time_zone, memory_limit } = config.warehouse;
  const known = (await checkIdentity(path, time_zone)) ? await knownWebsites(path, memory_limit) : [];
  const isKnown = (text: string) => known.some(({ id, name }) => id === text || name === text);
  if (!asking || given.every(isKnown)) return websiteIds(given, known, 'the warehouse');
  // Loaded here, because only this case needs the HTTP client.
  const { Clients, configuredWebsites } = await import('../../../source/clients.js');
  const clients = new Clients(config, asking);
  try {
    const listed = await configuredWebsites(config, clients);
    return websiteIds(given, [...listed, ...known], 'what the key has access to');
  } finally {
    await clients.close();
  }
}

/**
 * The plan of a sync as text: what it costs, for which reasons it asks, and what comes first.
 *
 * @param width cells of the terminal; undefined for a file or a pipe, where nothing is shortened or wrapped
 */
function dryRunText({ websites, totals, ...plan }: DryRun, width: number | undefined): string {
  const paragraphs = (texts: string[]) => texts.map((text) => `${wrapped(safe(text), width)}\n`).join('');
  const takes = (seconds: number | null) => (seconds === null ? 'unknown' : duration(seconds * SECOND_MS));
  const rows = websites.map(({ pages, reports, requests, limit, ...website }) => ({
    website: nameOf(website),
    pages,
    listing: website.listing_requests ?? 0,
    reports: reports.planned,
    left: reports.left ?? 0,
    requests,
    takes: takes(website.duration_seconds),
    limit: limit ?? '',
  }));
  const { pages, reports, requests, duration_seconds: seconds, ends_at } = totals;
  const sum = (of: 'listing' | 'left') => rows.reduce((all, row) => all + row[of], 0);
  const total = { website: 'all', pages, listing: sum('listing'), reports, left: sum('left'), requests };
  const first = websites.flatMap((website) =>
    website.first_pages.map((page) => ({ ...page, website: nameOf(website) })),
  );
  const ends = ends_at === null ? 'This is the plan' : `Started now, it ends at ${moment(ends_at)}`;
  const blocks = [
    recordTable(rows.length > 1 ? [...rows, { ...total, takes: takes(seconds), limit: '' }] : rows, { width }),
    paragraphs([
      ...reasonsLine(websites),
      ...(websites.length === 0 ? [] : [`${ends} if no page has changed since the last listing.`]),
    ]),
    recordTable(
      first.map(({ website, reason, url }) => ({ website, reason, 'comes first': url })),
      { width },
    ),
    paragraphs([
      ...plan.unknown_websites.map(
        (id) =>
          `${id}: no snapshot yet, so its pages are unknown until the first listing (\`indexhouse sync --max-reports 0\`).`,
      ),
      ...websites.flatMap(({ search_days_left: left, ...website }) =>
        left ? [`${nameOf(website)}: ${counted(left, 'day')} of search analytics left to read.`] : [],
      ),
      ...(plan.unfinished_run ? ['A run is in progress or was interrupted: the next sync finishes it first.'] : []),
    ]),
  ];
  return blocks.filter((block) => block !== '').join('\n');
}

/** The reasons of all websites together, in the order of the plan. */
function reasonsLine(websites: readonly { reports: Pick<WebsiteReceipt['reports'], 'by_reason'> }[]): string[] {
  const parts = REASONS.flatMap((reason) => {
    const planned = websites.reduce((sum, { reports }) => sum + reports.by_reason[reason], 0);
    return planned > 0 ? [`${count(planned)} ${reason}`] : [];
  });
  return parts.length > 0 ? [`Reports by reason: ${parts.join(', ')}`] : [];
}
