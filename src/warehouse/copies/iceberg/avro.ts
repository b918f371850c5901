import { buffer } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import avro, { type Schema } from 'avsc';
import type { z } from 'zod';

/**
 * An Avro file with these records, and with custom metadata in its header. Other attributes of the schema's fields,
 * such as `field-id`, are kept in the header, too.
 */
export async function writeAvro(
  schema: Schema,
  records: readonly unknown[],
  metadata: Readonly<Record<string, string>>,
): Promise<Buffer> {
  const entries = Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value)]);
  // The types of the library lack `metadata`.
  const options = { codec: 'deflate', writeHeader: 'always' as const, metadata: Object.fromEntries(entries) };
  const encoder = new avro.streams.BlockEncoder(schema, options);
  for (const record of records) encoder.write(record);
  encoder.end();
  return buffer(encoder);
}

/** The records of an Avro file. @throws if it is damaged or holds something else */
export async function readAvro<T>(bytes: Uint8Array, row: z.ZodType<T>): Promise<T[]> {
  const decoder = new avro.streams.BlockDecoder();
  const records: T[] = [];
  decoder.on('data', (record: unknown) => records.push(row.parse({ ...Object(record) })));
  decoder.end(bytes);
  await finished(decoder);
  return records;
}
