import { expect, test } from 'vitest';
import { z } from 'zod';
import { contractJsonSchemas } from '../../src/contract/json-schema.js';
import { urlReportSchema } from '../../src/contract/report.js';

const objectSchema = z.looseObject({
  properties: z.record(z.string(), z.unknown()),
  required: z.array(z.string()).optional(),
});

test('the contract gives a JSON Schema of each payload', () => {
  const schemas = contractJsonSchemas();
  expect(Object.keys(schemas)).toEqual(['CoverageWindow', 'CoverageEntry', 'UrlReport', 'KeyDetails', 'Error']);
  const report = objectSchema.parse(schemas['UrlReport']);
  expect(Object.keys(report.properties)).toEqual(Object.keys(urlReportSchema.shape));
  expect(report.required).toEqual(['url']);
  expect(objectSchema.parse(schemas['CoverageWindow']).properties).toHaveProperty(
    'urls.items.properties.canonicals_match',
  );
});
