import { type Marker, markersOf } from '../../warehouse/markers.js';

/** The newest dates that a website has snapshots of, the newest first. */
export function newestDates(markers: readonly Marker[], website: string, nights: number): string[] {
  const dates = markersOf(markers, website).flatMap(({ kind, date }) => (kind === 'snapshot' ? [date] : []));
  return [...new Set(dates)].sort().reverse().slice(0, nights);
}
