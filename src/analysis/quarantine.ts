import type { Marker } from '../warehouse/markers.js';

/** How many records of a website break the contract, and what became of them. */
export interface QuarantineStatus {
  website_id: string;
  /** All that ever were rejected. */
  records: number;
  replayed: number;
  /** Those that no replay has taken. */
  waiting: number;
}

/** Counts what is quarantined of each website that has such records, from the markers alone. */
export function quarantineOf(markers: readonly Marker[]): QuarantineStatus[] {
  const counts = new Map<string, { records: number; replayed: number }>();
  for (const { kind, websiteId, files } of markers) {
    const rows = (table: string) => files[table]?.rows ?? 0;
    const count = counts.get(websiteId) ?? { records: 0, replayed: 0 };
    if (kind === 'snapshot') count.records += rows('rejected_records');
    else count.replayed += rows('coverage') + rows('url_reports');
    counts.set(websiteId, count);
  }
  return [...counts]
    .filter(([, { records }]) => records > 0)
    .map(([website_id, count]) => ({ website_id, ...count, waiting: count.records - count.replayed }));
}
