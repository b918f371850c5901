import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { withEngine } from '../../src/base/storage/engine.js';
import { type Bucket, withBucket } from '../../src/warehouse/bucket/client.js';
import { BucketCopy, keyOf } from '../../src/warehouse/bucket/copy.js';
import { catchUp } from '../../src/warehouse/copies/follower.js';
import { scratchFolder } from '../../src/warehouse/log/folder/layout.js';
import { DATA_TABLES } from '../../src/warehouse/log/folder/tables.js';
import { openLog } from '../../src/warehouse/log/log.js';
import { fileOf } from '../../src/warehouse/log/markers.js';
import type { GivenBucket } from './bucket.js';
import { readMarkers } from './markers.js';
import type { GivenPage } from './service.js';
import { type BuiltWarehouse, buildWarehouse } from './warehouse.js';

const MEMORY_LIMIT = 256e6;

/** A page of the warehouses that are sent to buckets. */
export function page(name: string, state = 'Indexed'): GivenPage {
  return { url: `https://a.example/${name}`, entry: { index_summary: state, index_coverage_state: state } };
}

/** Two nights of websites of which one has a name that no key of a bucket may have. */
export function buildOddNights(): Promise<BuiltWarehouse> {
  const odd = 'a/b é%*';
  return buildWarehouse([
    { at: '2025-03-01T02:00:00Z', lists: { [odd]: [page('p'), page('q')], shop: [page('s')] } },
    { at: '2025-03-05T02:00:00Z', lists: { [odd]: [page('p'), page('q', 'Not indexed')] } },
  ]);
}

/** Lets the bucket catch up, with pauses that take no time. */
export function copyTo({ url, env }: Pick<GivenBucket, 'url' | 'env'>, warehouse: string, now = Date.now()) {
  const effects = { now: () => now, sleep: async () => {}, random: () => 0.5 };
  const engine = { memoryLimit: MEMORY_LIMIT, temporary: scratchFolder(warehouse) };
  const follow = (bucket: Bucket) =>
    withEngine(engine, async (opened) => {
      const log = await openLog(opened, warehouse);
      return catchUp(new BucketCopy(bucket, warehouse, effects.now), log, engine);
    });
  return withBucket(url, follow, { env, effects, attempts: 2 });
}

/** The files of a warehouse that a bucket holds, by key. */
export function copiedFiles(warehouse: string): Map<string, Buffer> {
  const files = ['parquet', 'state'].flatMap((folder) => {
    const root = join(warehouse, folder);
    if (!existsSync(root)) return [];
    const all = readdirSync(root, { recursive: true, withFileTypes: true });
    return all.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : []));
  });
  return new Map(
    [...files, join(warehouse, 'warehouse.json')].map((file) => [keyOf(warehouse, file), readFileSync(file)]),
  );
}

/** That each marker in the bucket has its files there, and each tombstone the checkpoint that stands for them. */
export async function expectNoMarkerBeforeItsFiles(keys: ReadonlySet<string>, warehouse: string): Promise<void> {
  const markers = await withEngine({ memoryLimit: MEMORY_LIMIT, temporary: join(warehouse, '../duckdb') }, (engine) =>
    readMarkers(engine, warehouse),
  );
  for (const marker of markers.filter(({ path }) => keys.has(keyOf(warehouse, path)))) {
    for (const table of DATA_TABLES.filter((one) => Object.hasOwn(marker.files, one))) {
      expect(keys).toContain(keyOf(warehouse, fileOf(warehouse, marker, table)));
    }
  }
}
