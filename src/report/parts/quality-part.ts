import { agesChart } from '../../html/charts/bar-charts.js';
import { counted, percent } from '../../html/figures.js';
import { type Html, html, type Part, shortened } from '../../html/html.js';
import { type Column, table } from '../../html/table.js';
import { count, duration } from '../../observe/format.js';
import type { Period } from '../period.js';
import type { DriftRow, RejectedRow, SnapshotRow } from '../rows.js';
import type { Section } from '../section.js';
import { command, note, part, websiteColumn } from './part.js';

const NIGHTS_LISTED = 31;
const DRIFT_LISTED = 10;
const TEXT_CHARACTERS = 100;

const NIGHT_COLUMNS: readonly Column<SnapshotRow>[] = [
  { head: 'date', cell: ({ snapshot_date }) => html`<span class="date">${snapshot_date}</span>` },
  { head: 'listing', cell: ({ listing_status }) => standing(listing_status, listing_status === 'partial') },
  number('listed', (night) => night.pages_listed),
  number('expected', (night) => night.pages_expected),
  number('rejected', (night) => night.pages_rejected + night.reports_rejected),
  { head: 'reports', cell: (night) => standing(night.reports_status, hasBrokenOff(night)) },
  number('fetched', (night) => night.reports_fetched),
  number('left', ({ reports_wanted: wanted, reports_planned }) => (wanted === null ? null : wanted - reports_planned)),
  number('missing', (night) => night.reports_missing),
  number('failed', (night) => night.reports_failed),
  number('requests', (night) => night.requests_sent),
  number('throttled', (night) => night.requests_throttled),
  { head: 'utilised', isNumber: true, cell: ({ utilisation }) => percent(utilisation) },
  { head: 'took', isNumber: true, cell: ({ took_seconds }) => duration(took_seconds * 1000) },
];

const REJECTED_COLUMNS: readonly Column<RejectedRow>[] = [
  { head: 'from', cell: ({ source }) => source.replaceAll('_', ' ') },
  { head: 'field', cell: ({ field }) => shortened(field, TEXT_CHARACTERS) },
  { head: 'problem', cell: ({ message }) => shortened(message, TEXT_CHARACTERS) },
  { head: 'records', isNumber: true, cell: ({ records }) => count(records) },
  { head: 'taken since', isNumber: true, cell: ({ replayed }) => count(replayed) },
];

/** How whole the listings and reports of the period are, and what the service did oddly. */
export function qualityPart(id: string, section: Section, period: Period): Html {
  const several = section.websites.length > 1;
  const nights = nightsOf(section, period);
  return part(
    'Data quality',
    html`<p>${verdict(nights.all, several)}</p>`,
    nights.shown.length > 0 ? table([...websiteColumn(section), ...NIGHT_COLUMNS], nights.shown) : null,
    nights.all.length > nights.shown.length
      ? note(`The newest ${nights.shown.length} of ${nights.all.length} nights.`)
      : null,
    reportAges(id, section),
    rejectedPart(section.rejected),
    driftPart(section),
  );
}

/** The snapshots of the period, newest first; of many websites the newest of each. */
function nightsOf({ websites }: Section, { since }: Period): { all: SnapshotRow[]; shown: SnapshotRow[] } {
  if (websites.length > 1) {
    const newest = websites.flatMap(({ snapshots }) => snapshots.at(-1) ?? []);
    return { all: newest, shown: newest };
  }
  const all = websites.flatMap(({ snapshots }) => snapshots).filter(({ snapshot_date }) => snapshot_date >= since);
  return { all, shown: all.toReversed().slice(0, NIGHTS_LISTED) };
}

function verdict(nights: readonly SnapshotRow[], several: boolean): string {
  if (nights.length === 0) return 'There is no snapshot in this period.';
  const partial = nights.filter(({ listing_status }) => listing_status === 'partial').length;
  const cut = nights.filter(hasBrokenOff).length;
  const of = several ? 'newest snapshots (one a website)' : 'snapshots of this period';
  if (partial + cut === 0) return `All ${count(nights.length)} ${of} have a complete listing.`;
  return (
    `Of the ${count(nights.length)} ${of}, ${count(partial)} ${partial === 1 ? 'has' : 'have'} only a partial listing, ` +
    `and the reports of ${count(cut)} broke off. Changes of pages that were not listed then show up in a later night.`
  );
}

function number(head: string, counted: (night: SnapshotRow) => number | null): Column<SnapshotRow> {
  const cell = (night: SnapshotRow) => {
    const value = counted(night);
    return value === null ? '' : count(value);
  };
  return { head, isNumber: true, cell };
}

function hasBrokenOff({ reports_status }: SnapshotRow): boolean {
  return reports_status === 'interrupted' || reports_status === 'failed';
}

function standing(text: string, isBad: boolean): Html {
  return isBad ? html`<b class="bad">${text}</b>` : html`${text}`;
}

function reportAges(id: string, { report_ages }: Section): Part {
  const pages = report_ages.reduce((added, age) => added + age.pages, 0);
  if (pages === 0) return null;
  return html`<h4>Age of the detail</h4>
<p>Pages by days since their URL report was fetched. Robots.txt, sitemaps and page fetch are as old as that.</p>
${agesChart({ id: `${id}-reports`, title: 'Pages by days since their report was fetched' }, report_ages)}`;
}

function rejectedPart(rejected: readonly RejectedRow[]): Part {
  const [first] = rejected;
  if (!first) return null;
  return html`<h4>Quarantined records</h4>${table(REJECTED_COLUMNS, rejected)}${first.total > rejected.length ? note(`The most frequent ${rejected.length} of ${first.total} problems.`) : null}`;
}

function driftPart(section: Section): Part {
  const { drift } = section;
  if (drift.length === 0) return null;
  const shown = drift.slice(0, DRIFT_LISTED);
  const columns: Column<DriftRow>[] = [
    ...websiteColumn(section),
    { head: 'what', cell: told },
    { head: 'first seen', cell: ({ first_seen_date }) => html`<span class="date">${first_seen_date}</span>` },
    { head: 'times', isNumber: true, cell: ({ occurrences }) => count(occurrences) },
  ];
  const all = note(`${counted(drift.length, 'observation')} in all: `, command('drift_diary', {}));
  return html`<h4>New in the service’s answers</h4>${table(columns, shown)}${drift.length > shown.length ? all : null}`;
}

function told({ source, kind, field, value }: DriftRow): string {
  const what = value === null ? '' : ` = ${shortened(value, TEXT_CHARACTERS)}`;
  return `${kind.replaceAll('_', ' ')} ${shortened(field, TEXT_CHARACTERS)}${what} in ${source.replaceAll('_', ' ')}`;
}
