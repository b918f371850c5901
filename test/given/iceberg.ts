import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { withEngine } from '../../src/base/storage/engine.js';
import { catchUp } from '../../src/warehouse/copies/follower.js';
import { readAvro } from '../../src/warehouse/copies/iceberg/avro.js';
import { type IcebergOptions, IcebergTables } from '../../src/warehouse/copies/iceberg/follower.js';
import { folderPlace } from '../../src/warehouse/copies/iceberg/place.js';
import { scratchFolder } from '../../src/warehouse/log/folder/layout.js';
import type { Table } from '../../src/warehouse/log/folder/tables.js';
import { openLog } from '../../src/warehouse/log/log.js';

const metadataSchema = z.object({
  'current-snapshot-id': z.int(),
  'current-schema-id': z.int(),
  schemas: z.array(z.looseObject({ 'schema-id': z.int(), fields: z.array(z.object({ name: z.string() })) })),
  snapshots: z.array(
    z.object({
      'snapshot-id': z.int(),
      'timestamp-ms': z.int(),
      'schema-id': z.int(),
      'manifest-list': z.string(),
    }),
  ),
});
const manifestSchema = z.object({ manifest_path: z.string() });
const entrySchema = z.object({
  data_file: z.object({
    file_path: z.string(),
    record_count: z.int(),
    file_size_in_bytes: z.int(),
    null_value_counts: z.array(z.object({ key: z.int(), value: z.int() })),
  }),
});
type Entry = z.infer<typeof entrySchema>['data_file'];

/** Publishes a warehouse that was synced without followers, with a clock and a history of the test's choosing. */
export function publishIceberg(warehouse: string, options: Partial<IcebergOptions> = {}): ReturnType<typeof catchUp> {
  const engineOptions = { memoryLimit: 256e6, temporary: scratchFolder(warehouse) };
  return withEngine(engineOptions, async (engine) => {
    const log = await openLog(engine, warehouse);
    return catchUp(
      await IcebergTables.open(log, { history: Number.POSITIVE_INFINITY, place: folderPlace(warehouse), ...options }),
      log,
      engineOptions,
    );
  });
}

/** The newest metadata of a table, found as a reader finds it. */
export function icebergMetadata(warehouse: string, table: Table): z.infer<typeof metadataSchema> {
  const folder = join(warehouse, 'iceberg', table, 'metadata');
  const version = readFileSync(join(folder, 'version-hint.text'), 'utf8');
  return metadataSchema.parse(JSON.parse(readFileSync(join(folder, `v${version}.metadata.json`), 'utf8')));
}

/** The files and rows of an Iceberg table, by snapshot: found as a reader finds them, from the hint on. */
export async function icebergSnapshots(warehouse: string, table: Table): Promise<Map<number, Record<string, number>>> {
  const snapshots = await entriesOf(warehouse, table);
  const rows = (entries: Entry[]) => byFile(entries, ({ record_count }) => record_count);
  return new Map([...snapshots].map(([id, entries]) => [id, rows(entries)]));
}

/** The same of the newest snapshot. */
export async function icebergFiles(warehouse: string, table: Table): Promise<Record<string, number>> {
  return [...(await icebergSnapshots(warehouse, table)).values()].at(-1) ?? {};
}

/** The sizes that it gives of its files. */
export async function icebergSizes(warehouse: string, table: Table): Promise<Record<string, number>> {
  const newest = [...(await entriesOf(warehouse, table)).values()].at(-1) ?? [];
  return byFile(newest, ({ file_size_in_bytes }) => file_size_in_bytes);
}

/** How many nulls its files have, by the ids of their fields. */
export async function icebergNulls(warehouse: string, table: Table): Promise<Record<string, Record<number, number>>> {
  const newest = [...(await entriesOf(warehouse, table)).values()].at(-1) ?? [];
  return byFile(newest, (entry) => Object.fromEntries(entry.null_value_counts.map(({ key, value }) => [key, value])));
}

async function entriesOf(warehouse: string, table: Table): Promise<Map<number, Entry[]>> {
  const metadata = icebergMetadata(warehouse, table);
  const read = (address: string) =>
    readFileSync(join(warehouse, 'iceberg', table, 'metadata', address.slice(address.lastIndexOf('/') + 1)));
  const found = new Map<number, Entry[]>();
  for (const snapshot of metadata.snapshots) {
    const entries: Entry[] = [];
    for (const { manifest_path } of await readAvro(read(snapshot['manifest-list']), manifestSchema)) {
      for (const { data_file } of await readAvro(read(manifest_path), entrySchema)) entries.push(data_file);
    }
    found.set(snapshot['snapshot-id'], entries);
  }
  return found;
}

function byFile<T>(entries: readonly Entry[], pick: (entry: Entry) => T): Record<string, T> {
  return Object.fromEntries(entries.map((entry) => [entry.file_path.replace('file://', ''), pick(entry)]));
}
