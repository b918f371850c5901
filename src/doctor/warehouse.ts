import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { notConfigured } from '../analysis/website-status.js';
import { cacheFolder } from '../bucket/cache.js';
import { withBucket } from '../bucket/client.js';
import { checkConditional, otherWriter, readWriter } from '../bucket/lease.js';
import type { BucketConfig } from '../config/bucket.js';
import type { Config } from '../config/schema.js';
import { namedWebsites } from '../config/websites.js';
import { messageOf } from '../exit.js';
import { followersOf } from '../followers/follow.js';
import { type FollowerLag, lagText, titleOf } from '../followers/follower.js';
import { journalsSetAside } from '../journal/folder.js';
import { size as sized } from '../observe/format.js';
import type { ClockEvidence } from '../source/clock.js';
import { withEngine } from '../storage/engine.js';
import { probeLock } from '../storage/locks.js';
import { withTemporary } from '../storage/temporary.js';
import { damageText, REMEDY } from '../warehouse/damage.js';
import { warehouseFolder, websitesIn } from '../warehouse/layout.js';
import { latestOf } from '../warehouse/markers.js';
import { OpenWarehouse } from '../warehouse/open.js';
import { checkIdentity, WarehouseError } from '../warehouse/prepare.js';
import { type CheckResult, resultsOf } from './check-result.js';

const folder = resultsOf('warehouse');
const lock = resultsOf('run_lock');
const journals = resultsOf('journals');
const log = resultsOf('log');
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

/** The folder itself, or the nearest existing one above it, in which it would be made. */
export async function nearestExisting(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    const found = await stat(at).catch(() => null);
    if (found || at === dirname(at)) return at;
  }
}

/** Whether another process is writing to the warehouse. */
export async function checkRunLock({ warehouse }: Config): Promise<CheckResult> {
  const held = await probeLock(warehouseFolder(warehouse.path).lock);
  if (held === null) return lock.ok('free');
  return lock.warning(
    `${held.holder} holds it: a sync or another writing command is running`,
    'Wait for it to end: until then `indexhouse sync` exits with 4.',
  );
}

/** The websites of the warehouse that are no longer configured. */
export async function checkWebsites(config: Config): Promise<CheckResult[]> {
  const named = namedWebsites(config);
  const others = (await websitesIn(config.warehouse.path)).filter((id) => named?.every((one) => one.id !== id));
  return others.map((website_id) => resultsOf('websites').ok(notConfigured({ website_id })));
}

/** Whether damaged journals were set aside. */
export async function checkJournals({ warehouse }: Config): Promise<CheckResult> {
  const folders = await journalsSetAside(warehouse.path);
  if (folders.length === 0) return journals.ok('none damaged');
  return journals.warning(
    `${folders.length} damaged and set aside: ${folders.join(', ')}`,
    'Check the disk; then delete these folders, or send them with a bug report.',
  );
}

/** Whether every file of every commit is there and whole, judging by its two ends. */
export function checkLog({ warehouse }: Config): Promise<CheckResult> {
  return withTemporary('doctor', async (temporary) => {
    const engine = { memoryLimit: warehouse.memory_limit, temporary };
    const opened = await withEngine(engine, (engine) => OpenWarehouse.read(engine, warehouse.path, temporary));
    const damaged = [...opened.damaged, ...(await opened.findTorn())];
    if (damaged.length > 0) return log.error(damageText(damaged), `${REMEDY}.`);
    return log.ok(`${opened.markers.length} commits, every file in place`);
  });
}

/** The latest snapshot; null if there is none, or if the log cannot be read, which is a finding of its own. */
export function latestSnapshot({ warehouse }: Config): Promise<ClockEvidence['latest']> {
  return withTemporary('doctor', (temporary) =>
    withEngine({ memoryLimit: warehouse.memory_limit, temporary }, async (engine) =>
      latestOf((await OpenWarehouse.read(engine, warehouse.path, temporary)).markers),
    ),
  ).catch(() => null);
}

/** Whether the bucket can be read, and whose copy it holds. */
export async function checkBucket(config: BucketConfig): Promise<CheckResult> {
  const { readCommits } = await import('../followers/bucket.js');
  try {
    return bucket.ok(`${config.url} can be read; it holds ${(await readCommits(config)).size} commits`);
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
    await withBucket(config, checkConditional);
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

/** Whether each follower has every snapshot, and whether somebody keeps its file open. */
export function checkFollowers(config: Config): Promise<CheckResult[]> {
  const { path, memory_limit: memoryLimit } = config.warehouse;
  return withTemporary('doctor', async (temporary) => {
    const engine = { memoryLimit, temporary };
    const opened = await withEngine(engine, (one) => OpenWarehouse.read(one, path, temporary));
    const found: CheckResult[] = [];
    for (const follower of followersOf(config)) found.push(resultOf(await follower.lag(opened, engine)));
    return found;
  });
}

function resultOf(lag: FollowerLag): CheckResult {
  const { ok, warning, error } = resultsOf(lag.name);
  const [title, problem] = [titleOf(lag), lagText(lag)];
  if (problem)
    return (lag.error ? error : warning)(
      problem.message,
      `${problem.remedy[0]?.toUpperCase()}${problem.remedy.slice(1)}.`,
    );
  if (!lag.held) return ok(`${title} is up to date`);
  const message = `${title} is up to date, but ${lag.held.holder} has it open`;
  return warning(
    message,
    'Close it there, or read analytics.duckdb instead: while it is open, it gets no new snapshots.',
  );
}
