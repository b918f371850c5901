import { type Bucket, withBucket } from '../../bucket/client.js';
import { escaped } from '../../bucket/keys.js';
import type { BucketConfig } from '../../config/bucket.js';
import type { OpenWarehouse } from '../../warehouse/open.js';
import { AWAITED } from '../bucket.js';
import type { CheckedCopy } from '../follower.js';
import { IcebergTables } from './follower.js';
import type { Place } from './place.js';

/** A bucket as a place for metadata. Its keys are the paths of the warehouse. */
export function bucketPlace(bucket: Bucket): Place {
  const put = async (path: string, bytes: Uint8Array) => {
    await bucket.put(escaped(path), bytes, { ifAbsent: false });
  };
  let states: Promise<Map<string, number>> | undefined;
  return {
    address: (path) => `${bucket.url}/${escaped(path)}`,
    read: async (path) => (await bucket.get(escaped(path)))?.body ?? null,
    async stateSize(path) {
      states ??= sizesIn(bucket, 'state/');
      return (await states).get(escaped(path)) ?? null;
    },
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

async function sizesIn(bucket: Bucket, prefix: string): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for await (const { key, size } of bucket.list(prefix)) sizes.set(key, size);
  return sizes;
}

/** Opens the Iceberg tables over the files in the bucket. @throws BucketError */
export function withIcebergInBucket<T>(
  { bucket: config, history }: { bucket: BucketConfig; history: number },
  log: OpenWarehouse,
  work: (copy: CheckedCopy) => Promise<T>,
  isAwaited = false,
): Promise<T> {
  const open = async (bucket: Bucket) => work(await IcebergTables.open(log, { history, place: bucketPlace(bucket) }));
  return withBucket(config, open, isAwaited ? AWAITED : {});
}
