import { UnreachableError } from '../exit.js';
import { diskRemedy } from '../storage/disk-error.js';
import type { EngineOptions } from '../storage/engine.js';
import { firstLine } from '../warehouse/damage.js';
import { lackingIn, type Marker, markersOf, newestMarkers } from '../warehouse/markers.js';
import type { OpenWarehouse } from '../warehouse/open.js';
import { currentState } from '../warehouse/state.js';

/** How far a follower is, as the receipt and `status` tell it. */
export interface FollowerState {
  name: string;
  /** Markers that it lacks. */
  behind: number;
  /** Why it lags, and what to do. */
  reason?: string;
}

/** One commit of the log, as a follower takes it. */
export interface Commit {
  marker: Marker;
  /** The file of the state that follows it; null unless it is the newest commit of its website. */
  state: string | null;
}

/**
 * What holds a copy of the log elsewhere. It keeps track of what it holds in that place alone, so that being killed,
 * resumed and rebuilt are one path. Data comes first, then the state, then the marker: a commit whose marker is there
 * is there as a whole.
 */
export interface Follower {
  /** Its name in the receipt, in `status` and in metrics. */
  readonly name: string;
  /** What messages call the copy. */
  readonly title: string;
  /** Ids of the commits that the copy holds, of snapshots and of replays. */
  known(): Promise<ReadonlySet<string>>;
  /** Takes a commit that the copy lacks, over whatever an attempt that died left of it. @throws UnreachableError */
  take(commit: Commit): Promise<void>;
  /** Removes the rows or files that tombstones put out of use. Called first, and with all tombstones each time. */
  drop(log: OpenWarehouse): Promise<void>;
  /** Brings over what belongs to no commit, such as `runs`, once all commits are taken. @returns what was skipped */
  finish(log: OpenWarehouse): Promise<string[]>;
}

/** A follower that can tell whether its copy is right, as `verify` wants to know. */
export interface CheckedFollower extends Follower {
  /** What makes a copy right that differs. */
  readonly remedy: string;
  /** How the copy differs from the commits that it holds: sentences; none where it does not. Reads only. */
  differences(log: OpenWarehouse): Promise<string[]>;
}

/**
 * Brings a follower up to date: every marker that it lacks, oldest first. A commit whose files cannot be read is
 * skipped, named, and tried again next time.
 *
 * @param engine for a state that has to be rebuilt
 * @throws UnreachableError, and where a disk is full
 */
export async function catchUp(follower: Follower, log: OpenWarehouse, engine: EngineOptions): Promise<FollowerState> {
  const { markers } = log;
  await follower.drop(log);
  const known = await follower.known();
  const newest = new Set(newestMarkers(markers));
  const skipped = log.damaged.map(({ path, reason }) => `${path} ${reason}`);
  // The state of a website follows from all of its commits.
  const torn = new Set(log.damaged.map(({ websiteId }) => websiteId));
  for (const marker of lackingIn(known, markers)) {
    const needsState = newest.has(marker) && !torn.has(marker.websiteId);
    try {
      const all = markersOf(markers, marker.websiteId);
      await follower.take({ marker, state: needsState ? await currentState(log.path, all, engine) : null });
    } catch (error) {
      if (error instanceof UnreachableError || diskRemedy(error)) throw error;
      const damaged = await log.findDamaged(marker);
      skipped.push(damaged ? `${damaged.path} ${damaged.reason}` : `${marker.path}: ${firstLine(error)}`);
    }
  }
  skipped.push(...(await follower.finish(log)));
  if (skipped.length === 0) return { name: follower.name, behind: 0 };
  const reason = `${follower.title} skipped ${skipped.length} snapshots or runs whose files cannot be read; the next sync tries them again. ${skipped[0]}`;
  return { name: follower.name, behind: skipped.length, reason };
}
