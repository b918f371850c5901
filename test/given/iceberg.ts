import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { catchUp, type FollowerState } from '../../src/followers/follower.js';
import { readAvro } from '../../src/followers/iceberg/avro.js';
import { type IcebergOptions, IcebergTables } from '../../src/followers/iceberg/follower.js';
import { withEngine } from '../../src/storage/engine.js';
import { scratchFolder } from '../../src/warehouse/layout.js';
import { OpenWarehouse } from '../../src/warehouse/open.js';
import type { Table } from '../../src/warehouse/tables.js';

const metadataSchema = z.object({
  'current-snapshot-id': z.int(),
  snapshots: z.array(z.object({ 'snapshot-id': z.int(), 'manifest-list': z.string() })),
});
const manifestSchema = z.object({ manifest_path: z.string() });
const entrySchema = z.object({ data_file: z.object({ file_path: z.string(), record_count: z.int() }) });

/** Publishes a warehouse that was synced without followers, with a clock and a history of the test's choosing. */
export function publishIceberg(warehouse: string, options: Partial<IcebergOptions> = {}): Promise<FollowerState> {
  const engineOptions = { memoryLimit: 256e6, temporary: scratchFolder(warehouse) };
  return withEngine(engineOptions, async (engine) => {
    const log = await OpenWarehouse.read(engine, warehouse);
    return catchUp(
      await IcebergTables.open(log, { history: Number.POSITIVE_INFINITY, ...options }),
      log,
      engineOptions,
    );
  });
}

/** The files and rows of an Iceberg table, by snapshot: found as a reader finds them, from the hint on. */
export async function icebergSnapshots(warehouse: string, table: Table): Promise<Map<number, Record<string, number>>> {
  const folder = join(warehouse, 'iceberg', table, 'metadata');
  const version = readFileSync(join(folder, 'version-hint.text'), 'utf8');
  const metadata = metadataSchema.parse(JSON.parse(readFileSync(join(folder, `v${version}.metadata.json`), 'utf8')));
  const found = new Map<number, Record<string, number>>();
  for (const snapshot of metadata.snapshots) {
    const files: Record<string, number> = {};
    for (const { manifest_path } of await readAvro(at(snapshot['manifest-list']), manifestSchema)) {
      for (const { data_file } of await readAvro(at(manifest_path), entrySchema)) {
        files[data_file.file_path.replace('file://', '')] = data_file.record_count;
      }
    }
    found.set(snapshot['snapshot-id'], files);
  }
  return found;
}

/** The same of the newest snapshot. */
export async function icebergFiles(warehouse: string, table: Table): Promise<Record<string, number>> {
  return [...(await icebergSnapshots(warehouse, table)).values()].at(-1) ?? {};
}

function at(address: string): Uint8Array {
  return readFileSync(address.replace('file://', ''));
}
