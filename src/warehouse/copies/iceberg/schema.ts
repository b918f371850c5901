import type { Schema } from 'avsc';
import { z } from 'zod';
import { columnsOf, type Table } from '../../log/folder/tables.js';

/** Iceberg's names of DuckDB's types. JSON is stored as text. */
const TYPES: Readonly<Record<string, string>> = {
  VARCHAR: 'string',
  JSON: 'string',
  BOOLEAN: 'boolean',
  INTEGER: 'int',
  BIGINT: 'long',
  DOUBLE: 'double',
  DATE: 'date',
  'TIMESTAMP WITH TIME ZONE': 'timestamptz',
};
/** Added to the id of a list column, this is the id of its elements; the fields of these follow at a hundredfold. */
const ELEMENT_IDS_FROM = 500;
const FIELD_IDS_FROM = 10_000;
const PARTITION_IDS_FROM = 1000;

const fieldSchema = z.object({ id: z.int(), name: z.string(), required: z.boolean(), type: z.unknown() });
export const schemaSchema = z.looseObject({ 'schema-id': z.int(), fields: z.array(fieldSchema) });

/** The columns of a table, whose ids are their positions: columns are only ever added, at the end. */
export function fieldsOf(table: Table): z.infer<typeof fieldSchema>[] {
  return columnsOf(table).map(({ name, type }, at) => ({ id: at + 1, name, required: false, type: typeOf(type, at) }));
}

function typeOf(type: string, at: number): unknown {
  const element = /^(.*)\[\]$/s.exec(type)?.[1];
  if (element !== undefined) {
    return {
      type: 'list',
      'element-id': ELEMENT_IDS_FROM + at + 1,
      element: typeOf(element, at),
      'element-required': false,
    };
  }
  const inside = structOf(type, at);
  if (inside) {
    return {
      type: 'struct',
      fields: inside.map(({ name, type, id }) => ({ id, name, required: false, type: typeOf(type, at) })),
    };
  }
  const known = TYPES[type];
  if (known === undefined) throw new TypeError(`Iceberg has no type for DuckDB's ${type}`);
  return known;
}

/** The fields of a type such as `STRUCT("change" VARCHAR, observed_at TIMESTAMP WITH TIME ZONE)`; null for another type. */
function structOf(type: string, at: number): { name: string; type: string; id: number }[] | null {
  const [, inside] = /^STRUCT\((.*)\)$/s.exec(type) ?? [];
  return (
    inside?.split(', ').map((field, place) => {
      const [, name = '', of = ''] = /^"?(\w+)"? (.*)$/.exec(field) ?? [];
      return { name, type: of, id: FIELD_IDS_FROM + 100 * at + place };
    }) ?? null
  );
}

/** `schema.name-mapping.default`: which column is which in files that carry no field ids. */
export function nameMapping(table: Table): string {
  const fields = columnsOf(table).map(({ name, type }, at) => {
    const mapped = { 'field-id': at + 1, names: [name] };
    if (!type.endsWith('[]')) return mapped;
    const inside = structOf(type.slice(0, -2), at)?.map(({ name, id }) => ({ 'field-id': id, names: [name] }));
    const element = { 'field-id': ELEMENT_IDS_FROM + at + 1, names: ['element'], ...(inside && { fields: inside }) };
    return { ...mapped, fields: [element] };
  });
  return JSON.stringify(fields);
}

/**
 * The columns with one value in each file. Their bounds are recorded, so that readers open no file needlessly. The state
 * has no date.
 */
export function boundedColumns(table: Table): { name: string; id: number }[] {
  return fieldsOf(table).filter(({ name }) => name === 'website_id' || name === 'snapshot_date');
}

/**
 * The fields of the partition spec: the website, untransformed. Not the date: in a table partitioned by a date, whoever
 * wrote it, DuckDB 1.4 finds no rows by `<` or `>`.
 */
export function partitionFields(table: Table) {
  const websites = boundedColumns(table).filter(({ name }) => name === 'website_id');
  return websites.map(({ name, id }, at) => ({
    name,
    'source-id': id,
    'field-id': PARTITION_IDS_FROM + at,
    transform: 'identity',
  }));
}

const optional = (type: Schema): Schema => ['null', type] as Schema;
const field = (name: string, id: number, type: Schema) => ({
  name,
  type,
  'field-id': id,
  ...(Array.isArray(type) ? { default: null } : {}),
});
const byField = (name: string, id: number, keyId: number, value: Schema) => {
  const entry = {
    type: 'record' as const,
    name: `k${keyId}_v${keyId + 1}`,
    fields: [field('key', keyId, 'int'), field('value', keyId + 1, value)],
  };
  return field(name, id, optional({ type: 'array', items: entry, logicalType: 'map' } as const));
};

/** The Avro schema of a manifest's entries: one data file each. */
export function manifestSchema(table: Table): Schema {
  const partition = partitionFields(table).map((one) => field(one.name, one['field-id'], optional('string')));
  const file = [
    field('content', 134, 'int'),
    field('file_path', 100, 'string'),
    field('file_format', 101, 'string'),
    field('partition', 102, { type: 'record', name: 'r102', fields: partition }),
    field('record_count', 103, 'long'),
    field('file_size_in_bytes', 104, 'long'),
    byField('value_counts', 109, 119, 'long'),
    byField('null_value_counts', 110, 121, 'long'),
    byField('lower_bounds', 125, 126, 'bytes'),
    byField('upper_bounds', 128, 129, 'bytes'),
  ];
  return {
    type: 'record',
    name: 'manifest_entry',
    fields: [
      field('status', 0, 'int'),
      field('snapshot_id', 1, optional('long')),
      field('sequence_number', 3, optional('long')),
      field('file_sequence_number', 4, optional('long')),
      field('data_file', 2, { type: 'record', name: 'r2', fields: file }),
    ],
  };
}

const summary = [
  field('contains_null', 509, 'boolean'),
  field('contains_nan', 518, optional('boolean')),
  field('lower_bound', 510, optional('bytes')),
  field('upper_bound', 511, optional('bytes')),
];

/** The Avro schema of a manifest list: one manifest each. */
export const MANIFEST_LIST_SCHEMA: Schema = {
  type: 'record',
  name: 'manifest_file',
  fields: [
    field('manifest_path', 500, 'string'),
    field('manifest_length', 501, 'long'),
    field('partition_spec_id', 502, 'int'),
    field('content', 517, 'int'),
    field('sequence_number', 515, 'long'),
    field('min_sequence_number', 516, 'long'),
    field('added_snapshot_id', 503, 'long'),
    field('added_files_count', 504, 'int'),
    field('existing_files_count', 505, 'int'),
    field('deleted_files_count', 506, 'int'),
    field('added_rows_count', 512, 'long'),
    field('existing_rows_count', 513, 'long'),
    field('deleted_rows_count', 514, 'long'),
    field(
      'partitions',
      507,
      optional({ type: 'array', items: { type: 'record', name: 'r508', fields: summary }, 'element-id': 508 }),
    ),
  ],
};
