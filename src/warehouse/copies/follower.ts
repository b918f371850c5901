import { UnreachableError } from '../../base/exit.js';
import { counted } from '../../base/observe/format.js';
import { diskRemedy } from '../../base/storage/disk-error.js';
import { type EngineOptions, MemoryError } from '../../base/storage/engine.js';
import type { LockHolder } from '../../base/storage/locks.js';
import { checkAreFiles } from '../../base/storage/only-files.js';
import { firstLine } from '../log/folder/damage.js';
import type { Log } from '../log/log.js';
import { dataFilesOf, lackingIn, type Marker, markersOf, newestMarkers } from '../log/markers.js';
import { currentState } from '../log/state.js';

/** What messages call the followers, by their names. */
const TITLES: Readonly<Record<string, string>> = {
  duckdb: 'indexhouse.duckdb',
  analytics: 'analytics.duckdb',
  bucket: 'the bucket',
};

export function titleOf({ name }: { name: string }): string {
  return TITLES[name] ?? name;
}

/** How far a follower is, for the receipt. */
export interface FollowerState {
  name: string;
  /** Markers that it lacks. */
  behind: number;
  /** Why it lags, and what to do. */
  reason?: string;
}

/** How far a follower is, as `status` determines it without writing to it. */
export interface FollowerLag {
  name: string;
  /** Snapshots that it lacks. */
  behind: number;
  /** Rows of the log that it has, but the log does not; left out: none. */
  ahead?: number;
  /** False if the number is unknown: all commits count then, or, if the file is locked, those newer than the file. */
  exact: boolean;
  /** Who has the file open. */
  held: LockHolder | null;
  /** Why it cannot be read; null if it can be read or is only locked. */
  error: string | null;
}

/** What is wrong with a follower, and what to do; null if it is up to date. */
export function lagText({
  name,
  behind,
  ahead = 0,
  exact,
  held,
  error,
}: FollowerLag): { message: string; remedy: string } | null {
  const title = titleOf({ name });
  if (error && name === 'duckdb') {
    return { message: `${title} cannot be read (${error})`, remedy: 'delete it, and the next sync rebuilds it' };
  }
  if (error)
    return { message: `${title} cannot be compared: ${error}`, remedy: 'the warehouse itself is not affected' };
  if (ahead > 0) return { message: aheadText(ahead), remedy: 'run `indexhouse verify`, which names them' };
  if (behind === 0) return null;
  if (name === 'analytics') {
    return { message: `${title} is missing or shows another folder`, remedy: 'the next sync writes it again' };
  }
  const message = `${title} is ${exact ? '' : 'at least '}${counted(behind, 'snapshot')} behind`;
  if (!held) return { message, remedy: 'the next sync catches up' };
  return { message, remedy: `${held.holder} has it open; the next sync catches up once it is closed` };
}

/** That `indexhouse.duckdb` has rows whose files are gone. */
export function aheadText(ahead: number): string {
  return `indexhouse.duckdb has ${counted(ahead, 'snapshot, run or note', 'snapshots, runs and notes')} that the Parquet files lack`;
}

/** What `verify` finds out about a follower; the levels are those of its findings. */
export interface Difference {
  level: 'note' | 'lag' | 'difference';
  message: string;
  remedy: string;
}

export interface Compared {
  differences: Difference[];
  /** What was repaired. */
  repaired: string[];
}

/** A follower of the log, for code that lets it catch up or queries its condition. */
export interface Follower {
  /** Its name in the receipt, in `status` and in metrics. */
  readonly name: string;
  /** Lets it catch up. @throws if it cannot: then it lags */
  follow(log: Log, engine: EngineOptions): Promise<FollowerState>;
  /** How far it is, without writing to it or waiting for the process that has it open. */
  lag(log: Log, engine: EngineOptions): Promise<FollowerLag>;
  /** The commits that it has and the log lacks, by their ids; left out by one whose rows can be read. */
  lost?(log: Log): Promise<(Difference & { id: string })[]>;
  /** How it differs from the commits that it holds. Being behind is not a difference. */
  compare(log: Log, engine: EngineOptions, options: { repair: boolean }): Promise<Compared>;
}

/**
 * A copy of the log. It records what it holds only in the copy itself, so that interruption, resumption and rebuilding
 * share one path. Data comes first, then the state, then the marker: a commit whose marker is there is complete.
 */
export interface LogCopy {
  readonly name: string;
  /** Ids of the snapshots that it holds. */
  known(): Promise<ReadonlySet<string>>;
  /**
   * Copies a commit that it lacks, replacing whatever an interrupted attempt left.
   *
   * @param state the file of the state after it; null unless it is the newest commit of its website
   * @throws UnreachableError
   */
  take(marker: Marker, state: string | null): Promise<void>;
  /** Removes what tombstones put out of use, or `indexhouse remove` took out. Called first, with the whole log. */
  drop(log: Log): Promise<void>;
  /** Copies what belongs to no commit, such as `runs`, after all commits. @returns what was skipped */
  finish(log: Log): Promise<string[]>;
}

/** The finding that a follower is behind, which is no difference. */
export function lagging(message: string, remedy = 'the next sync catches up'): Difference {
  return { level: 'lag', message, remedy };
}

/**
 * Brings a copy up to date: every marker that it lacks, oldest first. A commit whose files cannot be read, or that needs
 * more memory than there is, is skipped, reported, and tried again next time.
 *
 * @param engine for a state that has to be rebuilt
 * @throws UnreachableError; also if a disk is full
 */
export async function catchUp(copy: LogCopy, log: Log, engine: EngineOptions): Promise<FollowerState> {
  const { name } = copy;
  const { markers } = log;
  await copy.drop(log);
  const known = await copy.known();
  const newest = new Set(newestMarkers(markers));
  const skipped = log.damaged.map(({ path, reason }) => `${path} ${reason}`);
  // The state of a website is derived from all of its commits.
  const torn = new Set(log.damaged.map(({ websiteId }) => websiteId));
  for (const marker of lackingIn(known, markers)) {
    const needsState = newest.has(marker) && !torn.has(marker.websiteId);
    try {
      const all = markersOf(markers, marker.websiteId);
      const files = dataFilesOf(log.path, marker).map(([, file]) => file);
      checkAreFiles(files);
      await log.checkProven(files);
      await copy.take(marker, needsState ? await currentState(log.path, all, engine) : null);
    } catch (error) {
      if (error instanceof UnreachableError || diskRemedy(error)) throw error;
      const damaged = error instanceof MemoryError ? null : await log.findDamaged(marker);
      skipped.push(damaged ? `${damaged.path} ${damaged.reason}` : `${marker.path}: ${firstLine(error)}`);
    }
  }
  skipped.push(...(await copy.finish(log)));
  if (skipped.length === 0) return { name, behind: 0 };
  const lacked = counted(skipped.length, 'snapshot or run', 'snapshots or runs');
  const reason = `${titleOf(copy)} skipped ${lacked}, which the next sync tries again. ${skipped[0]}`;
  return { name, behind: skipped.length, reason };
}
