import type { Config } from '../../base/config/schema.js';
import { websiteIds } from '../../base/config/websites.js';
import type { Logger } from '../../base/observe/log.js';
import { withEngine } from '../../base/storage/engine.js';
import { withTemporary } from '../../base/storage/temporary.js';
import { checkOwnership } from '../bucket/owner.js';
import { followAll } from '../copies/follow.js';
import { checkIdentity, checkWarehouseThere, prepareWarehouse } from '../log/folder/prepare.js';
import { DATA_TABLES } from '../log/folder/tables.js';
import { withRunLock } from '../log/lock.js';
import { openLog } from '../log/log.js';
import { markersOf } from '../log/markers.js';
import { forgetRemoval, removeForGood, unfinishedRemoval } from './steps.js';
import { unlessRemoved } from './unless-removed.js';

export interface RemoveOptions {
  config: Config;
  /** A website, by id or name. */
  website: string;
  /** Called with what would be removed, before anything changes; throws if it must not be. */
  confirm: (removal: Removal) => Promise<void>;
  logger: Logger;
}

/**
 * Removes a website from the log, and lets the followers catch up. Killed at any step, it has not begun, or whoever
 * takes the run lock next finishes it.
 *
 * @throws UsageError for an unknown website; WarehouseError, DamageError, BusyError; OwnerError if the bucket belongs to
 * another folder
 */
export async function remove({ config, website, confirm, logger }: RemoveOptions) {
  const { path, time_zone, memory_limit: memoryLimit } = config.warehouse;
  await checkWarehouseThere(path);
  await checkIdentity(path, time_zone);
  await checkOwnership({ config, warehouse: path, logger });
  const begun = (await unfinishedRemoval(path))?.removal;
  const isBegun = begun?.website_id === website;
  if (!isBegun) {
    const found = removalOf(path, website, memoryLimit).then(confirm);
    await found.catch(async (error: unknown) => Promise.reject(await unlessRemoved(error, path, memoryLimit)));
  }
  return withRunLock(path, 'remove', async () => {
    await prepareWarehouse(path, time_zone);
    const removal = isBegun ? begun : await removalOf(path, website, memoryLimit);
    if (!isBegun) await removeForGood(path, { removal, in_bucket: config.bucket !== undefined });
    const followers = await followAll({ config, logger });
    await forgetRemoval(path);
    return { ...removal, removed: true, followers };
  });
}

/** What is removed, under the names of `remove --json`. */
export type Removal = Awaited<ReturnType<typeof removalOf>>;

/** @throws UsageError, DamageError */
function removalOf(warehouse: string, website: string, memoryLimit: number) {
  return withTemporary('remove', (temporary) =>
    withEngine({ memoryLimit, temporary }, async (engine) => {
      const log = await openLog(engine, warehouse, { temporary });
      const [websiteId = ''] = websiteIds([website], await log.websites(), 'the warehouse');
      const own = markersOf(log.markers, websiteId);
      const dates = own.map(({ date }) => date).sort();
      const tables = DATA_TABLES.map((table) => {
        const files = own.flatMap((marker) => marker.files[table] ?? []);
        return { table, files: files.length, rows: files.reduce((all, { rows }) => all + rows, 0) };
      });
      return {
        website_id: websiteId,
        snapshots: own.length,
        first_date: dates.at(0) ?? null,
        last_date: dates.at(-1) ?? null,
        tables: tables.filter(({ files }) => files > 0),
      };
    }),
  );
}
