import { Gauge, Registry } from 'prom-client';
import type { Status } from './status.js';
import { nameOf, type WebsiteStatus } from './website-status.js';

type Value = number | boolean | null | undefined;

/** Gauges of each website, by their names without `indexhouse_`. */
const OF_A_WEBSITE: Record<string, { help: string; value: (website: WebsiteStatus) => Value }> = {
  snapshots: { help: 'Snapshots in the warehouse.', value: ({ snapshots }) => snapshots },
  snapshot_age_seconds: {
    help: 'Age of the newest snapshot.',
    value: ({ last_snapshot }) => last_snapshot?.age_seconds,
  },
  listing_complete: {
    help: 'Whether the newest listing is complete.',
    value: ({ last_snapshot }) => last_snapshot && last_snapshot.listing_status === 'complete',
  },
  pages_listed: { help: 'Pages of the newest listing.', value: ({ last_snapshot }) => last_snapshot?.pages_listed },
  pages_rejected: {
    help: 'Entries of the newest listing that break the contract.',
    value: ({ last_snapshot }) => last_snapshot?.pages_rejected,
  },
  pages_monitored: { help: 'Pages that are monitored now.', value: ({ pages }) => pages?.monitored },
  pages_with_report: { help: 'Monitored pages with a report.', value: ({ pages }) => pages?.with_report },
  report_age_median_seconds: {
    help: 'Median age of the reports of monitored pages.',
    value: ({ pages }) => pages?.median_report_seconds,
  },
  report_age_p90_seconds: {
    help: '90th percentile of the ages of the reports of monitored pages.',
    value: ({ pages }) => pages?.p90_report_seconds,
  },
  report_age_max_seconds: {
    help: 'Age of the oldest report of a monitored page.',
    value: ({ pages }) => pages?.oldest_report_seconds,
  },
  reports_fetched: {
    help: 'Reports of the newest snapshot.',
    value: ({ last_snapshot }) => last_snapshot?.reports_fetched,
  },
  reports_failed: {
    help: 'Reports of the newest snapshot that could not be fetched.',
    value: ({ last_snapshot }) => last_snapshot?.reports_failed,
  },
  reports_rejected: {
    help: 'Reports of the newest snapshot that break the contract.',
    value: ({ last_snapshot }) => last_snapshot?.reports_rejected,
  },
  last_run_success: {
    help: 'Whether the last run committed a snapshot.',
    value: ({ last_run }) => last_run && last_run.outcome === 'committed',
  },
  last_run_duration_seconds: {
    help: 'How long the last run took.',
    value: ({ last_run }) => last_run && (Date.parse(last_run.finished_at) - Date.parse(last_run.started_at)) / 1000,
  },
  last_run_requests: { help: 'Requests of the last run.', value: ({ last_run }) => last_run?.requests_sent },
  last_run_requests_throttled: {
    help: 'Requests of the last run that were answered with 429.',
    value: ({ last_run }) => last_run?.requests_throttled,
  },
  last_run_requests_retried: {
    help: 'Retries of the last run.',
    value: ({ last_run }) => last_run?.requests_retried,
  },
  last_run_utilisation: {
    help: 'Share of the requests that the pace of the last run allowed, 0 to 1.',
    value: ({ last_run }) => last_run?.utilisation,
  },
};

/** Gauges of the whole warehouse. */
const OF_THE_WAREHOUSE: Record<string, { help: string; value: (status: Status) => Value }> = {
  websites: { help: 'Websites that are configured or in the warehouse.', value: ({ websites }) => websites.length },
  damaged_files: { help: 'Files of the warehouse that cannot be read.', value: ({ damaged }) => damaged.length },
  notices_waiting: {
    help: 'Notices that a channel has not accepted yet.',
    value: ({ notices }) => notices.reduce((sum, waiting) => sum + waiting.notices, 0),
  },
  warnings: { help: 'Lines that `indexhouse status` warns with.', value: ({ warnings }) => warnings.length },
  exit_code: {
    help: 'Exit code of `indexhouse status`: 0, 1 if a website got no snapshot in its last run, 3 for other warnings.',
    value: ({ exit_code }) => exit_code,
  },
  waiting_since_timestamp_seconds: {
    help: 'Since when the run waits for an outage or a pause to end.',
    value: ({ waiting }) => waiting && Date.parse(waiting.since) / 1000,
  },
  running: {
    help: 'Whether a sync or another writing command is running.',
    value: ({ running }) => running !== null,
  },
  checked_timestamp_seconds: {
    help: 'When these figures were read.',
    value: ({ checked_at }) => Date.parse(checked_at) / 1000,
  },
};

/** Only this many websites get series of their own. */
const MOST_WEBSITES = 1000;
const NAME_CHARACTERS = 200;

/** One gauge and its series; an unknown value makes no series. */
export interface Figure {
  /** Without `indexhouse_`. */
  name: string;
  help: string;
  series: [labels: Record<string, string>, value: Value][];
}

/** Figures in Prometheus' text format. */
export function metricsText(figures: readonly Figure[]): Promise<string> {
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
  return metricsText([
    ...Object.entries(OF_A_WEBSITE).map(
      ([name, { help, value }]): Figure => ({
        name,
        help,
        series: ofShown(websites).map(([labels, website]) => [labels, value(website)]),
      }),
    ),
    {
      name: 'pages',
      help: 'Monitored pages by verdict and coverage state; other: one that the contract does not know.',
      series: ofShown(status.page_states).map(([labels, { verdict, state, pages }]) => [
        { ...labels, verdict, state },
        pages,
      ]),
    },
    {
      name: 'quarantine_records',
      help: 'Records in quarantine that no replay has committed.',
      series: ofShown(status.quarantine).map(([labels, { waiting }]) => [labels, waiting]),
    },
    {
      name: 'follower_behind',
      help: 'Snapshots that a follower lacks.',
      series: status.followers.map(({ name, behind }) => [{ follower: name }, behind]),
    },
    ...Object.entries(OF_THE_WAREHOUSE).map(
      ([name, { help, value }]): Figure => ({ name, help, series: [[{}, value(status)]] }),
    ),
  ]);
}
