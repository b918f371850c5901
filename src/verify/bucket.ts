import { type Bucket, withBucket } from '../bucket/client.js';
import { BucketError } from '../bucket/errors.js';
import { idOfKey, keyOf } from '../bucket/keys.js';
import type { BucketConfig } from '../config/bucket.js';
import { sizeOf } from '../storage/durable.js';
import { dataFilesOf, type Marker } from '../warehouse/markers.js';
import type { OpenWarehouse } from '../warehouse/open.js';
import { MARKER_TABLES } from '../warehouse/tables.js';
import type { Verified } from './finding.js';

const CHECK = 'bucket';
const MOST_TOLD = 5;

/**
 * Compares the keys and sizes in the bucket with the log: their bytes had their SHA-256 when the server took them.
 * Being behind is no difference. To repair, what differs is removed with its marker, and the next sync sends it again.
 */
export async function checkBucket(config: BucketConfig, log: OpenWarehouse, repair: boolean, verified: Verified) {
  const found = (level: 'lag' | 'note' | 'difference', message: string, remedy: string) =>
    void verified.findings.push({ check: CHECK, level, message, remedy });
  const compare = async (bucket: Bucket) => {
    const sizes = new Map<string, number>();
    for await (const { key, size } of bucket.list('parquet/')) sizes.set(key, size);
    const has = log.markers.filter(({ path }) => sizes.has(keyOf(log.path, path)));
    const lacking = log.markers.length - has.length;
    if (lacking > 0) found('lag', `${config.url} is ${lacking} snapshots behind`, 'the next sync catches up');
    const runs = log.runs.filter((file) => !sizes.has(keyOf(log.path, file))).length;
    if (runs > 0) found('lag', `${config.url} lacks ${runs} rows of runs`, 'the next sync catches up');
    const wrong = [];
    for (const marker of has) wrong.push(...(await wrongIn(marker, log, sizes)));
    for (const { key, what, marker } of wrong.slice(0, repair ? wrong.length : MOST_TOLD)) {
      if (repair) {
        for (const each of [keyOf(log.path, marker.path), key]) await bucket.remove(each);
        verified.repaired.push(`removed ${config.url}/${key}, which ${what}; the next sync sends it again`);
      } else
        found(
          'difference',
          `${config.url}/${key} ${what}`,
          '`indexhouse verify --repair` lets the next sync send it again',
        );
    }
    const known = new Set(log.markers.map(({ commitId }) => commitId));
    const others = [...sizes.keys()].filter((key) => isMarker(key) && !known.has(idOfKey(key))).length;
    if (others > 0)
      found('note', `${config.url} holds commits that are not here: ${others}`, 'the next sync fetches them');
  };
  try {
    await withBucket(config, compare);
  } catch (error) {
    if (!(error instanceof BucketError)) throw error;
    found('lag', `the bucket cannot be compared: ${error.message}`, 'try again later');
  }
}

async function wrongIn(marker: Marker, log: OpenWarehouse, sizes: ReadonlyMap<string, number>) {
  const wrong: { key: string; what: string; marker: Marker }[] = [];
  for (const file of [...dataFilesOf(log.path, marker).map(([, path]) => path), marker.path]) {
    const key = keyOf(log.path, file);
    const [size, expected] = [sizes.get(key), await sizeOf(file)];
    if (size === undefined) wrong.push({ key, what: 'is missing', marker });
    else if (size !== expected) wrong.push({ key, what: `has ${size} bytes instead of ${expected}`, marker });
  }
  return wrong;
}

function isMarker(key: string): boolean {
  return MARKER_TABLES.some((table) => key.startsWith(`parquet/${table}/`));
}
