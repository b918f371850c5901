import { nameOf } from '../analysis/website-status.js';
import type { Forecast } from '../forecast/forecast.js';
import type { WantedPage } from '../forecast/known.js';
import { sum } from '../forecast/reports.js';
import { REASONS, type Reason } from '../journal/plan.js';
import { safe } from '../observe/terminal.js';
import { count, counted, duration, recordTable, wrapped } from './output.js';

/** How many websites get a line about what is not reached, and how many are named in one line. */
const CUTS_TOLD = 20;
const NAMES_TOLD = 5;
/** A run that was slower than this share of its pace is mentioned, if it sent enough requests to tell. */
const SLOW = 0.8;
const REQUESTS_THAT_TELL = 100;
const RIGHT = ['takes', 'report age'];

export interface PlanTextOptions {
  /** Cells of the terminal; left out for a file or a pipe, where nothing is shortened or wrapped. */
  width?: number | undefined;
  /** Whether no token could be read; none is needed. */
  withoutTokens: boolean;
  /** Where every wanted page was written. */
  out: string | undefined;
}

type Planned = Forecast['websites'][number];

/** The plan for people: one sentence, when the run ends, tables, and the pages that come first. */
export function planText(forecast: Forecast, options: PlanTextOptions): string {
  const { websites, sentence, younger_than_days: days, time_zone: zone, keys } = forecast;
  const { width } = options;
  const paragraphs = (texts: string[]) => texts.map((text) => `${wrapped(safe(text), width)}\n`).join('');
  const table = (rows: Record<string, string | number>[]) => recordTable(rows, { width, right: [...RIGHT, young] });
  const young = `all under ${days} d`;
  const named = (website: Planned) => (websites.length === 1 ? {} : { website: nameOf(website) });
  const blocks = [
    paragraphs([sentence, ...unknownLines(forecast)].filter((line) => line !== '')),
    paragraphs(websites.length === 0 ? [] : endLines(forecast)),
    table(
      websites.map((website) => ({
        website: nameOf(website),
        pages: website.pages,
        listing: website.listing_requests,
        ...reportsOf(website, 'total'),
        [young]: nightsText(website.nights_until_young),
      })),
    ),
    table(
      websites.flatMap((website) =>
        REASONS.filter((reason) => website.wanted[reason] > 0).map((reason) => ({
          ...named(website),
          reason,
          ...reportsOf(website, reason),
        })),
      ),
    ),
    table(
      keys
        .map(({ key, website_ids, requests, duration_seconds: takes, ends_at }) => ({
          key,
          websites: website_ids.length,
          requests,
          takes: takes === null ? '' : duration(takes * 1000),
          'ends at': ends_at === null ? '' : localTime(ends_at, zone),
        }))
        .filter(() => keys.length > 1),
    ),
    paragraphs(notReachedLines(websites)),
    // The first of each website, then the second of each, because websites are fetched side by side.
    table(
      websites
        .flatMap((website) => website.first_pages.map((page) => ({ ...page, website })))
        .sort((one, other) => one.place - other.place)
        .slice(0, Math.max(...websites.map(({ first_pages }) => first_pages.length)))
        .map(({ website, ...page }) => ({
          place: page.place,
          why: page.reason,
          'report age': ageText(page),
          ...named(website),
          'comes first': page.url,
        })),
    ),
    paragraphs([...neverYoungLines(forecast), ...estimateLines(websites)]),
    paragraphs(noteLines(forecast, options)),
  ];
  return blocks.filter((block) => block !== '').join('\n');
}

function unknownLines({ websites, unknown_websites: unknown }: Forecast): string[] {
  if (websites.length === 0 && unknown.length === 0) {
    return ['No snapshot yet: leave out --offline to ask the service for the websites and their pages.'];
  }
  return unknown.map(
    (website) => `${nameOf(website)}: no snapshot yet: leave out --offline to ask how many pages it has.`,
  );
}

function endLines({
  totals,
  websites,
  max_reports,
  deadline_seconds,
  next_nightly_sync: next,
  time_zone: zone,
}: Forecast) {
  const { duration_seconds: takes, ends_at, not_reached } = totals;
  const limit = websites.some((website) => website.limit === 'deadline')
    ? `its deadline of ${duration(deadline_seconds * 1000)}`
    : 'reports.max_per_run';
  const reach =
    max_reports === 0
      ? ', with the listing only: reports.max_per_run is 0'
      : not_reached.total === 0
        ? ', with all reports'
        : `: it does not reach ${counted(not_reached.total, 'report')} because of ${limit}`;
  const now =
    takes === null || ends_at === null
      ? 'Finish time unknown: unlimited rate, and no run measured yet.'
      : `A run that starts now ends at ${localTime(ends_at, zone)}, after ${duration(takes * 1000)}${reach}.`;
  if (next === null) return [now, 'nightly-sync is switched off under `schedule`.'];
  const ends =
    next.ends_at !== null
      ? ` and ends at ${localTime(next.ends_at, zone)}`
      : ends_at === null
        ? ''
        : ', without these flags';
  return [now, `The next nightly-sync starts at ${localTime(next.starts_at, zone)}${ends}.`];
}

/** `2026-11-22 05:47 (Europe/Berlin)` */
function localTime(iso: string, timeZone: string): string {
  const fields = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
  return `${new Intl.DateTimeFormat('sv-SE', { timeZone, ...fields }).format(new Date(iso))} (${timeZone})`;
}

function reportsOf({ wanted, reached, not_reached }: Planned, reason: Reason | 'total') {
  return { wanted: wanted[reason], reached: reached[reason], 'not reached': not_reached[reason] };
}

function nightsText(nights: number | null): string {
  if (nights === null) return 'never';
  return nights === 0 ? 'now' : counted(nights, 'night');
}

function notReachedLines(websites: readonly Planned[]): string[] {
  const cut = websites.filter(({ not_reached }) => not_reached.total > 0);
  const lines = cut.slice(0, CUTS_TOLD).map((website) => {
    const { not_reached: left, first_not_reached: first } = website;
    const reasons = REASONS.filter((reason) => left[reason] > 0).map((reason) => `${count(left[reason])} ${reason}`);
    const page = first ? `; the first of them: ${first.url} (${first.reason}, report age: ${ageText(first)})` : '';
    return `Not reached of ${nameOf(website)}: ${reasons.join(', ')}${page}`;
  });
  return [...lines, ...(cut.length > CUTS_TOLD ? [`… and of ${cut.length - CUTS_TOLD} more websites: --json`] : [])];
}

function ageText({ report_age_days: days }: WantedPage): string {
  return days === null ? 'none' : counted(days, 'day');
}

function neverYoungLines({ websites, younger_than_days, max_reports }: Forecast): string[] {
  const age = counted(younger_than_days, 'day');
  return websites
    .filter(({ never_young_because }) => never_young_because !== null && max_reports !== 0)
    .map(
      (website) => `The reports of ${nameOf(website)} are never all newer than ${age}: ${website.never_young_because}.`,
    );
}

/** Says what is only estimated. */
function estimateLines(websites: readonly Planned[]): string[] {
  const listed = websites.filter(({ basis }) => basis !== 'service');
  const mute = listed.filter(({ expected }) => expected === null).map(nameOf);
  const known = listed.flatMap(({ expected }) => expected ?? []);
  const total = (of: 'changed' | 'recrawled' | 'new' | 'missing') => sum(known.map((expected) => expected[of]));
  const snapshots = counted(Math.max(...known.map((expected) => expected.snapshots)), 'listing');
  const more = mute.length > NAMES_TOLD ? ` and ${mute.length - NAMES_TOLD} more` : '';
  return told([
    [
      known.length > 0,
      `Estimated from the last ${snapshots}: about ${count(total('changed') + total('recrawled'))} changed or recrawled pages tonight, ${count(total('new'))} new and ${count(total('missing'))} missing. They are counted above, before the oldest.`,
    ],
    [
      mute.length > 0,
      `Fewer than 2 complete listings, so changes cannot be estimated: ${mute.slice(0, NAMES_TOLD).join(', ')}${more}.`,
    ],
  ]);
}

function noteLines(forecast: Forecast, { withoutTokens, out }: PlanTextOptions): string[] {
  const { unfinished_run, requests_sent, keys, websites, younger_than_days: days } = forecast;
  const failing = sum(websites.map((website) => website.pages_keep_failing));
  const never = sum(websites.map((website) => website.pages_never_fetched));
  return told([
    ...keys.map(slowLine),
    [never > 0, `${counted(never, 'report')} never fetched, by reports.priority.never.`],
    [
      failing > 0,
      `${counted(failing, 'report')} kept failing: last in the plan, and not counted as under or over ${days} days.`,
    ],
    [unfinished_run, 'A run is in progress or was interrupted: the next sync resumes it first.'],
    [withoutTokens, 'No token available: this assumes that all websites share one key.'],
    [requests_sent > 0, `This plan took ${counted(requests_sent, 'request')}.`],
    [out !== undefined, `Wrote every page to fetch to ${out}.`],
  ]);
}

function slowLine(planned: Forecast['keys'][number]): [boolean, string] {
  const { key, requests_per_minute: pace, measured_requests_per_minute: measured, requests } = planned;
  if (pace === null || measured === null) return [false, ''];
  return [
    requests >= REQUESTS_THAT_TELL && measured < pace * SLOW,
    `The last run with ${key} made ${count(measured)} of ${count(pace)} allowed requests a minute: tonight may take ${count(Number((pace / measured).toFixed(1)))} times as long.`,
  ];
}

/** The lines whose condition holds. */
function told(lines: readonly (readonly [holds: boolean, line: string])[]): string[] {
  return lines.filter(([holds]) => holds).map(([, line]) => line);
}
