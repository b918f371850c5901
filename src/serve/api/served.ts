import { z } from 'zod';
import { coverageEntrySchema, coverageWindowSchema } from '../../source/contract/coverage.js';
import { integer, text, truth } from '../../source/contract/fields.js';
import { errorBodySchema, keyDetailsSchema } from '../../source/contract/key.js';
import { urlReportSchema } from '../../source/contract/report.js';

const count = integer.nonnegative();

/**
 * What our own services answer. The contract tolerates what a foreign service leaves out or adds; these schemas are
 * derived from it and state what a client can rely on: every field is there, and no other one is.
 */
export const servedSchemas = z.registry<{ id: string }>();

/** Only this is omitted if nothing is known about a page (specification, 2.1). */
const { canonicals_match } = coverageEntrySchema.shape;
const servedEntry = named(
  'CoverageEntry',
  z.strictObject(coverageEntrySchema.shape).required().extend({ canonicals_match }),
);

const servedPagination = named(
  'Pagination',
  z.strictObject({
    ...{ end: truth, count, skip: count, limit: count, current_page: integer, total_page: integer },
    ...{ next_page: text.nullable(), prev_page: text.nullable() },
  }),
);

export const servedWindow = named(
  'CoverageWindow',
  z.strictObject({ ...coverageWindowSchema.shape, urls: z.array(servedEntry), pagination: servedPagination }),
);

export const servedReport = named('UrlReport', z.strictObject(urlReportSchema.shape).required());

export const servedKey = named(
  'KeyDetails',
  z.strictObject({
    ...keyDetailsSchema.shape,
    account: z.strictObject(keyDetailsSchema.shape.account.shape),
    websites_access: z.array(z.strictObject(keyDetailsSchema.shape.websites_access.element.shape)),
  }),
);

export const servedError = named('Error', z.strictObject(errorBodySchema.shape));

/** Gives a schema the name that it has in the OpenAPI document. */
function named<T extends z.ZodType>(id: string, schema: T): T {
  servedSchemas.add(schema, { id });
  return schema;
}
