import { z } from 'zod';
import { coverageEntrySchema, coverageWindowSchema } from './coverage.js';
import { errorBodySchema, keyDetailsSchema } from './key.js';
import { urlReportSchema } from './report.js';

/** The JSON Schema of every payload of the interface, by its name. Unknown fields are allowed, as they are read. */
export function contractJsonSchemas(): Record<string, unknown> {
  return {
    CoverageWindow: z.toJSONSchema(coverageWindowSchema.extend({ urls: z.array(coverageEntrySchema) })),
    CoverageEntry: z.toJSONSchema(coverageEntrySchema),
    UrlReport: z.toJSONSchema(urlReportSchema),
    KeyDetails: z.toJSONSchema(keyDetailsSchema),
    Error: z.toJSONSchema(errorBodySchema),
  };
}
