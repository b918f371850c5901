import { Gauge, Registry } from 'prom-client';
import type { Status } from './status.js';
import { nameOf, type WebsiteStatus } from './website-status.js';

type Value = number | boolean | null | undefined;
/** Gauges by their names without `indexhouse_`: what each says, and how it is read. An unknown value makes no series. */
type Gauges<Of> = Record<string, [help: string, value: (of: Of) => Value]>;

const OF_A_WEBSITE: Gauges<WebsiteStatus> = {
  snapshots: ['Snapshots in the warehouse.', ({ snapshots }) => snapshots],
};

const OF_A_SNAPSHOT: Gauges<NonNullable<WebsiteStatus['last_snapshot']>> = {
  snapshot_age_seconds: ['Age of the newest snapshot.', (last) => last.age_seconds],
  listing_complete: ['Whether the newest listing is complete.', (last) => last.listing_status === 'complete'],
  pages_listed: ['Pages of the newest listing.', (last) => last.pages_listed],
  pages_rejected: ['Entries of the newest listing that break the contract.', (last) => last.pages_rejected],
  reports_fetched: ['Reports of the newest snapshot.', (last) => last.reports_fetched],
  reports_failed: ['Reports of the newest snapshot that could not be fetched.', (last) => last.reports_failed],
  reports_rejected: ['Reports of the newest snapshot that break the contract.', (last) => last.reports_rejected],
};

const OF_ITS_PAGES: Gauges<NonNullable<WebsiteStatus['pages']>> = {
  pages_monitored: ['Pages that are monitored now.', (pages) => pages.monitored],
  pages_with_report: ['Monitored pages with a report.', (pages) => pages.with_report],
  report_age_median_seconds: ['Median age of the reports of monitored pages.', (pages) => pages.median_report_seconds],
  report_age_p90_seconds: [
    '90th percentile of the ages of the reports of monitored pages.',
    (pages) => pages.p90_report_seconds,
  ],
  report_age_max_seconds: ['Age of the oldest report of a monitored page.', (pages) => pages.oldest_report_seconds],
};

const OF_A_RUN: Gauges<NonNullable<WebsiteStatus['last_run']>> = {
  last_run_success: ['Whether the last run committed a snapshot.', (run) => run.outcome === 'committed'],
  last_run_duration_seconds: [
    'How long the last run took.',
    (run) => (Date.parse(run.finished_at) - Date.parse(run.started_at)) / 1000,
  ],
  last_run_requests: ['Requests of the last run.', (run) => run.requests_sent],
  last_run_requests_throttled: [
    'Requests of the last run that were answered with 429.',
    (run) => run.requests_throttled,
  ],
  last_run_requests_retried: ['Retries of the last run.', (run) => run.requests_retried],
  last_run_utilisation: [
    'Share of the requests that the pace of the last run allowed, 0 to 1.',
    (run) => run.utilisation,
  ],
};

const OF_A_QUARANTINE: Gauges<Status['quarantine'][number]> = {
  quarantine_records: ['Records of the newest snapshot that are in quarantine.', ({ records }) => records],
};

const OF_A_FOLLOWER: Gauges<Status['followers'][number]> = {
  follower_behind: ['Snapshots that a follower lacks.', ({ behind }) => behind],
};

const OF_THE_WAREHOUSE: Gauges<Status> = {
  websites: ['Websites that are configured or in the warehouse.', ({ websites }) => websites.length],
  damaged_files: ['Files of the warehouse that cannot be read.', ({ damaged }) => damaged.length],
  notices_waiting: [
    'Notices that a channel has not accepted yet.',
    ({ notices }) => notices.reduce((sum, waiting) => sum + waiting.notices, 0),
  ],
  last_night_good: ['Whether all was as it should be since the last night.', ({ last_night }) => last_night.is_good],
  warnings: ['Lines that `indexhouse status` warns with.', ({ warnings }) => warnings.length],
  exit_code: [
    'Exit code of `indexhouse status`: 0, 1 if a website got no snapshot in its last run, 3 for other warnings.',
    ({ exit_code }) => exit_code,
  ],
  waiting_since_timestamp_seconds: [
    'Since when the run waits for an outage or a pause to end.',
    ({ waiting }) => waiting && Date.parse(waiting.since) / 1000,
  ],
  running: ['Whether a sync or another writing command is running.', ({ running }) => running !== null],
  checked_timestamp_seconds: ['When these figures were read.', ({ checked_at }) => Date.parse(checked_at) / 1000],
};

/** Only this many websites get series of their own. */
const MOST_WEBSITES = 1000;
const NAME_CHARACTERS = 200;

interface Figure {
  name: string;
  help: string;
  series: [labels: Record<string, string>, value: Value][];
}

/** The gauges of some things, each with its labels. */
function figuresOf<Of>(gauges: Gauges<Of>, all: readonly (readonly [Record<string, string>, Of])[]): Figure[] {
  return Object.entries(gauges).map(([name, [help, value]]) => ({
    name,
    help,
    series: all.map(([labels, of]) => [labels, value(of)]),
  }));
}

/** Figures in Prometheus' text format. */
function metricsText(figures: readonly Figure[]): Promise<string> {
  const registry = new Registry();
  for (const { name, help, series } of figures) {
    const known = series.filter(([, value]) => value !== null && value !== undefined);
    // prom-client shows a gauge without a series as 0.
    if (known.length === 0) continue;
    const labelNames = Object.keys(known[0]?.[0] ?? {});
    const gauge = new Gauge({ name: `indexhouse_${name}`, help, labelNames, registers: [registry] });
    for (const [labels, value] of known) gauge.set(labels, Number(value));
  }
  return registry.metrics();
}

/**
 * How the warehouse is doing, in Prometheus' text format. Labels are websites, states that the contract knows, and
 * followers, so there are never many series.
 */
export function metricsOf(status: Status): Promise<string> {
  const websites = status.websites.filter(({ is_configured }) => is_configured).slice(0, MOST_WEBSITES);
  const labelsOf = (website: WebsiteStatus) => ({
    website_id: website.website_id,
    website: nameOf(website).slice(0, NAME_CHARACTERS),
  });
  const shown = new Map(websites.map((website) => [website.website_id, labelsOf(website)] as const));
  const ofShown = <T extends { website_id: string }>(all: readonly T[]) =>
    all.flatMap((one) => {
      const labels = shown.get(one.website_id);
      return labels ? [[labels, one] as const] : [];
    });
  const partsOf = <Part extends 'last_snapshot' | 'pages' | 'last_run'>(part: Part) =>
    websites.flatMap((website) => (website[part] ? [[labelsOf(website), website[part]] as const] : []));
  const followers = status.followers.map((follower) => [{ follower: follower.name }, follower] as const);
  return metricsText([
    ...figuresOf(OF_A_WEBSITE, ofShown(websites)),
    ...figuresOf(OF_A_SNAPSHOT, partsOf('last_snapshot')),
    ...figuresOf(OF_ITS_PAGES, partsOf('pages')),
    ...figuresOf(OF_A_RUN, partsOf('last_run')),
    {
      name: 'pages',
      help: 'Monitored pages by verdict and coverage state; other: one that the contract does not know.',
      series: ofShown(status.page_states).map(([labels, { verdict, state, pages }]) => [
        { ...labels, verdict, state },
        pages,
      ]),
    },
    ...figuresOf(OF_A_QUARANTINE, ofShown(status.quarantine)),
    ...figuresOf(OF_A_FOLLOWER, followers),
    ...figuresOf(OF_THE_WAREHOUSE, [[{}, status]]),
    {
      name: 'last_night_info',
      help: 'The verdict on the last night as a sentence.',
      series: [[{ sentence: status.last_night.sentence }, 1]],
    },
  ]);
}
