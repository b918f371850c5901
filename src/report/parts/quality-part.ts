import { agesChart } from '../../html/charts/bar-charts.js';
import { counted, percent } from '../../html/figures.js';
import { type Html, html, type Part, shortened } from '../../html/html.js';
import { count, duration } from '../../observe/format.js';
import type { Period } from '../period.js';
import type { DriftRow, RejectedRow, SnapshotRow } from '../rows.js';
import type { Section } from '../section.js';
import { type Column, command, note, part, table } from './table.js';
import { nameOfWebsite } from './website-name.js';

const NIGHTS_LISTED = 31;
const DRIFT_LISTED = 10;
const TEXT_CHARACTERS = 100;

const NIGHT_COLUMNS: Column[] = [
  { head: 'listing' },
  { head: 'listed', align: 'right' },
  { head: 'expected', align: 'right' },
  { head: 'rejected', align: 'right' },
  { head: 'reports' },
  { head: 'fetched', align: 'right' },
  { head: 'left', align: 'right' },
  { head: 'missing', align: 'right' },
  { head: 'failed', align: 'right' },
  { head: 'requests', align: 'right' },
  { head: 'throttled', align: 'right' },
  { head: 'utilised', align: 'right' },
  { head: 'took', align: 'right' },
];

/** What the figures rest on: how whole the listings and reports of the period are, and what the service did oddly. */
export function qualityPart(id: string, section: Section, period: Period): Html {
  const several = section.websites.length > 1;
  const nights = nightsOf(section, period);
  const columns: Column[] = [...(several ? [{ head: 'website' }] : []), { head: 'date' }, ...NIGHT_COLUMNS];
  const rows = nights.shown.map((night) => [
    ...(several ? [nameOfWebsite(section, night.website_id)] : []),
    html`<span class="date">${night.snapshot_date}</span>`,
    ...nightCells(night),
  ]);
  return part(
    'Data quality',
    html`<p>${verdict(nights.all, several)}</p>`,
    rows.length > 0 ? table(columns, rows) : null,
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
  const cut = nights.filter(
    ({ reports_status }) => reports_status === 'interrupted' || reports_status === 'failed',
  ).length;
  const of = several ? 'newest snapshots (one a website)' : 'snapshots of this period';
  if (partial + cut === 0) return `All ${count(nights.length)} ${of} have a complete listing.`;
  return (
    `Of the ${count(nights.length)} ${of}, ${count(partial)} ${partial === 1 ? 'has' : 'have'} only a partial listing, ` +
    `and the reports of ${count(cut)} broke off. Changes of pages that were not listed then show up in a later night.`
  );
}

function nightCells(night: SnapshotRow): Part[] {
  const { reports_wanted, reports_planned, reports_fetched, reports_missing, reports_failed } = night;
  return [
    standing(night.listing_status, night.listing_status === 'partial'),
    count(night.pages_listed),
    night.pages_expected === null ? '' : count(night.pages_expected),
    count(night.pages_rejected + night.reports_rejected),
    standing(night.reports_status, night.reports_status === 'interrupted' || night.reports_status === 'failed'),
    count(reports_fetched),
    reports_wanted === null ? '' : count(reports_wanted - reports_planned),
    count(reports_missing),
    count(reports_failed),
    count(night.requests_sent),
    count(night.requests_throttled),
    percent(night.utilisation),
    duration(night.took_seconds * 1000),
  ];
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
  return html`<h4>Quarantined records</h4>${table(
    [
      { head: 'from' },
      { head: 'field' },
      { head: 'problem' },
      { head: 'records', align: 'right' },
      { head: 'taken since', align: 'right' },
    ],
    rejected.map(({ source, field, message, records, replayed }) => [
      source.replaceAll('_', ' '),
      shortened(field, TEXT_CHARACTERS),
      shortened(message, TEXT_CHARACTERS),
      count(records),
      count(replayed),
    ]),
  )}${first.total > rejected.length ? note(`The most frequent ${rejected.length} of ${first.total} problems.`) : null}`;
}

function driftPart(section: Section): Part {
  const { drift } = section;
  if (drift.length === 0) return null;
  const several = section.websites.length > 1;
  const shown = drift.slice(0, DRIFT_LISTED);
  return html`<h4>New in the service’s answers</h4>${table(
    [
      ...(several ? [{ head: 'website' }] : []),
      { head: 'what' },
      { head: 'first seen' },
      { head: 'times', align: 'right' },
    ],
    shown.map((row) => [
      ...(several ? [nameOfWebsite(section, row.website_id)] : []),
      told(row),
      html`<span class="date">${row.first_seen_date}</span>`,
      count(row.occurrences),
    ]),
  )}${
    drift.length > shown.length
      ? note(`${counted(drift.length, 'observation')} in all: `, command('drift_diary', {}))
      : null
  }`;
}

function told({ source, kind, field, value }: DriftRow): string {
  const what = value === null ? '' : ` = ${shortened(value, TEXT_CHARACTERS)}`;
  return `${kind.replaceAll('_', ' ')} ${shortened(field, TEXT_CHARACTERS)}${what} in ${source.replaceAll('_', ' ')}`;
}
