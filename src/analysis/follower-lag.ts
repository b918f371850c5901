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
import { lackingIn, type Marker } from '../warehouse/markers.js';
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
    return { ...lag, behind: lackingIn(known, markers).length, held };
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

/** How many commits the bucket lacks, by one listing: somebody waits for the answer. 0 if it cannot be asked. */
export function bucketLag(config: BucketConfig, markers: readonly Marker[]): Promise<FollowerLag> {
  const known = async () => (await import('../followers/bucket.js')).readCommits(config);
  return lagOf('bucket', known, markers, 0);
}

/** How far another copy of the log is behind the markers: by all of them if it cannot be asked. */
export function copyLag({ name, open }: ConfiguredFollower, log: OpenWarehouse): Promise<FollowerLag> {
  const known = async () => (await open(log)).known();
  return lagOf(name, known, log.markers, log.markers.length);
}

/** @param unknown how many commits count as lacking if the copy cannot be asked */
async function lagOf(
  name: string,
  known: () => Promise<ReadonlySet<string>>,
  markers: readonly Marker[],
  unknown: number,
): Promise<FollowerLag> {
  const lag = { name, held: null };
  try {
    return { ...lag, behind: lackingIn(await known(), markers).length, exact: true, error: null };
  } catch (error) {
    return { ...lag, behind: unknown, exact: false, error: messageOf(error) };
  }
}

async function newerThan(file: string, markers: readonly Marker[]): Promise<number> {
  const { mtimeMs } = await stat(file);
  const times = await Promise.all(markers.map(({ path }) => stat(path)));
  return times.filter((time) => time.mtimeMs > mtimeMs).length;
}
