import type { Forecast, PlannedWebsite } from '../forecast/forecast-document.js';
import type { WantedPage } from '../forecast/known.js';
import { REASONS } from '../forecast/reasons.js';
import { longTime, many } from '../forecast/sentence.js';
import { sum } from '../forecast/sum.js';
import { safe } from '../observe/terminal.js';
import { type Column, count, formatTable, wrapped } from './output.js';

/** Websites whose cut is told one by one. */
const CUTS_TOLD = 20;
/** Websites that are named in one line. */
const NAMES_TOLD = 5;
/** A run this much slower than its pace is worth a word. */
const SLOW = 0.8;
/** Below so many requests a run's time says little of its pace. */
const REQUESTS_THAT_TELL = 100;

export interface PlanTextOptions {
  /** Cells of the terminal; left out: nothing is shortened or wrapped, for the text goes to a file or a pipe. */
  width?: number | undefined;
  /** No token could be read, and none is needed. */
  withoutTokens: boolean;
  /** Where every wanted page was written. */
  out: string | undefined;
}

/** The plan for people: one sentence, when the run ends, tables, and the pages that come first. */
export function planText(forecast: Forecast, options: PlanTextOptions): string {
  const { width } = options;
  const paragraph = (text: string) => `${wrapped(safe(text), width)}\n`;
  const { websites, unknown_websites: unknown } = forecast;
  const about = websites.length > 0 ? [forecast.sentence] : [];
  const blocks = [
    [...about, ...unknown.map(unknownText), ...noneText(forecast)].map(paragraph).join(''),
    websites.length > 0 ? endLines(forecast).map(paragraph).join('') : '',
    websites.length > 0 ? tables(forecast, width) : '',
    notReachedLines(forecast).map(paragraph).join(''),
    firstPages(forecast, width),
    [...youngLines(forecast), ...estimateLines(forecast), ...noteLines(forecast, options)].map(paragraph).join(''),
  ];
  return blocks.filter((block) => block !== '').join('\n');
}

function unknownText({ website_id, website_name }: Forecast['unknown_websites'][number]): string {
  return `${website_name ?? website_id}: no snapshot yet: leave out --offline to ask how many pages it has.`;
}

function noneText({ websites, unknown_websites }: Forecast): string[] {
  if (websites.length + unknown_websites.length > 0) return [];
  return ['No snapshot yet: leave out --offline to ask the service which websites there are, and how many pages.'];
}

function endLines(forecast: Forecast): string[] {
  const { totals, next_nightly_sync: next, time_zone: zone } = forecast;
  const takes = totals.duration_seconds;
  const now =
    takes === null || totals.ends_at === null
      ? 'Nobody knows yet when a run that starts now ends: the pace is unlimited, and no run was measured.'
      : `A run that starts now ends at ${localTime(totals.ends_at, zone)}, after ${longTime(takes * 1000)}${endText(forecast)}.`;
  if (next === null) return [now, 'nightly-sync is switched off under `schedule`.'];
  const starts = `The next nightly-sync starts at ${localTime(next.starts_at, zone)}`;
  if (next.ends_at !== null) return [now, `${starts} and ends at ${localTime(next.ends_at, zone)}.`];
  return [now, `${starts}${totals.ends_at === null ? '' : ', without these flags'}.`];
}

function endText({ totals, websites, max_reports, deadline_seconds }: Forecast): string {
  if (max_reports === 0) return ', with the listing only: reports.max_per_run is 0';
  if (totals.not_reached.total === 0) return ', with everything that it wants';
  const left = `${many(totals.not_reached.total, 'report')} not reached`;
  const isLate = websites.some(({ limit }) => limit === 'deadline');
  return isLate
    ? `: its deadline of ${longTime(deadline_seconds * 1000)} leaves ${left}`
    : `: reports.max_per_run leaves ${left}`;
}

/** `2026-11-22 05:47 (Europe/Berlin)` */
function localTime(iso: string, timeZone: string): string {
  const fields = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
  return `${new Intl.DateTimeFormat('sv-SE', { timeZone, ...fields }).format(new Date(iso))} (${timeZone})`;
}

function tables(forecast: Forecast, width: number | undefined): string {
  const { websites, keys } = forecast;
  const parts = [websiteTable(forecast, width), reasonTable(websites, width)];
  return (keys.length > 1 ? [...parts, keyTable(forecast, width)] : parts).filter((part) => part !== '').join('\n');
}

function websiteTable({ websites, younger_than_days }: Forecast, width: number | undefined): string {
  const young = `all under ${younger_than_days} d`;
  const figures = ['pages', 'listing', 'wanted', 'reached', 'not reached', young];
  return formatTable(
    ['website', ...figures.map(right)],
    websites.map((website) => [
      nameOf(website),
      count(website.pages),
      count(website.listing_requests),
      count(website.wanted.total),
      count(website.reached.total),
      count(website.not_reached.total),
      nightsText(website.nights_until_young),
    ]),
    { width },
  );
}

function nightsText(nights: number | null): string {
  if (nights === null) return 'never';
  return nights === 0 ? 'now' : many(nights, 'night');
}

/** Why reports are wanted, a line for each reason that there is. */
function reasonTable(websites: readonly PlannedWebsite[], width: number | undefined): string {
  const isOne = websites.length === 1;
  const rows = websites.flatMap((website) =>
    REASONS.filter((reason) => website.wanted[reason] > 0).map((reason) => [
      ...(isOne ? [] : [nameOf(website)]),
      reason,
      ...[website.wanted, website.reached, website.not_reached].map((counts) => count(counts[reason])),
    ]),
  );
  const columns = [...(isOne ? [] : ['website']), 'reason', ...['wanted', 'reached', 'not reached'].map(right)];
  return rows.length > 0 ? formatTable(columns, rows, { width }) : '';
}

/** Where each key's token stands, and how long it works. */
function keyTable({ keys, time_zone }: Forecast, width: number | undefined): string {
  return formatTable(
    ['key', right('websites'), right('requests'), right('takes'), 'ends at'],
    keys.map((key) => [
      key.key,
      count(key.website_ids.length),
      count(key.requests),
      key.duration_seconds === null ? '' : longTime(key.duration_seconds * 1000),
      key.ends_at === null ? '' : localTime(key.ends_at, time_zone),
    ]),
    { width },
  );
}

function right(name: string): Column {
  return { name, align: 'right' };
}

function notReachedLines({ websites }: Forecast): string[] {
  const cut = websites.filter(({ not_reached }) => not_reached.total > 0);
  const lines = cut.slice(0, CUTS_TOLD).map((website) => {
    const { not_reached: left, first_not_reached: first } = website;
    const reasons = REASONS.filter((reason) => left[reason] > 0).map((reason) => `${count(left[reason])} ${reason}`);
    const page = first ? `; the first of them: ${first.url} (${first.reason}, ${reportText(first)})` : '';
    return `Not reached of ${nameOf(website)}: ${reasons.join(', ')}${page}`;
  });
  return cut.length > CUTS_TOLD ? [...lines, `… and of ${cut.length - CUTS_TOLD} more websites: --json`] : lines;
}

function reportText({ report_age_days: days }: WantedPage): string {
  if (days === null) return 'no report yet';
  return days === 0 ? 'its report is less than a day old' : `its report is ${many(days, 'day')} old`;
}

/** The first of each website, then the second of each, because websites are fetched side by side. */
function firstPages({ websites }: Forecast, width: number | undefined): string {
  const most = Math.max(0, ...websites.map(({ first_pages }) => first_pages.length));
  const pages = websites
    .flatMap((website) => website.first_pages.map((page) => ({ ...page, website: nameOf(website) })))
    .sort((one, other) => one.place - other.place)
    .slice(0, most);
  if (pages.length === 0) return '';
  const isOne = websites.length === 1;
  const table = formatTable(
    [right('place'), 'why', right('report age'), ...(isOne ? [] : ['website']), 'comes first'],
    pages.map(({ place, reason, report_age_days, website, url }) => {
      const age = report_age_days === null ? 'none' : many(report_age_days, 'day');
      return [count(place), reason, age, ...(isOne ? [] : [website]), url];
    }),
    { width },
  );
  return table;
}

function youngLines({ websites, younger_than_days, max_reports }: Forecast): string[] {
  if (max_reports === 0) return [];
  return websites.flatMap((website) => {
    const { nights_until_young: nights, never_young_because: because } = website;
    if (nights !== null || because === null) return [];
    return [`Reports of ${nameOf(website)} are never all younger than ${many(younger_than_days, 'day')}: ${because}.`];
  });
}

/** What is only guessed, said plainly. */
function estimateLines({ websites }: Forecast): string[] {
  const known = websites.filter(({ basis }) => basis !== 'service');
  const mute = known.filter(({ expected }) => expected === null).map(nameOf);
  const guessed = known.flatMap(({ expected }) => (expected ? [expected] : []));
  const listings = Math.max(0, ...guessed.map(({ snapshots }) => snapshots));
  const moved = count(sum(guessed.map(({ changed, recrawled }) => changed + recrawled)));
  const [fresh, missing] = [guessed.map((one) => one.new), guessed.map((one) => one.missing)].map(sum).map(count);
  const estimate = `An estimate from the last ${listings === 1 ? 'listing' : `${listings} listings`}: tonight brings about ${moved} changed or recrawled pages, ${fresh} new and ${missing} missing ones. They are counted above, before the oldest.`;
  return [
    ...(guessed.length > 0 ? [estimate] : []),
    ...(mute.length > 0
      ? [`Fewer than 2 complete listings, so what changes tonight is not counted: ${shortList(mute)}.`]
      : []),
  ];
}

function shortList(names: readonly string[]): string {
  const more = names.length - NAMES_TOLD;
  return `${names.slice(0, NAMES_TOLD).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function noteLines(forecast: Forecast, { withoutTokens, out }: PlanTextOptions): string[] {
  const { unfinished_run, requests_sent, keys, websites } = forecast;
  const failing = sum(websites.map((website) => website.pages_keep_failing));
  const never = sum(websites.map((website) => website.pages_never_fetched));
  return [
    ...keys.flatMap(slowText),
    ...(never > 0 ? [`${many(never, 'report')} never fetched, by reports.priority.never.`] : []),
    ...(failing > 0
      ? [
          `${many(failing, 'report')} kept failing: last in the plan, and not counted as under ${forecast.younger_than_days} days or over.`,
        ]
      : []),
    ...(unfinished_run ? ['A run is under way or was interrupted: the next sync goes on with it first.'] : []),
    ...(withoutTokens ? ['No token can be read here: all websites are taken to share one key.'] : []),
    ...(requests_sent > 0 ? [`This plan took ${many(requests_sent, 'request')}.`] : []),
    ...(out === undefined ? [] : [`Every wanted page is in ${out}.`]),
  ];
}

function slowText({
  key,
  requests_per_minute: pace,
  measured_requests_per_minute: measured,
  requests,
}: Forecast['keys'][number]): string[] {
  if (pace === null || measured === null || requests < REQUESTS_THAT_TELL || measured >= pace * SLOW) return [];
  return [
    `The last run with ${key} made ${count(measured)} requests a minute of the ${count(pace)} that are allowed: tonight may take ${count(Number((pace / measured).toFixed(1)))} times as long.`,
  ];
}

function nameOf({ website_name, website_id }: PlannedWebsite): string {
  return website_name ?? website_id;
}
