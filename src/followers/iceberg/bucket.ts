import { Bucket } from '../../bucket/client.js';
import type { BucketConfig } from '../../config/bucket.js';
import type { EngineOptions } from '../../storage/engine.js';
import { withEngine } from '../../storage/engine.js';
import { OpenWarehouse } from '../../warehouse/open.js';
import { catchUp, type FollowerState } from '../follower.js';
import { IcebergTables } from './follower.js';
import type { Place } from './place.js';

/** A bucket, whose keys are the paths of the warehouse. */
export function bucketPlace(bucket: Bucket): Place {
  const keyOf = (path: string) => path.replaceAll('%', '!');
  return {
    address: (path) => `${bucket.url}/${keyOf(path)}`,
    read: async (path) => (await bucket.get(keyOf(path)))?.body ?? null,
    async write(path, bytes) {
      await bucket.put(keyOf(path), bytes, { ifAbsent: false });
    },
    create: (path, bytes) => bucket.put(keyOf(path), bytes),
    async replace(path, bytes) {
      await bucket.put(keyOf(path), bytes, { ifAbsent: false });
    },
    async names(folder) {
      const prefix = `${keyOf(folder)}/`;
      const names = (await bucket.keys(prefix)).map((key) => key.slice(prefix.length));
      return names.filter((name) => !name.includes('/'));
    },
    remove: (path) => bucket.remove(keyOf(path)),
  };
}

/** Publishes the files that are in the bucket as tables there. Called once it has caught up. @throws BucketError */
export async function followIcebergInBucket(
  config: BucketConfig,
  { warehouse, history, engine }: { warehouse: string; history: number; engine: EngineOptions },
): Promise<FollowerState> {
  const bucket = new Bucket(config);
  try {
    return await withEngine(engine, async (opened) => {
      const log = await OpenWarehouse.read(opened, warehouse);
      const tables = await IcebergTables.open(log, { history, place: bucketPlace(bucket) });
      return { ...(await catchUp(tables, log, engine)), name: 'bucket_iceberg' };
    });
  } finally {
    await bucket.close();
  }
}
