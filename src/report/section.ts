import { askOf, askRows } from '../analysis/ask-rows.js';
import type { Reader } from '../analysis/reader.js';
import type { Age } from '../html/charts/bar-charts.js';
import type { Day } from '../html/charts/trend-chart.js';
import { type Headline, totalOf } from './headline.js';
import type { Period } from './period.js';
import {
  type CommonRow,
  crawlAgeRow,
  type DeindexedRow,
  type DirectoryRow,
  type DriftRow,
  deindexedCommonRow,
  deindexedRow,
  directoryRow,
  driftRow,
  type FlipRow,
  flipCommonRow,
  flipRow,
  type RejectedRow,
  rejectedRow,
  reportAgeRow,
  type SnapshotRow,
  type StaleRow,
  staleRow,
  type TransitionRow,
  type TrendRow,
  transitionRow,
  type WebsiteRow,
} from './rows.js';
import { trendOf } from './trend.js';

const PAGES_LISTED = 100;
const STALE_PAGES_LISTED = 10;
const DIRECTORIES_LISTED = 10;
const COMMON_LISTED = 12;
const COMMON_READ = 60;
const ODDITIES_LISTED = 10;
/** Pages that were not crawled for so many days are told: where a span of `SPANS` begins. */
export const STALE_DAYS = 31;
/** The spans of the macro `age_span`, and those of them that are stale. */
const SPANS = ['0-1 days', '2-7 days', '8-14 days', '15-30 days', '31-90 days', 'over 90 days', 'never'];
const STALE_SPANS = new Set(SPANS.slice(4));
/** What more than this much more of the changed pages have than of all pages stands out. */
const LEAST_EXCESS = 0.02;

/** What is known of one website before its section is read. */
export interface WebsiteFacts {
  website: WebsiteRow;
  /** Up to the end of the period. */
  trend: TrendRow[];
  /** Those that the trend shows, oldest first. */
  snapshots: SnapshotRow[];
  headline: Headline;
  /** How often pages fell out of the index; one that did twice counts twice. */
  deindexed_times: number;
  /** How often canonicals flipped, those that were chosen and those that were declared. */
  canonical_flip_times: number;
}

/** What a report tells of one website, or of many together. */
export interface Section {
  websites: WebsiteFacts[];
  headline: Headline;
  trend: Day[];
  transitions: Omit<TransitionRow, 'website_id'>[];
  directories: DirectoryRow[];
  deindexed: { rows: DeindexedRow[]; total: number; common: CommonRow[] };
  flips: { rows: FlipRow[]; total: number; common: CommonRow[] };
  crawl_ages: Age[];
  stale: { rows: StaleRow[]; total: number };
  report_ages: Age[];
  drift: DriftRow[];
  rejected: RejectedRow[];
}

/** Reads the section of these websites: one, or all that the warehouse has. */
export async function readSection(reader: Reader, websites: WebsiteFacts[], period: Period): Promise<Section> {
  const [first, second] = websites;
  const website = first && !second ? first.website.website_id : null;
  return {
    websites,
    headline: totalOf(websites.map(({ headline }) => headline)),
    trend: trendOf(
      websites.flatMap(({ trend }) => trend),
      websites.flatMap(({ snapshots }) => snapshots),
      period.shown,
    ),
    ...(await readMoves(reader, { website, websites, period })),
    ...(await readChangedPages(reader, { website, websites, period })),
    ...(await readAges(reader, website)),
    ...(await readOddities(reader, website, period)),
  };
}

interface Scope {
  /** Its id; null for all. */
  website: string | null;
  websites: readonly WebsiteFacts[];
  period: Period;
}

async function readMoves(
  reader: Reader,
  { website, websites, period: { since, until } }: Scope,
): Promise<Pick<Section, 'transitions' | 'directories'>> {
  return {
    transitions: together(await askOf(reader, 'state_transitions', transitionRow, website, { since, until })),
    directories: await askRows(reader, 'report/directories', directoryRow, {
      website,
      since,
      until,
      now: websites.flatMap(({ website: { now_id } }) => now_id ?? []),
      before: websites.flatMap(({ website: { before_id } }) => before_id ?? []),
      limit: DIRECTORIES_LISTED,
    }),
  };
}

async function readChangedPages(
  reader: Reader,
  { website, websites, period: { since, until } }: Scope,
): Promise<Pick<Section, 'deindexed' | 'flips'>> {
  const total = (key: 'deindexed_times' | 'canonical_flip_times') =>
    websites.reduce((added, facts) => added + facts[key], 0);
  const reindexed = 'true';
  const limit = String(PAGES_LISTED);
  const common = await askOf(reader, 'deindexed_in_common', deindexedCommonRow, website, {
    ...{ since, until, reindexed },
    limit: String(COMMON_READ),
  });
  const flipsCommon = { website, since, until, limit: COMMON_READ };
  return {
    deindexed: {
      rows: await askOf(reader, 'deindexed_pages', deindexedRow, website, { since, until, reindexed, limit }),
      total: total('deindexed_times'),
      common: standingOut(common),
    },
    flips: {
      rows: await askOf(reader, 'canonical_flips', flipRow, website, { since, until, limit }),
      total: total('canonical_flip_times'),
      common: standingOut(await askRows(reader, 'report/flips_in_common', flipCommonRow, flipsCommon)),
    },
  };
}

function standingOut(rows: readonly CommonRow[]): CommonRow[] {
  return rows.filter(({ share, overall_share }) => share - overall_share >= LEAST_EXCESS).slice(0, COMMON_LISTED);
}

async function readAges(
  reader: Reader,
  website: string | null,
): Promise<Pick<Section, 'crawl_ages' | 'stale' | 'report_ages'>> {
  const crawls = await askOf(reader, 'crawl_freshness', crawlAgeRow, website);
  const reports = await askOf(reader, 'report_ages', reportAgeRow, website);
  const given = { days: String(STALE_DAYS), limit: String(STALE_PAGES_LISTED) };
  const ages = agesOf(crawls.map(({ last_crawl, pages }) => ({ span: last_crawl, pages })));
  return {
    crawl_ages: ages,
    stale: {
      rows: await askOf(reader, 'pages_not_crawled', staleRow, website, given),
      total: ages.reduce((added, { span, pages }) => added + (STALE_SPANS.has(span) ? pages : 0), 0),
    },
    report_ages: agesOf(reports.map(({ report_age, pages }) => ({ span: report_age, pages }))),
  };
}

/** Every span, also those without a page; of several websites together. */
function agesOf(ages: readonly Age[]): Age[] {
  return SPANS.map((span) => ({
    span,
    pages: ages.reduce((added, age) => added + (age.span === span ? age.pages : 0), 0),
  }));
}

async function readOddities(
  reader: Reader,
  website: string | null,
  { since, until }: Period,
): Promise<Pick<Section, 'drift' | 'rejected'>> {
  const drift = await askOf(reader, 'drift_diary', driftRow, website, { since });
  return {
    drift: drift.filter(({ first_seen_date }) => first_seen_date <= until),
    rejected: await askRows(reader, 'report/rejected', rejectedRow, { website, since, until, limit: ODDITIES_LISTED }),
  };
}

/** The moves of several websites as one, most pages first. */
function together(rows: readonly TransitionRow[]): Omit<TransitionRow, 'website_id'>[] {
  const moves = new Map<string, Omit<TransitionRow, 'website_id'>>();
  for (const { from_state, to_state, pages } of rows) {
    const key = JSON.stringify([from_state, to_state]);
    moves.set(key, { from_state, to_state, pages: pages + (moves.get(key)?.pages ?? 0) });
  }
  return [...moves.values()].sort((one, other) => other.pages - one.pages);
}
