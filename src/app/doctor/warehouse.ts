import { access, constants, stat } from 'node:fs/promises';
import { readStatus } from '../../answers/status/status.js';
import { statusInputOf } from '../../answers/status/status-input.js';
import type { BucketConfig } from '../../base/config/bucket.js';
import type { Config } from '../../base/config/schema.js';
import { messageOf } from '../../base/exit.js';
import { counted, size as sized } from '../../base/observe/format.js';
import { withEngine } from '../../base/storage/engine.js';
import { nearestExisting } from '../../base/storage/free-disk.js';
import { withTemporary } from '../../base/storage/temporary.js';
import type { ClockEvidence } from '../../source/clock.js';
import { cacheFolder } from '../../warehouse/bucket/cache.js';
import { checkWritable, countCommits, otherWriter, readWriter } from '../../warehouse/bucket/lease.js';
import { checkIdentity, WarehouseError } from '../../warehouse/log/folder/prepare.js';
import { openLog } from '../../warehouse/log/log.js';
import { latestOf } from '../../warehouse/log/markers.js';
import { type CheckResult, resultsOf } from './check-result.js';

const folder = resultsOf('warehouse');
const status = resultsOf('status');
const bucket = resultsOf('bucket');
const cache = resultsOf('cache');

/** Whether the warehouse folder exists or can be made, is writable, and belongs to this configuration. */
export async function checkFolder({ warehouse }: Config): Promise<CheckResult> {
  const { path, time_zone } = warehouse;
  try {
    const isWarehouse = await checkIdentity(path, time_zone);
    const nearest = await nearestExisting(path);
    if (!(await stat(nearest)).isDirectory()) {
      return folder.error(`${nearest} is not a folder`, 'Set warehouse.path to another folder.');
    }
    await access(nearest, constants.W_OK | constants.X_OK);
    if (isWarehouse) return folder.ok(`${path} is writable; dates are in ${time_zone}`);
    return folder.ok(`${path} ${nearest === path ? 'is writable' : 'can be created'}; the first sync sets it up`);
  } catch (error) {
    if (error instanceof WarehouseError) return folder.error(error.message, 'Fix the configuration, not the folder.');
    const message = messageOf(error);
    return folder.error(`${path} cannot be written (${message})`, 'Give this user write permission there.');
  }
}

/** What needs attention in the warehouse, as `status` says it. */
export async function checkStatus(config: Config): Promise<CheckResult[]> {
  const { path, time_zone } = config.warehouse;
  if (!(await checkIdentity(path, time_zone).catch(() => false))) return [];
  const { running, warnings, damaged } = await readStatus({ ...statusInputOf(config), diskOf: undefined });
  const found = [
    ...(running ? [`${running.holder} holds the run lock: until it ends, \`indexhouse sync\` exits with 4`] : []),
    ...warnings,
  ];
  if (found.length === 0) return [status.ok('nothing needs attention')];
  return found.map((text) => status[damaged.length > 0 ? 'error' : 'warning'](text, '`indexhouse status` shows more.'));
}

/** The latest snapshot; null if there is none, or if the log cannot be read, which is a finding of its own. */
export function latestSnapshot({ warehouse }: Config): Promise<ClockEvidence['latest']> {
  return withTemporary('doctor', (temporary) =>
    withEngine({ memoryLimit: warehouse.memory_limit, temporary }, async (engine) =>
      latestOf((await openLog(engine, warehouse.path, { temporary })).markers),
    ),
  ).catch(() => null);
}

/** Whether the bucket can be read, and whose copy it holds. */
export async function checkBucket(config: BucketConfig): Promise<CheckResult> {
  try {
    return bucket.ok(`${config.url} can be read; it holds ${counted(await countCommits(config), 'commit')}`);
  } catch (error) {
    return bucket.error(
      messageOf(error),
      'Until then no commit is copied there; the warehouse itself is not affected.',
    );
  }
}

/** Whether this machine can write to its bucket: the server must support conditional writes, and name no other writer. */
export async function checkWriter({ bucket: config, warehouse }: Config): Promise<CheckResult[]> {
  if (!config) return [];
  try {
    await checkWritable(config);
  } catch (error) {
    return [bucket.error(messageOf(error), 'Until then no commit is copied there.')];
  }
  const other = (await readWriter(warehouse.path))?.other;
  if (!other) return [bucket.ok(`${config.url} can be written`)];
  const remedy = 'If that one has ended: `indexhouse restore --take-over`.';
  return [bucket.warning(`${config.url} ${otherWriter(other)}`, remedy)];
}

/** Whether what readers fetch from a bucket can be kept. @param free bytes */
export async function checkCache(config: Config, free: number): Promise<CheckResult> {
  const path = cacheFolder(config);
  const nearest = await nearestExisting(path);
  try {
    await access(nearest, constants.W_OK | constants.X_OK);
  } catch (error) {
    return cache.error(
      `${nearest} cannot be written (${messageOf(error)})`,
      'Set warehouse.cache_path to another folder.',
    );
  }
  return cache.ok(`what the bucket holds is copied into ${path}, where ${sized(free)} are free`);
}
