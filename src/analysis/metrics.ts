import { Gauge, Registry } from 'prom-client';
import type { Status } from './status.js';
import type { WebsiteStatus } from './website-status.js';

type Value = number | boolean | null | undefined;

/** Gauges of each website, by their names behind `indexhouse_`. */
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
  last_run_utilisation: {
    help: 'Share of the requests that the pace of the last run allowed, 0 to 1.',
    value: ({ last_run }) => last_run?.utilisation,
  },
};

/**
 * How the warehouse is doing, in Prometheus' text format. Labels are websites and followers, so there are never many
 * series.
 */
export async function metricsOf(status: Status): Promise<string> {
  const registry = new Registry();
  const { websites, followers, quarantine, damaged, warnings, running } = status;
  const labelsOf = ({ website_id, website_name }: WebsiteStatus) => ({
    website_id,
    website: website_name ?? website_id,
  });
  const gauge = (name: string, help: string, series: [labels: Record<string, string>, value: Value][]) => {
    const known = series.filter(([, value]) => value !== null && value !== undefined);
    const labelNames = Object.keys(known[0]?.[0] ?? {});
    const made = new Gauge({ name: `indexhouse_${name}`, help, labelNames, registers: [registry] });
    for (const [labels, value] of known) made.set(labels, Number(value));
  };
  for (const [name, { help, value }] of Object.entries(OF_A_WEBSITE)) {
    gauge(
      name,
      help,
      websites.map((website) => [labelsOf(website), value(website)]),
    );
  }
  gauge(
    'quarantine_records',
    'Records in quarantine that no replay has taken.',
    quarantine.map(({ website_id, waiting }) => [{ website_id }, waiting]),
  );
  gauge(
    'follower_behind',
    'Snapshots that a follower lacks.',
    followers.map(({ name, behind }) => [{ follower: name }, behind]),
  );
  gauge('damaged_files', 'Files of the warehouse that cannot be read.', [[{}, damaged.length]]);
  gauge('warnings', 'Lines that `indexhouse status` warns with.', [[{}, warnings.length]]);
  gauge('running', 'Whether a sync or another writing command is under way.', [[{}, running !== null]]);
  gauge('checked_timestamp_seconds', 'When these figures were read.', [[{}, Date.parse(status.checked_at) / 1000]]);
  return registry.metrics();
}
