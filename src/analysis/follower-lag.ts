import { stat } from 'node:fs/promises';
import type { BucketConfig } from '../config/bucket.js';
import { messageOf } from '../exit.js';
import { isAnalyticsCurrent } from '../followers/analytics.js';
import type { ConfiguredFollower } from '../followers/follow.js';
import { knownCommits } from '../followers/native-file.js';
import { exists } from '../storage/durable.js';
import { type EngineOptions, withEngine } from '../storage/engine.js';
import { type LockHolder, lockHolder, probeLock } from '../storage/locks.js';
import { warehouseFolder } from '../warehouse/layout.js';
import type { Marker } from '../warehouse/markers.js';
import type { OpenWarehouse } from '../warehouse/open.js';

/** How far something that follows the snapshots is. */
export interface FollowerLag {
  name: string;
  /** Snapshots, and replays of them, that it lacks. */
  behind: number;
  /** False if the file is locked: then the snapshots newer than the file are counted. */
  exact: boolean;
  /** Who has the file open. */
  held: LockHolder | null;
  /** Why it cannot be read; null where it can, or is only locked. */
  error: string | null;
}

/**
 * How far `indexhouse.duckdb` is behind the markers, without writing to it or waiting for a process that has it open.
 *
 * @param engine with a temporary folder outside the warehouse, into which nothing is written
 */
export async function followerLag(
  warehouse: string,
  markers: readonly Marker[],
  engine: EngineOptions,
): Promise<FollowerLag> {
  const { database: file } = warehouseFolder(warehouse);
  const lag = { name: 'duckdb', exact: true, held: null, error: null };
  if (!(await exists(file))) return { ...lag, behind: markers.length };
  const held = await probeLock(file);
  if (held?.access === 'write') return { ...lag, behind: await newerThan(file, markers), exact: false, held };
  try {
    const known = await withEngine({ ...engine, file, readOnly: true }, (opened) => knownCommits(opened));
    return { ...lag, behind: markers.filter(({ commitId }) => !known.has(commitId)).length, held };
  } catch (error) {
    // Taken by a writer since we looked.
    if (lockHolder(error)) return { ...lag, behind: await newerThan(file, markers), exact: false, held };
    const message = messageOf(error);
    return { ...lag, behind: markers.length, exact: false, held, error: message };
  }
}

/** Whether `analytics.duckdb` is there and shows this folder's files, which it cannot once the folder was moved. */
export async function analyticsLag(warehouse: string, snapshots: number): Promise<FollowerLag> {
  const isCurrent = snapshots === 0 || (await isAnalyticsCurrent(warehouse));
  return { name: 'analytics', behind: isCurrent ? 0 : snapshots, exact: true, held: null, error: null };
}

/** How many commits the bucket lacks, by one listing: somebody waits for the answer. */
export async function bucketLag(config: BucketConfig, markers: readonly Marker[]): Promise<FollowerLag> {
  const lag = { name: 'bucket', held: null };
  const { readCommits } = await import('../followers/bucket.js');
  try {
    const known = await readCommits(config);
    const behind = markers.filter(({ commitId }) => !known.has(commitId)).length;
    return { ...lag, behind, exact: true, error: null };
  } catch (error) {
    return { ...lag, behind: 0, exact: false, error: messageOf(error) };
  }
}

/** How far a copy of the log elsewhere is behind the markers. */
export async function copyLag({ name, open }: ConfiguredFollower, log: OpenWarehouse): Promise<FollowerLag> {
  const { markers } = log;
  try {
    const known = await (await open(log)).known();
    const behind = markers.filter(({ commitId }) => !known.has(commitId)).length;
    return { name, behind, exact: true, held: null, error: null };
  } catch (error) {
    return { name, behind: markers.length, exact: false, held: null, error: messageOf(error) };
  }
}

async function newerThan(file: string, markers: readonly Marker[]): Promise<number> {
  const { mtimeMs } = await stat(file);
  const times = await Promise.all(markers.map(({ path }) => stat(path)));
  return times.filter((time) => time.mtimeMs > mtimeMs).length;
}
