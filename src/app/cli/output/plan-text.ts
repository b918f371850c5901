import { costSentence } from '../../../answers/plan/cost.js';
import { inspectionSentence } from '../../../answers/plan/inspections.js';
import type { NextRun, NextRunOfWebsite, PlannedPage } from '../../../answers/plan/next-run.js';
import { nameOf } from '../../../answers/status/website-status.js';
import type { Config } from '../../../base/config/schema.js';
import { namesText } from '../../../base/observe/causes.js';
import { count, counted, duration } from '../../../base/observe/format.js';
import { safe } from '../../../base/observe/terminal.js';
import { REASONS } from '../../../warehouse/journal/plan.js';
import { recordTable } from './output.js';
import { wrapped } from './table.js';

/** Of so many pages the cost is shown where their number is unknown. */
const EXAMPLE_PAGES = 1000;
/** The others are those of Search Console. */
const OF_SEARCH_CONSOLE = ['asked', 'silent', 'modified', 'contradicted', 'shown', 'ended', 'turn'];
const OF_SERVICE = REASONS.filter((reason) => !OF_SEARCH_CONSOLE.includes(reason));

/**
 * The plan for people: how many requests, how long, when everything is fresh, and what comes first.
 *
 * @param width cells of the terminal; undefined for a file or a pipe, where nothing is shortened or wrapped
 */
export function planText(plan: NextRun, config: Config, width: number | undefined): string {
  const { websites } = plan;
  const paragraphs = (texts: string[]) => texts.map((text) => `${wrapped(safe(text), width)}\n`).join('');
  const named = (website: NextRunOfWebsite) => (websites.length === 1 ? {} : { website: nameOf(website) });
  const blocks = [
    paragraphs(unknownLines(plan, config)),
    paragraphs(websites.length === 0 ? [] : [costLine(plan, config), ...freshLines(plan, config)]),
    recordTable(
      websites.map(({ pages, listing_requests: listing, wanted, reached, ...website }) => ({
        website: nameOf(website),
        pages,
        listing,
        wanted: wanted.total,
        reached,
        ...Object.fromEntries(OF_SERVICE.map((reason) => [reason, wanted[reason]])),
      })),
      { width },
    ),
    // The first of each website, then the second of each, because websites are fetched side by side.
    recordTable(
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
      { width, right: ['report age'] },
    ),
    paragraphs([...plan.properties.map(inspectionSentence), ...noteLines(plan)]),
  ];
  return blocks.filter((block) => block !== '').join('\n');
}

/** What cannot be known before the first listing, and how to get to know it. */
function unknownLines(plan: NextRun, config: Config) {
  const { websites, properties, unknown_websites: unknown } = plan;
  if (unknown.length === 0 && (websites.length > 0 || properties.length > 0)) return [];
  const names = unknown.length > 0 ? `${namesText(unknown.map(nameOf))}: no` : 'No';
  return [
    `${names} snapshot yet, so the number of pages is unknown. \`indexhouse sync\` creates the first one; with \`--max-reports 0\` it only lists the pages, and then this plan is complete.`,
    ...(config.api.base_url === '' ? [] : [`For example, ${costSentence(EXAMPLE_PAGES, config)}`]),
  ];
}

function costLine({ totals, websites }: NextRun, { api, warehouse }: Config): string {
  const { requests, listing_requests: listing, reached, duration_seconds: takes, ends_at } = totals;
  const cost = `The next run takes ${counted(requests, 'request')}: ${count(listing)} for the listing${reached > 0 ? `, ${count(reached)} for reports` : ''}.`;
  if (takes === null || ends_at === null) {
    return `${cost} How long that takes is unknown, because the rate is unlimited.`;
  }
  const at = `At ${counted(api.requests_per_minute, 'request')} a minute${keysText(websites)}`;
  return `${cost} ${at} that is ${duration(takes * 1000)}: started now, it ends at ${localTime(ends_at, warehouse)}.`;
}

function keysText(websites: readonly NextRunOfWebsite[]): string {
  const keys = new Set(websites.map(({ key }) => key)).size;
  return keys > 1 ? ` for each of ${keys} keys` : '';
}

/** What is left out, and after how many nights everything is fetched. */
function freshLines(
  { totals, websites, unknown_websites: unknown }: NextRun,
  { reports, warehouse }: Config,
): string[] {
  const { wanted, reached, nights_until_fresh: nights, fresh_after: after } = totals;
  if (reports.max_per_run === 0) return ['No report is fetched: reports.max_per_run is 0.'];
  if (wanted === 0) return unknown.length > 0 ? [] : [`Everything is fresh: no report is due.`];
  const estimate = 'An estimate: what the next listing changes is not known yet and comes before the oldest reports.';
  if (wanted === reached) return [`Then every report that is due is fetched. ${estimate}`];
  const limits = new Set(websites.flatMap(({ limit }) => (limit ? [`reports.${limit}`] : [])));
  const left = `${counted(wanted - reached, 'report')} of ${count(wanted)} ${wanted - reached === 1 ? 'is' : 'are'} left for later nights because of ${[...limits].join(' and ')}.`;
  if (nights === null) {
    return [`${left} At this rate they are never all fetched, because more come due each night than it reaches.`];
  }
  const date = after === null ? '' : `, that of ${localTime(after, warehouse)}`;
  return [`${left} Everything is fresh after ${counted(nights, 'night')} like this one${date}. ${estimate}`];
}

/** `2026-11-22 05:47 (Europe/Berlin)` */
function localTime(iso: string, { time_zone: timeZone }: Config['warehouse']): string {
  const fields = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
  return `${new Intl.DateTimeFormat('sv-SE', { timeZone, ...fields }).format(new Date(iso))} (${timeZone})`;
}

function ageText({ report_age_days: days }: PlannedPage): string {
  return days === null ? 'none' : counted(days, 'day');
}

function noteLines({ websites, unfinished_run }: NextRun): string[] {
  const total = (of: 'pages_keep_failing' | 'pages_never_fetched') =>
    websites.reduce((all, website) => all + website[of], 0);
  const failing = total('pages_keep_failing');
  const never = total('pages_never_fetched');
  return [
    ...(never > 0 ? [`${counted(never, 'report')} never fetched, by reports.priority.never.`] : []),
    ...(failing > 0 ? [`${counted(failing, 'report')} kept failing: last in the plan.`] : []),
    ...(unfinished_run ? ['A run is in progress or was interrupted: the next sync finishes it first.'] : []),
  ];
}
