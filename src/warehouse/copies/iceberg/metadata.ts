import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Table } from '../../log/folder/tables.js';
import { fieldsOf, nameMapping, partitionFields, schemaSchema } from './schema.js';

/** How to recover tables that cannot be read. */
export const REMEDY = "delete the warehouse's folder iceberg, and the next sync publishes the tables again";
/** The id of the current snapshot before there is one. */
export const NO_SNAPSHOT = -1;

const snapshotSchema = z.looseObject({
  'snapshot-id': z.int(),
  'timestamp-ms': z.int(),
  'manifest-list': z.string(),
  summary: z.record(z.string(), z.string()),
});

/** The parts of a table's metadata that we read. */
const metadataSchema = z.looseObject({
  location: z.string(),
  'last-sequence-number': z.int(),
  'last-updated-ms': z.int(),
  schemas: z.array(schemaSchema),
  'current-snapshot-id': z.int(),
  snapshots: z.array(snapshotSchema),
  properties: z.record(z.string(), z.string()),
});
export type Metadata = z.infer<typeof metadataSchema>;

export function parseMetadata(bytes: Uint8Array): Metadata {
  return metadataSchema.parse(JSON.parse(Buffer.from(bytes).toString()));
}

/**
 * The metadata of a table without a snapshot. It continues the numbering of the one before, so that new files get other
 * names than its files.
 */
export function emptyMetadata(table: Table, location: string, before: Metadata | null): Metadata {
  return {
    'format-version': 2,
    'table-uuid': randomUUID(),
    location,
    'last-sequence-number': before?.['last-sequence-number'] ?? 0,
    'last-updated-ms': 0,
    'last-column-id': 0,
    'current-schema-id': 0,
    schemas: [],
    'default-spec-id': 0,
    'partition-specs': [{ 'spec-id': 0, fields: partitionFields(table) }],
    'last-partition-id': Math.max(...partitionFields(table).map((field) => field['field-id'])),
    'default-sort-order-id': 0,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    properties: {},
    'current-snapshot-id': NO_SNAPSHOT,
    refs: {},
    snapshots: [],
    'snapshot-log': [],
    'metadata-log': [],
  };
}

/** Takes over the columns that this version of indexhouse has. @returns whether they have changed */
export function adoptSchema({ metadata, table }: { metadata: Metadata; table: Table }): boolean {
  const fields = fieldsOf(table);
  if (JSON.stringify(metadata.schemas.at(-1)?.fields) === JSON.stringify(fields)) return false;
  const id = metadata.schemas.length;
  metadata.schemas.push({ type: 'struct', 'schema-id': id, fields });
  Object.assign(metadata, { 'current-schema-id': id, 'last-column-id': fields.length });
  metadata.properties['schema.name-mapping.default'] = nameMapping(table);
  return true;
}
