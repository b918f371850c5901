import { z } from 'zod';
import { DAY_MS } from '../../../base/time.js';
import type { Table } from '../../log/folder/tables.js';
import { readAvro, writeAvro } from './avro.js';
import { boundedColumns, fieldsOf, MANIFEST_LIST_SCHEMA, manifestSchema, partitionFields } from './schema.js';

const EXISTING = 0;
const ADDED = 1;
const DELETED = 2;
const DATA = 0;
const EMPTY = Buffer.alloc(0);

/** A data file of a table, and when it was added. */
export interface DataFile {
  /** The address under which readers find it. */
  address: string;
  websiteId: string;
  /** `YYYY-MM-DD`; null if the table has no dates. */
  date: string | null;
  rows: number;
  bytes: number;
  /**
   * How many values are null in each column, in the order of the columns that the table had. Readers do not need this,
   * except DuckDB 1.4, which without it finds no rows by `is null` and `is not null`.
   */
  nulls: readonly number[];
  /** The Iceberg snapshot that added it, whose id is its sequence number. */
  since: number;
}

const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array);
const entrySchema = z.object({
  status: z.int(),
  snapshot_id: z.int().nullable(),
  sequence_number: z.int().nullable(),
  data_file: z.object({
    file_path: z.string(),
    partition: z.object({ website_id: z.string() }),
    record_count: z.int(),
    file_size_in_bytes: z.int(),
    null_value_counts: z.array(z.object({ value: z.int() })),
    lower_bounds: z.array(z.object({ key: z.int(), value: bytes })),
  }),
});

/** The bytes of a manifest: an entry for each file. */
export function writeManifest(
  table: Table,
  files: readonly DataFile[],
  { sequence, schemaId }: { sequence: number; schemaId: number },
): Promise<Buffer> {
  const entries = files.map((file) => ({
    status: file.since === sequence ? ADDED : EXISTING,
    snapshot_id: file.since,
    sequence_number: file.since,
    file_sequence_number: file.since,
    data_file: {
      content: DATA,
      file_path: file.address,
      file_format: 'PARQUET',
      partition: { website_id: file.websiteId },
      record_count: file.rows,
      file_size_in_bytes: file.bytes,
      value_counts: file.nulls.map((_, at) => ({ key: at + 1, value: file.rows })),
      null_value_counts: file.nulls.map((value, at) => ({ key: at + 1, value })),
      lower_bounds: boundsOf(table, file),
      upper_bounds: boundsOf(table, file),
    },
  }));
  return writeAvro(manifestSchema(table), entries, {
    schema: JSON.stringify({ type: 'struct', 'schema-id': schemaId, fields: fieldsOf(table) }),
    'schema-id': String(schemaId),
    'partition-spec': JSON.stringify(partitionFields(table)),
    'partition-spec-id': '0',
    'format-version': '2',
    content: 'data',
  });
}

/** The files that a manifest holds. */
export async function readManifest(table: Table, manifest: Uint8Array): Promise<DataFile[]> {
  const date = boundedColumns(table).find(({ name }) => name === 'snapshot_date');
  const entries = await readAvro(manifest, entrySchema);
  return entries
    .filter(({ status }) => status !== DELETED)
    .map(({ sequence_number, data_file }) => {
      const day = data_file.lower_bounds.find(({ key }) => key === date?.id)?.value;
      return {
        address: data_file.file_path,
        websiteId: data_file.partition.website_id,
        date: day ? dateOf(Buffer.from(day).readInt32LE()) : null,
        rows: data_file.record_count,
        bytes: data_file.file_size_in_bytes,
        nulls: data_file.null_value_counts.map(({ value }) => value),
        since: sequence_number ?? 0,
      };
    });
}

/** A file holds one website and one date, so both bounds of these columns equal their value. */
function boundsOf(table: Table, file: DataFile): { key: number; value: Buffer }[] {
  return boundedColumns(table).map(({ name, id }) => {
    const value = name === 'website_id' ? Buffer.from(file.websiteId) : dayBytes(file.date ?? '');
    return { key: id, value };
  });
}

const summarySchema = z.looseObject({ lower_bound: bytes, upper_bound: bytes });
const manifestFileSchema = z.looseObject({
  manifest_path: z.string(),
  manifest_length: z.int(),
  sequence_number: z.int(),
  added_files_count: z.int(),
  existing_files_count: z.int(),
  added_rows_count: z.int(),
  existing_rows_count: z.int(),
  partitions: z.array(summarySchema),
});
/** A line of a manifest list. */
export type ManifestFile = z.infer<typeof manifestFileSchema>;

/** The line of a manifest list for the files that one manifest holds. */
export function manifestFile(
  files: readonly DataFile[],
  { address, length, sequence }: { address: string; length: number; sequence: number },
): ManifestFile {
  const added = files.filter(({ since }) => since === sequence);
  const existing = files.filter(({ since }) => since !== sequence);
  return {
    manifest_path: address,
    manifest_length: length,
    partition_spec_id: 0,
    content: DATA,
    sequence_number: sequence,
    min_sequence_number: Math.min(...files.map(({ since }) => since)),
    added_snapshot_id: sequence,
    added_files_count: added.length,
    existing_files_count: existing.length,
    deleted_files_count: 0,
    added_rows_count: rowsOf(added),
    existing_rows_count: rowsOf(existing),
    deleted_rows_count: 0,
    partitions: [{ contains_null: false, contains_nan: false, ...websiteBounds(files) }],
  };
}

function websiteBounds(files: readonly DataFile[]): { lower_bound: Buffer; upper_bound: Buffer } {
  const sorted = files.map(({ websiteId }) => Buffer.from(websiteId)).sort(Buffer.compare);
  return { lower_bound: sorted[0] ?? EMPTY, upper_bound: sorted.at(-1) ?? EMPTY };
}

export function writeManifestList(manifests: readonly ManifestFile[], sequence: number): Promise<Buffer> {
  return writeAvro(MANIFEST_LIST_SCHEMA, manifests, {
    'snapshot-id': String(sequence),
    'sequence-number': String(sequence),
    'format-version': '2',
  });
}

export function readManifestList(bytes: Uint8Array): Promise<ManifestFile[]> {
  return readAvro(bytes, manifestFileSchema);
}

export function rowsOf(files: readonly DataFile[]): number {
  return files.reduce((rows, file) => rows + file.rows, 0);
}

function dayBytes(date: string): Buffer {
  const day = Buffer.alloc(4);
  day.writeInt32LE(Date.parse(date) / DAY_MS);
  return day;
}

function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
