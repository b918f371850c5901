import type { Marker } from '../../warehouse/log/markers.js';
import type { Moment } from '../api/store.js';

/** The commits that make up a website's listing at a moment. */
export interface ServedCommits {
  /** The newest of them: with the same moment, it names the same commits forever. */
  version: string;
  /** The last complete listing and what came after it: later ones that are partial. */
  listing: Marker[];
  /** Earlier commits, for pages whose entry in the listing is in quarantine. */
  earlier: Marker[];
}

/**
 * Finds the commits of one website that a request sees: what had been observed by then.
 *
 * A listing belongs to the date on which it began, and was observed when its last entry was. A listing whose rows
 * retention dropped is ignored.
 *
 * A client in the middle of a walk names the newest commit that its first window showed. It continues with the same
 * listing, even if retention dropped that meanwhile, because the files stay for an hour.
 *
 * @param markers of the website, oldest first
 * @param version the newest that may be seen, or null
 * @param wasListedBy whether all entries of a snapshot had been listed by a time
 * @returns null if nothing had been observed yet
 */
export async function commitsAt(
  markers: readonly Marker[],
  moment: Moment,
  version: string | null,
  wasListedBy: (snapshot: Marker, time: Date) => Promise<boolean>,
): Promise<ServedCommits | null> {
  const upTo = version === null ? markers : restored(markers.filter(({ snapshotId }) => snapshotId <= version));
  const snapshots = upTo.filter((marker) => !Object.hasOwn(marker.dropped, 'coverage') && hadBegun(marker, moment));
  // Drops the last ones that were not fully listed by then. Earlier ones were, because they follow one another.
  const time = moment && 'time' in moment ? moment.time : null;
  for (let last = snapshots.at(-1); time && last && !(await wasListedBy(last, time)); last = snapshots.at(-1))
    snapshots.pop();
  const newest = snapshots.at(-1);
  if (!newest) return null;
  const complete = snapshots.findLastIndex(({ listingComplete }) => listingComplete);
  const earlier = snapshots.splice(0, Math.max(0, complete));
  return { version: newest.snapshotId, listing: snapshots, earlier };
}

/** Restores what retention dropped since the last complete listing, because the walk may have begun before that. */
function restored(markers: readonly Marker[]): Marker[] {
  const base = markers.findLast(({ listingComplete }) => listingComplete) ?? markers[0];
  return markers.map((marker) => {
    if (!base || marker.snapshotId < base.snapshotId) return marker;
    return { ...marker, files: { ...marker.files, ...marker.dropped }, dropped: {} };
  });
}

function hadBegun({ date, snapshotAt }: Marker, moment: Moment): boolean {
  if (moment === null) return true;
  return 'date' in moment ? date <= moment.date : Date.parse(snapshotAt) <= moment.time.getTime();
}
