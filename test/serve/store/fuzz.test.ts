import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { coverageWindowSchema } from '../../../src/source/contract/coverage.js';
import { errorBodySchema } from '../../../src/source/contract/key.js';
import { urlReportSchema } from '../../../src/source/contract/report.js';
import { atLength } from '../../given/at-length.js';
import { type ServedWarehouse, serveNights } from '../../given/served.js';

const PAGES = ['https://www.example.com/a', "https://www.example.com/'%22;drop", 'https://www.example.com/ä?x=%2F&y=1'];
const MAX_LIMIT = 1000;

const documentSchema = z.object({
  paths: z.record(
    z.string(),
    z.looseObject({
      get: z
        .object({ parameters: z.array(z.object({ name: z.string(), in: z.enum(['path', 'query']) })).default([]) })
        .optional(),
    }),
  ),
});

const failures: unknown[] = [];
let served: ServedWarehouse;
beforeAll(async () => {
  const entry = { index_summary: 'Indexed', last_crawl_time: '2025-02-01T00:00:00.000Z' };
  served = await serveNights([{ at: '2025-03-01T02:00:00Z', lists: { w: PAGES.map((url) => ({ url, entry })) } }], {
    now: () => Date.parse('2025-03-02T00:00:00Z'),
    keys: { k: ['w'] },
    options: { onError: (error) => failures.push(error) },
  });
});

/** What strangers put into parameters, and what is nearly right. */
const value = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }).map((text) => text.toWellFormed()),
  fc.constantFrom('', '0', '-1', '1.5', '1e9', '99999999999999999999', '2147483647', 'NaN', 'null', 'true', '[]', '{}'),
  fc.constantFrom("' or 1=1 --", '$1', '%', '%%', '_', '\\', '\0', '../../etc/passwd', '{{7*7}}', 'w', ...PAGES),
  fc.constantFrom('2025-03-01', '9999-12-31', '0001-01-01', '2025-03-01T00:00:00Z', '2025-13-01'),
  fc.constantFrom('2025-03-01T25:00:00Z', '9999-12-31T23:59:59Z', '2025-03-01T00:00:00+99:99'),
  fc.constantFrom('-url', 'url', 'last_crawl_time', 'none', 'Indexed'),
  fc.constant('x'.repeat(5000)),
);

it('no value of any parameter gets a 500, a stack trace or more than was asked for', async () => {
  const { paths } = documentSchema.parse(JSON.parse((await served.app.inject('/openapi.json')).body));
  const operations = Object.entries(paths).flatMap(([path, { get }]) =>
    get ? [{ path, parameters: get.parameters }] : [],
  );
  expect(operations.flatMap(({ parameters }) => parameters).length).toBeGreaterThan(6);
  const request = fc.constantFrom(...operations).chain(({ path, parameters }) => {
    const query = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
    const given = fc.array(fc.tuple(fc.constantFrom(...query, 'unknown'), value), { maxLength: 5 });
    return fc.tuple(given, fc.oneof({ weight: 3, arbitrary: fc.constant('w') }, value)).map(([pairs, id]) => {
      const place = path.replace('{website_id}', encodeURIComponent(id));
      return `${place}?${pairs.map(([name, text]) => `${name}=${encodeURIComponent(text)}`).join('&')}`;
    });
  });
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(request, async (url) => {
      const answer = await served.app.inject({ url, headers: { authorization: 'Bearer k' } });
      statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1);
      expect([200, 400, 403, 404, 414]).toContain(answer.statusCode);
      expect(answer.body).not.toMatch(/node_modules|\.js:\d|duckdb|select |at Object/i);
      const body: unknown = JSON.parse(answer.body);
      if (answer.statusCode !== 200) {
        expect(errorBodySchema.parse(body).status).toBe(answer.statusCode);
      } else if (url.startsWith('/v1/urls/')) {
        expect(coverageWindowSchema.parse(body).pagination.limit).toBeLessThanOrEqual(MAX_LIMIT);
      } else if (url.startsWith('/v1/url-report')) {
        expect(PAGES).toContain(urlReportSchema.parse(body).url);
      }
    }),
    { numRuns: atLength(150, 600) },
  );
  expect(failures).toEqual([]);
  expect(statuses.get(200)).toBeGreaterThan(atLength(5, 20));
  expect(statuses.get(400)).toBeGreaterThan(atLength(50, 100));
});
