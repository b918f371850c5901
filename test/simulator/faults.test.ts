import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { coverageEntrySchema, coverageWindowSchema } from '../../src/contract/coverage.js';
import { urlReportSchema } from '../../src/contract/report.js';
import { Faults, violate } from '../../src/simulator/faults.js';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.js';

let simulator: Simulator;
let page: string;
beforeAll(async () => {
  simulator = await startSimulator({ websites: [{ id: 'w', pages: 100 }], slowBodyMs: 10, retryAfterS: 7 });
  page = simulator.world.listing('w', 0, 1).entries[0]?.url ?? '';
});
beforeEach(() => simulator.requests.reset());
afterAll(() => simulator.close());

function get(path: string): Promise<Response> {
  return fetch(simulator.url + path, { headers: { authorization: 'Bearer demo-token' }, redirect: 'manual' });
}
const LISTING = '/v1/urls/w?skip=0&limit=10';
const report = (): string => `/v1/url-report?url=${encodeURIComponent(page)}`;

describe('draws', () => {
  it('depend on seed and number alone, and keep the rates', () => {
    const rates = { reset: 0.1, '503': 0.2, slow: 0.3 };
    const kinds = (seed: number): unknown[] =>
      Array.from({ length: 10_000 }, (_, n) => new Faults(seed, rates).kindFor(n, 'listing'));
    const first = kinds(1);
    expect(kinds(1)).toEqual(first);
    expect(kinds(2)).not.toEqual(first);
    for (const [kind, rate] of Object.entries(rates)) {
      expect(Math.abs(first.filter((drawn) => drawn === kind).length / 10_000 - rate)).toBeLessThan(0.02);
    }
  });

  it('spare the operations that are not named', () => {
    const faults = new Faults(1);
    faults.set({ '500': 1 }, ['report']);
    expect([faults.kindFor(0, 'listing'), faults.kindFor(0, 'report')]).toEqual([null, '500']);
  });
});

describe('answers', () => {
  it.each([
    ['429', 429, '7'],
    ['500', 500, null],
    ['503', 503, null],
  ] as const)('%s', async (kind, status, retryAfter) => {
    simulator.setFaults({ [kind]: 1 });
    const answer = await get(LISTING);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([status, retryAfter]);
    expect(await answer.json()).toMatchObject({ status });
    expect(simulator.requests).toMatchObject({ attempted: 1, answered: 0, byStatus: { [status]: 1 } });
  });

  it('reset', async () => {
    simulator.setFaults({ reset: 1 });
    await expect(get(LISTING)).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
    expect(simulator.requests).toMatchObject({ attempted: 1, answered: 0, byStatus: {} });
  });

  it('slow', async () => {
    simulator.setFaults({ slow: 1 });
    const answer = await get(report());
    expect(await answer.json()).toEqual(simulator.world.report('w', page));
    expect(answer.headers.get('content-length')).toBeNull();
    await expect.poll(() => simulator.requests.answered).toBe(1);
  });

  it('truncated', async () => {
    simulator.setFaults({ truncated: 1 });
    const answer = await get(report());
    const whole = JSON.stringify(simulator.world.report('w', page)).length;
    expect([answer.status, Number(answer.headers.get('content-length'))]).toEqual([200, whole]);
    await expect(answer.text()).rejects.toThrow('terminated');
    expect(simulator.requests).toMatchObject({ attempted: 1, answered: 0 });
  });

  it('violation', async () => {
    simulator.setFaults({ violation: 1 });
    const { urls } = coverageWindowSchema.parse(await (await get(LISTING)).json());
    expect(urls.filter((entry) => !coverageEntrySchema.safeParse(entry).success)).toHaveLength(1);
    expect(urlReportSchema.safeParse(await (await get(report())).json()).success).toBe(false);
    expect((await get('/v1/urls/none')).status).toBe(404);
  });

  it('violation, whatever is drawn', () => {
    const body = JSON.stringify(simulator.world.report('w', page));
    const spoilt = Array.from({ length: 100 }, (_, draw) => violate(body, 'report', draw));
    expect(spoilt.filter((text) => urlReportSchema.safeParse(JSON.parse(text)).success)).toEqual([]);
    expect(new Set(spoilt).size).toBe(6);
    const empty = violate('{"urls":[],"pagination":{}}', 'listing', 1);
    expect(coverageWindowSchema.safeParse(JSON.parse(empty)).success).toBe(false);
  });

  it('wrong_url, for reports only', async () => {
    simulator.setFaults({ wrong_url: 1 });
    expect(await (await get(report())).json()).toEqual({ ...simulator.world.report('w', page), url: `${page}-other` });
    expect(await (await get('/v1/urls/w?limit=1')).json()).toMatchObject({ urls: [{ url: page }] });
  });
});
