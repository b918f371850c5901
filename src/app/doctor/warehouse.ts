import { access, constants, stat } from 'node:fs/promises';
import { readStatus } from '../../answers/status/status.js';
import { statusInputOf } from '../../answers/status/status-input.js';
import type { Config } from '../../base/config/schema.js';
import { messageOf } from '../../base/exit.js';
import { advisedMemory, withEngine } from '../../base/storage/engine.js';
import { nearestExisting } from '../../base/storage/free-disk.js';
import { whyNoLocks } from '../../base/storage/locks.js';
import { withTemporary } from '../../base/storage/temporary.js';
import type { ClockEvidence } from '../../source/clock.js';
import { checkWritable } from '../../warehouse/bucket/owner.js';
import { checkIdentity, WarehouseError } from '../../warehouse/log/folder/prepare.js';
import { openLog } from '../../warehouse/log/log.js';
import { latestOf } from '../../warehouse/log/markers.js';
import { type CheckResult, resultsOf } from './check-result.js';

const folder = resultsOf('warehouse');
const status = resultsOf('status');
const bucket = resultsOf('bucket');

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
    const lockless = await whyNoLocks(nearest);
    if (lockless) return folder.error(...lockless);
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
  // The next night would run out of memory as well, unless the configuration follows the advice by now.
  const isSevere = (text: string) => damaged.length > 0 || advisedMemory(text) > config.warehouse.memory_limit;
  return found.map((text) => status[isSevere(text) ? 'error' : 'warning'](text, '`indexhouse status` shows more.'));
}

/** The latest snapshot; null if there is none, or if the log cannot be read, which is a finding of its own. */
export function latestSnapshot({ warehouse }: Config): Promise<ClockEvidence['latest']> {
  return withTemporary('doctor', (temporary) =>
    withEngine({ memoryLimit: warehouse.memory_limit, temporary }, async (engine) =>
      latestOf((await openLog(engine, warehouse.path, { temporary })).markers),
    ),
  ).catch(() => null);
}

/** Whether this folder can write to its bucket: the server supports conditional writes, and no other folder owns it. */
export async function checkBucket({ bucket: url, warehouse }: Config): Promise<CheckResult[]> {
  if (!url) return [];
  try {
    await checkWritable(url, warehouse.path);
    return [bucket.ok(`${url} can be written`)];
  } catch (error) {
    return [bucket.error(messageOf(error), 'Until then no commit is copied there.')];
  }
}
