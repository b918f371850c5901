import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Forecast, WantedOf } from '../forecast/forecast.js';
import type { WantedPage } from '../forecast/known.js';
import { sum } from '../forecast/reports.js';
import type { PlannedWebsite } from '../forecast/website.js';
import { REASONS } from '../journal/plan.js';
import { csvText } from '../observe/csv.js';
import { safe } from '../observe/terminal.js';
import { type Column, count, counted, duration, figures, formatTable, wrapped } from './output.js';
import { inPlace } from './query-output.js';

/** Websites whose cut is told one by one, and those that are named in one line. */
const CUTS_TOLD = 20;
const NAMES_TOLD = 5;
/** A run this much slower than its pace is worth a word, where so many requests tell its pace. */
const SLOW = 0.8;
const REQUESTS_THAT_TELL = 100;
const CSV_COLUMNS = ['website_id', 'place', 'url', 'reason', 'report_age_days', 'reached'] as const;

export interface PlanTextOptions {
  /** Cells of the terminal; left out: nothing is shortened or wrapped, for the text goes to a file or a pipe. */
  width?: number | undefined;
  /** No token could be read, and none is needed. */
  withoutTokens: boolean;
  /** Where every wanted page was written. */
  out: string | undefined;
}

/** Writes each page on a line of a CSV file, which appears under its name when it is whole. */
export function writeWanted(file: string, pages: AsyncIterable<WantedOf>): Promise<void> {
  const text = csvText(CSV_COLUMNS, rowsOf(pages));
  return inPlace(file, (temporary) => pipeline(Readable.from(text), createWriteStream(temporary)));
}

async function* rowsOf(pages: AsyncIterable<WantedOf>): AsyncGenerator<unknown[][]> {
  for await (const page of pages) yield [CSV_COLUMNS.map((column) => page[column])];
}

/** The plan for people: one sentence, when the run ends, tables, and the pages that come first. */
export function planText(forecast: Forecast, options: PlanTextOptions): string {
  const { width } = options;
  const { websites, unknown_websites: unknown } = forecast;
  const paragraphs = (texts: string[]) => texts.map((text) => `${wrapped(safe(text), width)}\n`).join('');
  const table = (columns: (string | Column)[], rows: unknown[][]) =>
    rows.length === 0 ? '' : formatTable(columns, rows, { width });
  const blocks =
    websites.length === 0
      ? [paragraphs(unknown.length > 0 ? unknown.map(unknownText) : [NO_SNAPSHOT])]
      : [
          paragraphs([forecast.sentence, ...unknown.map(unknownText)]),
          paragraphs(endLines(forecast)),
          table(...websiteTable(forecast)),
          table(...reasonTable(websites)),
          table(...keyTable(forecast)),
          paragraphs(notReachedLines(websites)),
          table(...firstPages(websites)),
          paragraphs([...neverYoungLines(forecast), ...estimateLines(websites)]),
        ];
  return [...blocks, paragraphs(noteLines(forecast, options))].filter((block) => block !== '').join('\n');
}

const NO_SNAPSHOT = 'No snapshot yet: leave out --offline to ask the service for the websites and their pages.';

function unknownText({ website_id, website_name }: Forecast['unknown_websites'][number]): string {
  return `${website_name ?? website_id}: no snapshot yet: leave out --offline to ask how many pages it has.`;
}

function endLines(forecast: Forecast): string[] {
  const { totals, next_nightly_sync: next, time_zone: zone } = forecast;
  const { duration_seconds: takes, ends_at } = totals;
  const now =
    takes === null || ends_at === null
      ? 'Finish time unknown: unlimited rate, and no run measured yet.'
      : `A run that starts now ends at ${localTime(ends_at, zone)}, after ${duration(takes * 1000)}${endText(forecast)}.`;
  if (next === null) return [now, 'nightly-sync is switched off under `schedule`.'];
  const starts = `The next nightly-sync starts at ${localTime(next.starts_at, zone)}`;
  if (next.ends_at !== null) return [now, `${starts} and ends at ${localTime(next.ends_at, zone)}.`];
  return [now, `${starts}${ends_at === null ? '' : ', without these flags'}.`];
}

function endText({ totals, websites, max_reports, deadline_seconds }: Forecast): string {
  if (max_reports === 0) return ', with the listing only: reports.max_per_run is 0';
  if (totals.not_reached.total === 0) return ', with all reports';
  const isLate = websites.some(({ limit }) => limit === 'deadline');
  const what = isLate ? `its deadline of ${duration(deadline_seconds * 1000)}` : 'reports.max_per_run';
  return `: it does not reach ${counted(totals.not_reached.total, 'report')} because of ${what}`;
}

/** `2026-11-22 05:47 (Europe/Berlin)` */
function localTime(iso: string, timeZone: string): string {
  const fields = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
  return `${new Intl.DateTimeFormat('sv-SE', { timeZone, ...fields }).format(new Date(iso))} (${timeZone})`;
}

type Table = [columns: (string | Column)[], rows: unknown[][]];

function websiteTable({ websites, younger_than_days }: Forecast): Table {
  const young = `all under ${younger_than_days} d`;
  const rows = websites.map((website) => [
    nameOf(website),
    ...[website.pages, website.listing_requests].map(count),
    ...[website.wanted, website.reached, website.not_reached].map(({ total }) => count(total)),
    nightsText(website.nights_until_young),
  ]);
  return [['website', ...figures('pages', 'listing', 'wanted', 'reached', 'not reached', young)], rows];
}

function nightsText(nights: number | null): string {
  if (nights === null) return 'never';
  return nights === 0 ? 'now' : counted(nights, 'night');
}

/** Why reports are wanted, a line for each reason that there is. */
function reasonTable(websites: readonly PlannedWebsite[]): Table {
  const isOne = websites.length === 1;
  const rows = websites.flatMap((website) =>
    REASONS.filter((reason) => website.wanted[reason] > 0).map((reason) => [
      ...(isOne ? [] : [nameOf(website)]),
      reason,
      ...[website.wanted, website.reached, website.not_reached].map((counts) => count(counts[reason])),
    ]),
  );
  return [[...(isOne ? [] : ['website']), 'reason', ...figures('wanted', 'reached', 'not reached')], rows];
}

/** Where each key's token stands, and how long it works; nothing where there is one. */
function keyTable({ keys, time_zone }: Forecast): Table {
  const rows = keys.map((key) => [
    key.key,
    count(key.website_ids.length),
    count(key.requests),
    key.duration_seconds === null ? '' : duration(key.duration_seconds * 1000),
    key.ends_at === null ? '' : localTime(key.ends_at, time_zone),
  ]);
  return [['key', ...figures('websites', 'requests', 'takes'), 'ends at'], rows.length > 1 ? rows : []];
}

function notReachedLines(websites: readonly PlannedWebsite[]): string[] {
  const cut = websites.filter(({ not_reached }) => not_reached.total > 0);
  const lines = cut.slice(0, CUTS_TOLD).map((website) => {
    const { not_reached: left, first_not_reached: first } = website;
    const reasons = REASONS.filter((reason) => left[reason] > 0).map((reason) => `${count(left[reason])} ${reason}`);
    const page = first ? `; the first of them: ${first.url} (${first.reason}, report age: ${ageText(first)})` : '';
    return `Not reached of ${nameOf(website)}: ${reasons.join(', ')}${page}`;
  });
  return cut.length > CUTS_TOLD ? [...lines, `… and of ${cut.length - CUTS_TOLD} more websites: --json`] : lines;
}

function ageText({ report_age_days: days }: WantedPage): string {
  return days === null ? 'none' : counted(days, 'day');
}

/** The first of each website, then the second of each, because websites are fetched side by side. */
function firstPages(websites: readonly PlannedWebsite[]): Table {
  const isOne = websites.length === 1;
  const most = Math.max(...websites.map(({ first_pages }) => first_pages.length));
  const rows = websites
    .flatMap((website) => website.first_pages.map((page) => ({ page, website: nameOf(website) })))
    .sort((one, other) => one.page.place - other.page.place)
    .slice(0, most)
    .map(({ page, website }) => [count(page.place), page.reason, ageText(page), ...(isOne ? [] : [website]), page.url]);
  return [[...figures('place'), 'why', ...figures('report age'), ...(isOne ? [] : ['website']), 'comes first'], rows];
}

function neverYoungLines({ websites, younger_than_days, max_reports }: Forecast): string[] {
  if (max_reports === 0) return [];
  const never = websites.filter(({ never_young_because }) => never_young_because !== null);
  const age = counted(younger_than_days, 'day');
  return never.map(
    (website) => `The reports of ${nameOf(website)} are never all newer than ${age}: ${website.never_young_because}.`,
  );
}

/** What is only estimated, said plainly. */
function estimateLines(websites: readonly PlannedWebsite[]): string[] {
  const listed = websites.filter(({ basis }) => basis !== 'service');
  const mute = listed.filter(({ expected }) => expected === null).map(nameOf);
  const known = listed.flatMap(({ expected }) => (expected ? [expected] : []));
  const total = (of: 'changed' | 'recrawled' | 'new' | 'missing') => sum(known.map((expected) => expected[of]));
  const snapshots = Math.max(...known.map((expected) => expected.snapshots));
  const names = `${mute.slice(0, NAMES_TOLD).join(', ')}${mute.length > NAMES_TOLD ? ` and ${mute.length - NAMES_TOLD} more` : ''}`;
  return [
    ...(known.length > 0
      ? [
          `Estimated from the last ${counted(snapshots, 'listing')}: about ${count(total('changed') + total('recrawled'))} changed or recrawled pages tonight, ${count(total('new'))} new and ${count(total('missing'))} missing. They are counted above, before the oldest.`,
        ]
      : []),
    ...(mute.length > 0 ? [`Fewer than 2 complete listings, so changes cannot be estimated: ${names}.`] : []),
  ];
}

function noteLines(forecast: Forecast, { withoutTokens, out }: PlanTextOptions): string[] {
  const { unfinished_run, requests_sent, keys, websites, younger_than_days: days } = forecast;
  const failing = sum(websites.map((website) => website.pages_keep_failing));
  const never = sum(websites.map((website) => website.pages_never_fetched));
  return [
    ...keys.flatMap(slowText),
    ...(never > 0 ? [`${counted(never, 'report')} never fetched, by reports.priority.never.`] : []),
    ...(failing > 0
      ? [`${counted(failing, 'report')} kept failing: last in the plan, and not counted as under or over ${days} days.`]
      : []),
    ...(unfinished_run ? ['A run is in progress or was interrupted: the next sync resumes it first.'] : []),
    ...(withoutTokens ? ['No token available: this assumes that all websites share one key.'] : []),
    ...(requests_sent > 0 ? [`This plan took ${counted(requests_sent, 'request')}.`] : []),
    ...(out === undefined ? [] : [`Wrote every page to fetch to ${out}.`]),
  ];
}

function slowText(planned: Forecast['keys'][number]): string[] {
  const { key, requests_per_minute: pace, measured_requests_per_minute: measured, requests } = planned;
  if (pace === null || measured === null || requests < REQUESTS_THAT_TELL || measured >= pace * SLOW) return [];
  const times = count(Number((pace / measured).toFixed(1)));
  return [
    `The last run with ${key} made ${count(measured)} of ${count(pace)} allowed requests a minute: tonight may take ${times} times as long.`,
  ];
}

function nameOf({ website_name, website_id }: PlannedWebsite): string {
  return website_name ?? website_id;
}
