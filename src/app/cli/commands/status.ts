import { readStatus, type Status } from '../../../answers/status/status.js';
import type { UnfinishedRun } from '../../../answers/status/unfinished-runs.js';
import {
  driftText,
  type NewDrift,
  nameOf,
  notConfigured,
  type SourcesRead,
  unconfirmedText,
  unreadText,
} from '../../../answers/status/website-status.js';
import { age, ago, clause, count, counted, moment, namesText } from '../../../base/observe/format.js';
import { safe, shownOn } from '../../../base/observe/terminal.js';
import { type FollowerLag, titleOf } from '../../../warehouse/copies/follower.js';
import { checkFolder, checkPath } from '../../../warehouse/log/folder/prepare.js';
import { rebuiltLog, settingsFor } from '../configured.js';
import { EXIT, type Io, type ReadFlags, widthOf } from '../io.js';
import { formatJson, formatTable } from '../output/output.js';

const WEBSITE_COLUMNS = [
  ...['website', 'last snapshot', 'age', 'listing', 'listed', 'expected', 'rejected', 'reports', 'last run'],
];
/** How many lines of drift to print. */
const DRIFT_SHOWN = 10;
/** Without `--verbose`, so many lines of a kind, or names in one. */
const MOST_LINES = 5;
/** The table has so many websites at most, those that need attention first. */
const MOST_WEBSITES = 20;

export interface Flags extends ReadFlags {
  metrics?: boolean;
  quiet?: boolean;
  verbose?: boolean;
}

/** `indexhouse status`: how the warehouse is doing. Sends no request, and writes nothing. */
export async function run(flags: Flags, io: Io): Promise<number> {
  const { status: input } = await settingsFor(flags, io);
  // The folder of a configuration is missing before the first sync.
  if (flags.warehouse === undefined) checkPath('warehouse.path', input.warehouse);
  else await checkFolder(input.warehouse);
  const status = await readStatus({ ...input, onRebuilt: rebuiltLog(flags, io) });
  // What was never tried needs nobody's attention yet: a container is healthy before its first night.
  if (flags.quiet) return status.last_night.is_good === null ? EXIT.done : status.exit_code;
  if (flags.metrics) {
    // Loaded here, because nothing else needs it.
    const { metricsOf } = await import('../../../answers/status/metrics.js');
    io.stdout.write(shownOn(io.stdout, await metricsOf(status)));
  } else io.stdout.write(flags.json ? formatJson(status) : printed(status, flags, widthOf(io.stdout)));
  return status.exit_code;
}

function printed(status: Status, { verbose = false }: Flags, width: number | undefined): string {
  const { followers, running, warehouse, warnings, findings } = status;
  const all = verbose
    ? findings.map(({ website, message }) => (website ? `${website}: ${message}` : message))
    : warnings;
  const lines = [
    ...all.map((warning) => `! ${warning}`),
    ...(running ? [`A run is in progress: ${running.holder}.`] : []),
    ...followers
      .filter(({ name, error, behind }) => name !== 'analytics' && error === null && (verbose || behind > 0))
      .map((follower) => followerLine(follower)),
    ...notes(status, verbose),
  ];
  const text = lines.map((line) => `${safe(line)}\n`).join('');
  const table = verbose ? websiteTable(status, width) : '';
  const { sentence } = status.last_night;
  const since = status.proven_since;
  const proven = since ? `Every file is proven by its SHA-256 since ${moment(since)}` : 'Not every file is proven yet';
  return `${safe(sentence)}\n\n${table}${text}${text && '\n'}Warehouse: ${safe(warehouse)}\n${proven}.\n`;
}

/** What is good to know and needs nobody's attention. */
function notes(status: Status, verbose: boolean): string[] {
  const { websites, unfinished, quarantine, new_drift, notices, sources } = status;
  const configured = websites.filter(({ is_configured }) => is_configured);
  const shown = sources.filter(({ gone, failed, remarked }) => verbose || gone + failed + remarked > 0);
  const most = verbose ? Number.POSITIVE_INFINITY : MOST_LINES;
  const cut = (lines: string[]) => {
    const more = lines.length - most;
    return more > 0 ? [...lines.slice(0, most), `… and ${count(more)} more such lines with --verbose.`] : lines;
  };
  return [
    ...notConfiguredLine(websites),
    ...cut(unfinished.map((run) => `Unfinished: ${unfinishedLine(run, status)}`)),
    ...cut(configured.flatMap(notInspectedLine)),
    ...cut(configured.flatMap(unreadLine)),
    ...cut(configured.flatMap(unconfirmedLine)),
    ...cut(shown.map((read) => sourcesLine(read, status))),
    ...cut(quarantine.map((one) => quarantineLine(one, status))),
    // They have a limit of their own.
    ...driftLines(new_drift, status),
    ...notices.filter(({ since }) => since === null).map((waiting) => noticesLine(waiting)),
  ];
}

function notConfiguredLine(websites: Status['websites']): string[] {
  const gone = websites.filter(({ is_configured }) => !is_configured);
  const [first] = gone;
  if (!first) return [];
  if (gone.length === 1) return [notConfigured(first)];
  return [`${namesText(gone.map(nameOf))} are no longer configured; \`indexhouse remove --website …\` removes one`];
}

/** The table of websites, those that need attention first if they are too many. */
function websiteTable(status: Status, width: number | undefined): string {
  const { checked_at, findings } = status;
  const affected = new Set(findings.map(({ website }) => website));
  const rank = (website: Status['websites'][number]) => (affected.has(nameOf(website)) ? 0 : 1);
  const isCut = status.websites.length > MOST_WEBSITES;
  const sorted = isCut ? status.websites.toSorted((one, other) => rank(one) - rank(other)) : status.websites;
  const rows = sorted.slice(0, MOST_WEBSITES).map((website) => {
    const { last_snapshot: last, last_run: run } = website;
    const ended = run && ago(Date.parse(checked_at) - Date.parse(run.finished_at));
    return [
      ...[nameOf(website), last?.snapshot_at ?? 'never', last && age(last.age_seconds * 1000), last?.listing_status],
      ...[last?.pages_listed, last?.pages_expected, last?.pages_rejected],
      last && `${count(last.reports_fetched)} of ${count(last.reports_planned)}`,
      run ? `${run.outcome === 'failed' ? 'FAILED' : run.outcome} ${ended}` : '',
    ];
  });
  if (rows.length === 0) return '';
  const left = sorted.length - rows.length;
  const more = left > 0 ? `… and ${counted(left, 'website')} more; \`indexhouse status --json\` has all.\n\n` : '';
  return `${formatTable(WEBSITE_COLUMNS, rows, { width })}\n${more}`;
}

function notInspectedLine({ last_snapshot: last, pages, ...website }: Status['websites'][number]): string[] {
  const left = last?.source === 'google' && pages ? pages.monitored - pages.with_report : 0;
  const aDay = `${counted(website.inspections_a_day ?? 0, 'inspection')} a day`;
  return left > 0 ? [`${nameOf(website)}: ${counted(left, 'page')} not inspected yet, at up to ${aDay}`] : [];
}

/** The days of search analytics that are still to be read. */
function unreadLine({ last_snapshot, ...website }: Status['websites'][number]): string[] {
  const text = unreadText(last_snapshot);
  return text ? [`${nameOf(website)}: ${text}; \`sync\` reads them`] : [];
}

function unconfirmedLine({ pages, ...website }: Status['websites'][number]): string[] {
  return pages?.unconfirmed ? [`${nameOf(website)}: ${unconfirmedText(pages.unconfirmed)}`] : [];
}

/** What names the pages of a property. */
function sourcesLine({ website_id, sources, naming, gone, failed, remarked }: SourcesRead, status: Status): string {
  const found = [
    ...(failed > 0 ? [`${count(failed)} could not be read whole`] : []),
    ...(gone > 0 ? [`${counted(gone, 'sitemap is', 'sitemaps are')} gone (404)`] : []),
    ...(remarked > 0 ? [`${count(remarked)} ${remarked === 1 ? 'has' : 'have'} flaws`] : []),
  ];
  const which = found.length > 0 ? `; ${found.join(', ')}: \`indexhouse query sources\` lists them` : '';
  return `${nameIn(status, website_id)}: ${count(naming)} of ${counted(sources, 'source')} ${naming === 1 ? 'names' : 'name'} pages${which}.`;
}

function unfinishedLine(run: UnfinishedRun, { checked_at }: Status): string {
  const since = run.started_at ? `begun ${ago(Date.parse(checked_at) - Date.parse(run.started_at))}, ` : '';
  const last = `last written ${ago(Date.parse(checked_at) - Date.parse(run.last_activity_at))}`;
  const reached = {
    listing: run.pages_read
      ? `listing ${count(run.pages_read)} of ${run.pages_expected === null ? 'an unknown number of pages' : counted(run.pages_expected, 'page')}`
      : 'no page listed yet',
    reports: `${run.reports_done ? count(run.reports_done) : 'none'} of ${counted(run.reports_planned ?? 0, 'report')} fetched`,
    commit: 'all fetched, not committed yet',
  }[run.stage];
  return `${nameOf(run)}, ${reached}, ${since}${last} (run ${run.run_id})`;
}

function followerLine(follower: FollowerLag): string {
  const { behind, exact, held } = follower;
  const title = titleOf(follower).replace(/^the /, 'The ');
  const far = behind === 0 && exact ? 'is up to date' : `is ${exact ? '' : 'at least '}${behind} behind`;
  return `${title} ${far}${held ? `, held by ${held.holder} (${held.access})` : ''}.`;
}

function quarantineLine({ website_id, records }: Status['quarantine'][number], status: Status): string {
  const rejected = `${counted(records, 'record')} of the newest snapshot ${records === 1 ? 'is' : 'are'} in quarantine`;
  const why = status.websites.find((one) => one.website_id === website_id)?.last_snapshot?.rejected_for;
  return `${nameIn(status, website_id)}: ${rejected}${clause(why ?? null)}; the view \`quarantine\` has the reasons.`;
}

/** The line of a channel that has refused no notices; other channels get a warning. */
function noticesLine({ channel, notices }: Status['notices'][number]): string {
  return `${counted(notices, 'notice waits', 'notices wait')} for ${channel}; \`indexhouse notify\` sends what waits.`;
}

/** What is new since last time, the most frequent first; the rest is in `api_drift`. */
function driftLines(drift: readonly NewDrift[], status: Status): string[] {
  const lines = drift.slice(0, DRIFT_SHOWN).map((one) => {
    const { website_id, source, occurrences } = one;
    return `New since last time, ${nameIn(status, website_id)}: ${driftText(one)} in ${source} (${count(occurrences)}×)`;
  });
  const more = drift.length - lines.length;
  return more > 0 ? [...lines, `… and ${count(more)} more: \`indexhouse query --sql "from api_drift"\``] : lines;
}

function nameIn({ websites }: Status, id: string): string {
  return websites.find(({ website_id }) => website_id === id)?.website_name ?? id;
}
