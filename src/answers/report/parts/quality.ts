import { count, counted, duration, percent, plus, shareOf } from '../../../base/observe/format.js';
import { dated, number, orUnknown, status, text, time } from '../../html/cells.js';
import { type Age, agesChart } from '../../html/charts/trend-chart.js';
import { type Column, type Html, html, type Part, pageLink, shortened, table } from '../../html/html.js';
import type { Period } from '../period.js';
import type { DriftRow, RejectedRow, RunOutcome, SnapshotRow, SourceRow, StaleRow } from '../rows.js';
import { type Section, STALE_DAYS } from '../section.js';
import { command, cutNote, note, part, websiteColumn, websiteParameter } from './part.js';

const NIGHTS_LISTED = 31;
const DRIFT_LISTED = 10;
const BROKEN_OFF = new Set<string | null>(['interrupted', 'failed']);

/** What a run fetched and what it cost. @param listing the outcome of its listing */
export function runColumns<Row extends RunOutcome>(listing: (run: Row) => Part): Column<Row>[] {
  return [
    { head: 'Listing', cell: listing },
    number('Listed', (run) => run.pages_listed),
    number('Expected', (run) => run.pages_expected),
    number('Rejected', (run) => plus(run.pages_rejected, run.reports_rejected)),
    { head: 'Reports', cell: (run) => status(run.reports_status, hasBrokenOff(run)) },
    number('Fetched', (run) => run.reports_fetched),
    number('Left', ({ reports_wanted: wanted, reports_planned: planned }) =>
      wanted === null || planned === null ? null : wanted - planned,
    ),
    number('Missing', (run) => run.reports_missing),
    number('Failed', (run) => run.reports_failed),
    number('Requests', (run) => run.requests_sent),
    number('Throttled', (run) => run.requests_throttled),
    number('Took', (run) => run.took_seconds * 1000, duration),
  ];
}

export function listingStatus({ listing_status }: RunOutcome): Part {
  return status(listing_status, listing_status === 'partial');
}

/** Quarantined records by what is wrong with them. */
export const REJECTED_COLUMNS: readonly Column<RejectedRow>[] = [
  { head: 'Problem', cell: ({ message }) => text(message) },
  { head: 'Field', cell: ({ field }) => orUnknown(field && text(field)) },
  { head: 'From', cell: ({ source }) => source.replaceAll('_', ' ') },
  number('Records', ({ records }) => records),
];

/** What the service sent that its contract does not foresee. */
export const DRIFT_COLUMNS: readonly Column<DriftRow>[] = [
  { head: 'Field', cell: ({ field }) => text(field) },
  { head: 'What', cell: ({ kind }) => kind.replaceAll('_', ' ') },
  { head: 'Value', cell: ({ value }) => text(value) },
  { head: 'From', cell: ({ source }) => source.replaceAll('_', ' ') },
  { head: 'First seen', cell: ({ first_seen_date }) => dated(first_seen_date) },
  number('Times', ({ occurrences }) => occurrences),
];

/** How long ago pages were crawled, and pages that have not been crawled for long. */
export function freshnessPart(id: string, section: Section): Html {
  const { crawl_ages, stale } = section;
  const pages = crawl_ages.reduce((added, age) => added + age.pages, 0);
  if (pages === 0) return part('Crawl freshness', note('There are no monitored pages.'));
  const columns: Column<StaleRow>[] = [
    ...websiteColumn(section),
    { head: 'Page', cell: ({ url }) => pageLink(url) },
    { head: 'Last crawl', cell: ({ last_crawl_time }) => (last_crawl_time === null ? 'never' : time(last_crawl_time)) },
    number('Days', (row) => row.days_since_crawl),
    { head: 'State', cell: (row) => shortened(row.index_coverage_state ?? 'no data') },
  ];
  const given = { ...websiteParameter(section), days: String(STALE_DAYS) };
  return part(
    'Crawl freshness',
    html`<p>Pages by days since the search engine last crawled them. ${counted(stale.total, 'page')} (${percent(shareOf(stale.total, pages))}) had no crawl for more than ${STALE_DAYS - 1} days, or never one.</p>`,
    agesChart({ id: `${id}-crawls`, title: 'Pages by days since their last crawl' }, crawl_ages),
    stale.total > 0 ? table(columns, stale.rows) : null,
    cutNote('first', stale.rows.length, stale.total, command('pages_not_crawled', given)),
  );
}

/** What names the pages of a property. */
export const SOURCE_COLUMNS: readonly Column<SourceRow>[] = [
  { head: 'Source', cell: ({ source }) => text(shortened(source)) },
  { head: 'Kind', cell: ({ kind }) => kind.replaceAll('_', ' ') },
  number('Answered', ({ http_status }) => http_status, String),
  number('Entries', ({ entries }) => entries),
  number('Pages', ({ pages }) => pages),
  number('Only here', ({ only_here }) => only_here),
  { head: 'Problem', cell: problemOf },
  {
    head: 'Last read by Google',
    cell: ({ last_downloaded }) => (last_downloaded === null ? '' : time(last_downloaded)),
  },
  number('Errors', ({ errors }) => errors),
];

function problemOf({ problem, pages_unnamed: unnamed, is_missing_pages: isMissing }: SourceRow): Part {
  const left = unnamed > 0 ? `no source names ${counted(unnamed, 'page')} any more` : null;
  const all = [problem, left].filter((one) => one !== null).join('; ');
  return isMissing ? html`<b class="bad">${text(all)}</b>` : text(all);
}

/** How complete the listings and reports of the period are, and what was unusual in the service's answers. */
export function qualityPart(id: string, section: Section, period: Period): Html {
  const { rejected, drift, websites } = section;
  const nights = nightsOf(section, period);
  const listed = nights.slice(0, Math.max(NIGHTS_LISTED, websites.length));
  const ages = reportAges(`${id}-reports`, section.report_ages);
  const columns: Column<SnapshotRow>[] = [
    ...websiteColumn(section),
    { head: 'Date', cell: ({ snapshot_date }) => dated(snapshot_date) },
    ...runColumns<SnapshotRow>(listingStatus),
    number('Utilised', ({ utilisation }) => utilisation, percent),
  ];
  return part(
    'Data quality',
    html`<p>${verdict(nights, websites.length > 1)}</p>`,
    nights.length > 0 ? table(columns, listed) : null,
    cutNote('newest', listed.length, nights.length),
    ages && html`<h4>Age of the reports</h4>${ages}`,
    rejected.length > 0 ? html`<h4>Quarantined records</h4>${table(REJECTED_COLUMNS, rejected)}` : null,
    cutNote('most frequent', rejected.length, rejected[0]?.total ?? 0),
    drift.length > 0
      ? html`<h4>New in the service’s answers</h4>${table([...websiteColumn(section), ...DRIFT_COLUMNS], drift.slice(0, DRIFT_LISTED))}`
      : null,
    cutNote('newest', Math.min(drift.length, DRIFT_LISTED), drift.length, command('drift_diary', {})),
  );
}

/** The snapshots of the period, newest first; for many websites, the newest of each. */
function nightsOf({ websites }: Section, { since }: Period): SnapshotRow[] {
  if (websites.length > 1) return websites.flatMap(({ snapshots }) => snapshots.at(-1) ?? []);
  return websites.flatMap(({ snapshots }) => snapshots.filter((night) => night.snapshot_date >= since).toReversed());
}

function verdict(nights: readonly SnapshotRow[], several: boolean): string {
  if (nights.length === 0) return 'There is no snapshot in this period.';
  const partial = nights.filter(({ listing_status }) => listing_status === 'partial').length;
  const cut = nights.filter(hasBrokenOff).length;
  const of = several ? 'newest snapshots (one per website)' : 'snapshots of this period';
  if (partial + cut === 0) {
    return nights.length === 1
      ? 'The only snapshot of this period has a complete listing.'
      : `All ${count(nights.length)} ${of} have a complete listing.`;
  }
  const parts = [
    ...(partial > 0 ? [`the listing of ${count(partial)} is partial`] : []),
    ...(cut > 0 ? [`the reports of ${count(cut)} broke off`] : []),
  ];
  return `Of ${nights.length === 1 ? 'the only snapshot of this period' : `the ${count(nights.length)} ${of}`}, ${parts.join(' and ')}. Changes of pages that were not listed then show up in a later night.`;
}

function hasBrokenOff({ reports_status }: RunOutcome): boolean {
  return BROKEN_OFF.has(reports_status);
}

/** How old the reports of pages are; nothing without pages. */
export function reportAges(id: string, ages: readonly Age[]): Part {
  if (ages.every(({ pages }) => pages === 0)) return null;
  return html`<p>Pages by days since their URL report was fetched. Robots.txt, sitemaps and page fetch are as old as that.</p>
${agesChart({ id, title: 'Pages by days since their report was fetched' }, ages)}`;
}
