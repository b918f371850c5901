import { z } from 'zod';
import { coverageEntrySchema, coverageWindowSchema, paginationSchema } from './coverage.js';
import { integer, text, timestamp } from './fields.js';
import { type ErrorBody, errorBodySchema, keyDetailsSchema } from './key.js';
import { type UrlReport, urlReportSchema } from './report.js';

const count = integer.nonnegative();

/**
 * What our own services answer. The contract tolerates what a foreign service leaves out or adds; these schemas are
 * derived from it and state what a client can rely on: every field is there, and no other one is.
 */
export const servedSchemas = z.registry<{ id: string; description?: string }>();

/** Only `canonicals_match` is omitted if nothing is known about a page (specification, 2.1). */
const servedEntry = named(
  'CoverageEntry',
  z.strictObject({
    ...present(coverageEntrySchema.shape),
    canonicals_match: coverageEntrySchema.shape.canonicals_match,
  }),
);

const { next_page, prev_page, ...counted } = paginationSchema.shape;
const servedPagination = named(
  'Pagination',
  z.strictObject({ ...notNull(counted), ...present({ next_page, prev_page }) }),
);

export const servedWindow = named(
  'CoverageWindow',
  z.strictObject({ ...coverageWindowSchema.shape, urls: z.array(servedEntry), pagination: servedPagination }),
);

export const servedReport = named('UrlReport', z.strictObject(present(urlReportSchema.shape)));

export const servedKey = named(
  'KeyDetails',
  z.strictObject({
    ...keyDetailsSchema.shape,
    account: z.strictObject(keyDetailsSchema.shape.account.shape),
    websites_access: z.array(z.strictObject(keyDetailsSchema.shape.websites_access.element.shape)),
  }),
);

export const servedError = named('Error', z.strictObject(errorBodySchema.shape));

const servedSnapshot = named(
  'Snapshot',
  z.strictObject({
    id: z.uuid(),
    time: timestamp.describe('When its walk began.'),
    date: z.iso.date().describe('The same as a date in the time zone of the warehouse.'),
    listing_status: text.describe('`complete`, or `partial` where the walk missed pages.'),
    reports_status: text.describe('`complete`, or why not all reports that were planned are there.'),
    pages: count.describe('Pages that its listing holds.'),
    reports: count.describe('Reports that were fetched with it.'),
  }),
);
export type ServedSnapshot = z.infer<typeof servedSnapshot>;

export const servedSnapshots = named(
  'Snapshots',
  z.strictObject({ snapshots: z.array(servedSnapshot), pagination: servedPagination }),
);

/** The result for one of several pages. */
const servedResult = named(
  'UrlReportResult',
  z.strictObject({
    url: text.describe('As it was asked for.'),
    status: z.int().describe('200, or what the URL report would have been refused with.'),
    report: servedReport.nullable(),
    error: servedError.nullable(),
  }),
);
export interface ServedResult {
  url: string;
  status: number;
  report: UrlReport | null;
  error: ErrorBody | null;
}

export const servedResults = named('UrlReportResults', z.strictObject({ reports: z.array(servedResult) }));

/** Gives a schema the name that it has in the OpenAPI document. */
function named<T extends z.ZodType>(id: string, schema: T): T {
  servedSchemas.add(schema, { id });
  return schema;
}

type Fields = Readonly<Record<string, z.ZodType>>;

/** The same fields, none of which may be absent. */
function present(fields: Fields): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, required(field)]));
}

/** The same fields, none of which may be absent or null. */
function notNull(fields: Fields): Record<string, z.ZodType> {
  const bare = (field: z.ZodType) => (field instanceof z.ZodNullable ? asType(field.unwrap()) : field);
  return Object.fromEntries(Object.entries(present(fields)).map(([name, field]) => [name, bare(field)]));
}

function required(field: z.ZodType): z.ZodType {
  return field instanceof z.ZodOptional ? asType(field.unwrap()) : field;
}

/** Needed because Zod types a wrapped schema only as its core type. */
function asType(schema: unknown): z.ZodType {
  if (schema instanceof z.ZodType) return schema;
  throw new TypeError('not a Zod schema');
}
