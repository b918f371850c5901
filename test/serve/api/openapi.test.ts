import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { worldStore } from '../../../src/app/demo/simulator/store.js';
import { World } from '../../../src/app/demo/simulator/world.js';
import { buildServer } from '../../../src/serve/api/http.js';
import { paginationSchema } from '../../../src/source/contract/coverage.js';
import { keyDetailsSchema } from '../../../src/source/contract/key.js';
import { urlReportSchema } from '../../../src/source/contract/report.js';
import { startSimulator } from '../../given/client-clock.js';

const schemaSchema = z.looseObject({
  required: z.array(z.string()),
  additionalProperties: z.literal(false),
  properties: z.record(z.string(), z.unknown()),
});
const documentSchema = z.looseObject({
  servers: z.array(z.object({ url: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), z.object({ responses: z.record(z.string(), z.unknown()) }))),
  components: z.object({ schemas: z.record(z.string(), schemaSchema) }),
});

async function documentOf() {
  const app = buildServer(worldStore(new World({ websites: [{ id: 'w', pages: 1 }] }), []));
  const answer = await app.inject('/openapi.json');
  await app.close();
  return documentSchema.parse(answer.json());
}

describe('the OpenAPI document says what is answered', () => {
  it('all fields of a report, each of them always there', async () => {
    const { components } = await documentOf();
    const fields = Object.keys(urlReportSchema.shape);
    expect(fields).toHaveLength(27);
    expect(components.schemas['UrlReport']).toMatchObject({ required: fields });
    expect(components.schemas['Pagination']?.required.sort()).toEqual(Object.keys(paginationSchema.shape).sort());
    expect(components.schemas['KeyDetails']?.required).toEqual(Object.keys(keyDetailsSchema.shape));
  });

  it('counts are whole numbers and never null; only the links are', async () => {
    const { components } = await documentOf();
    const { next_page, prev_page, ...others } = components.schemas['Pagination']?.properties ?? {};
    for (const link of [next_page, prev_page]) expect(link).toMatchObject({ type: ['string', 'null'] });
    expect(others).toMatchObject({ count: { type: 'integer', minimum: 0 }, end: { type: 'boolean' } });
    expect(JSON.stringify(others)).not.toContain('null');
  });

  it('times are date-times, and of URLs the scheme is written in any case', async () => {
    const { CoverageEntry, UrlReport } = (await documentOf()).components.schemas;
    for (const [name, field] of Object.entries({ ...CoverageEntry?.properties, ...UrlReport?.properties })) {
      if (/_(?:time|timestamp|date|detection)$/.test(name)) expect([name, field]).toEqual([name, A_TIME]);
    }
    const { pattern } = z.object({ pattern: z.string() }).parse(CoverageEntry?.properties['url']);
    expect('HTTPS://A.example/').toMatch(new RegExp(pattern, 'u'));
  });

  it('that each operation may fail, and how', async () => {
    const { paths } = await documentOf();
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    expect(operations.map(({ responses }) => Object.keys(responses))).toEqual(
      Array.from({ length: 3 }, () => ['200', '4XX', '5XX']),
    );
  });

  it('nothing that this service does not have', async () => {
    const { paths, components } = await documentOf();
    expect(Object.keys(paths)).toHaveLength(3);
    const names = ['CoverageEntry', 'CoverageWindow', 'Error', 'KeyDetails', 'Pagination', 'UrlReport'];
    expect(Object.keys(components.schemas).sort()).toEqual(names);
  });
});

const A_TIME = { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] };

it('simulate is described below its prefix, without a key', async () => {
  const simulator = await startSimulator({ websites: [{ id: 'w', pages: 3 }], prefix: '/tenant/api' });
  const { servers, paths } = documentSchema.parse(await (await fetch(`${simulator.url}/openapi.json`)).json());
  expect(servers).toEqual([{ url: '/tenant/api' }]);
  expect(Object.keys(paths)).toEqual(['/v1', '/v1/urls/{website_id}', '/v1/url-report']);
});
