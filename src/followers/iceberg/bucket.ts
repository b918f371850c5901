import { type Bucket, withBucket } from '../../bucket/client.js';
import { escaped } from '../../bucket/keys.js';
import type { BucketConfig } from '../../config/bucket.js';
import type { EngineOptions } from '../../storage/engine.js';
import { withEngine } from '../../storage/engine.js';
import { OpenWarehouse } from '../../warehouse/open.js';
import { catchUp, type FollowerState } from '../follower.js';
import { IcebergTables } from './follower.js';
import type { Place } from './place.js';

/** A bucket, whose keys are the paths of the warehouse. */
export function bucketPlace(bucket: Bucket): Place {
  const put = async (path: string, bytes: Uint8Array) => {
    await bucket.put(escaped(path), bytes, { ifAbsent: false });
  };
  return {
    address: (path) => `${bucket.url}/${escaped(path)}`,
    read: async (path) => (await bucket.get(escaped(path)))?.body ?? null,
    write: put,
    create: (path, bytes) => bucket.put(escaped(path), bytes),
    replace: put,
    async names(folder) {
      const prefix = `${escaped(folder)}/`;
      const names = (await bucket.keys(prefix)).map((key) => key.slice(prefix.length));
      return names.filter((name) => !name.includes('/'));
    },
    remove: (path) => bucket.remove(escaped(path)),
  };
}

/** Publishes the files that are in the bucket as tables there. Called once it has caught up. @throws BucketError */
export async function followIcebergInBucket(
  config: BucketConfig,
  { warehouse, history, engine }: { warehouse: string; history: number; engine: EngineOptions },
): Promise<FollowerState> {
  return withBucket(config, (bucket) =>
    withEngine(engine, async (opened) => {
      const log = await OpenWarehouse.read(opened, warehouse);
      const tables = await IcebergTables.open(log, { history, place: bucketPlace(bucket) });
      return { ...(await catchUp(tables, log, engine)), name: 'bucket_iceberg' };
    }),
  );
}
