import { Gauge, Registry } from 'prom-client';
import type { Status } from './status.js';
import { nameOf, type WebsiteStatus } from './website-status.js';

type Value = number | boolean | null | undefined;
/** Gauges by their names without `indexhouse_`: what each says, and how it is read. An unknown value makes no series. */
type Gauges<Of> = Record<string, [help: string, value: (of: Of) => Value]>;

const seconds = (time: string | null | undefined) => (time ? Date.parse(time) / 1000 : null);

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
  report_age_p90_seconds: ['90th percentile of these ages.', (pages) => pages.p90_report_seconds],
  report_age_max_seconds: ['Age of the oldest report of a monitored page.', (pages) => pages.oldest_report_seconds],
};

const OF_A_RUN: Gauges<NonNullable<WebsiteStatus['last_run']>> = {
  last_run_success: ['Whether the last run committed a snapshot.', (run) => run.outcome === 'committed'],
  last_run_duration_seconds: [
    'How long the last run took.',
    (run) => (Date.parse(run.finished_at) - Date.parse(run.started_at)) / 1000,
  ],
  last_run_requests: ['Requests of the last run.', (run) => run.requests_sent],
  last_run_requests_throttled: ['Requests of it that were answered with 429.', (run) => run.requests_throttled],
  last_run_requests_retried: ['Retries of the last run.', (run) => run.requests_retried],
  last_run_utilisation: ['Share of the requests that its pace allowed, 0 to 1.', (run) => run.utilisation],
};

const OF_THE_WAREHOUSE: Gauges<Status> = {
  websites: ['Websites that are configured or in the warehouse.', ({ websites }) => websites.length],
  damaged_files: ['Files of the warehouse that cannot be read.', ({ damaged }) => damaged.length],
  proven_since_timestamp_seconds: ['Since when every file is proven by its SHA-256.', (of) => seconds(of.proven_since)],
  notices_waiting: ['Notices that wait.', ({ notices }) => notices.reduce((sum, one) => sum + one.notices, 0)],
  last_night_good: ['Whether all was as it should be since the last night.', ({ last_night }) => last_night.is_good],
  warnings: ['Lines that `indexhouse status` warns with.', ({ warnings }) => warnings.length],
  exit_code: ['Exit code of `indexhouse status`: 0, 1 or 3.', ({ exit_code }) => exit_code],
  waiting_since_timestamp_seconds: ['Since when the run waits.', ({ waiting }) => seconds(waiting?.since)],
  running: ['Whether a sync or another writing command is running.', ({ running }) => running !== null],
  checked_timestamp_seconds: ['When these figures were read.', ({ checked_at }) => seconds(checked_at)],
};

/** Only this many websites get series of their own. */
const MOST_WEBSITES = 1000;
const NAME_CHARACTERS = 200;

/** Registers gauges of some things, each with its labels. */
function register<Of>(
  registry: Registry,
  gauges: Gauges<Of>,
  all: readonly (readonly [labels: Record<string, string>, of: Of])[],
): void {
  for (const [name, [help, value]] of Object.entries(gauges)) {
    const known = all.map(([labels, of]) => [labels, value(of)] as const).filter(([, figure]) => figure != null);
    // prom-client shows a gauge without a series as 0.
    if (known.length === 0) continue;
    const labelNames = Object.keys(known[0]?.[0] ?? {});
    const gauge = new Gauge({ name: `indexhouse_${name}`, help, labelNames, registers: [registry] });
    for (const [labels, figure] of known) gauge.set(labels, Number(figure));
  }
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
  const states = ofShown(status.page_states).map(
    ([labels, state]) => [{ ...labels, verdict: state.verdict, state: state.state }, state] as const,
  );
  const registry = new Registry();
  register(registry, { snapshots: ['Snapshots in the warehouse.', (of) => of.snapshots] }, ofShown(websites));
  register(registry, OF_A_SNAPSHOT, partsOf('last_snapshot'));
  register(registry, OF_ITS_PAGES, partsOf('pages'));
  register(registry, OF_A_RUN, partsOf('last_run'));
  const ofStates = 'Monitored pages by verdict and coverage state; other: one that the contract does not know.';
  register(registry, { pages: [ofStates, ({ pages }) => pages] }, states);
  const ofQuarantine = 'Records of the newest snapshot that are in quarantine.';
  register(registry, { quarantine_records: [ofQuarantine, ({ records }) => records] }, ofShown(status.quarantine));
  const followers = status.followers.map((one) => [{ follower: one.name }, one] as const);
  register(registry, { follower_behind: ['Snapshots that a follower lacks.', ({ behind }) => behind] }, followers);
  register(registry, OF_THE_WAREHOUSE, [[{}, status]]);
  const { sentence } = status.last_night;
  register(registry, { last_night_info: ['The verdict on the last night as a sentence.', () => 1] }, [
    [{ sentence }, null],
  ]);
  return registry.metrics();
}
