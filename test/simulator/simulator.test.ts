import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.js';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({
    seed: 5,
    websites: [
      { id: 'a/b', pages: 450, nasty: true },
      { id: 'v', pages: 3 },
    ],
    prefix: '/tenant/api',
  });
});
beforeEach(() => {
  simulator.requests.reset();
  simulator.setFaults({});
});
afterAll(() => simulator.close());

function get(path: string): Promise<Response> {
  return fetch(simulator.url + path, { headers: { authorization: 'Bearer demo-token' } });
}

async function control(path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
  const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await fetch(simulator.origin + path, body === undefined ? {} : json);
  return { status: answer.status, body: await answer.json() };
}

async function post(path: string): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(simulator.origin + path, { method: 'POST' });
  return { status: answer.status, body: await answer.json() };
}

describe('the control path', () => {
  it('shows where the world is, and moves it', async () => {
    const night = simulator.world.night;
    expect((await post('/control/advance?nights=2')).body).toMatchObject({ night: night + 2, seed: 5 });
    expect((await control('/control')).body).toEqual({
      night: night + 2,
      now: simulator.world.now.toISOString(),
      seed: 5,
      websites: simulator.world.websites,
      faults: {},
      requests: { attempted: 0, answered: 0, by_status: {} },
    });
    simulator.advance();
    expect(simulator.world.night).toBe(night + 3);
    for (const nights of ['0', '-1', 'x', '1.5', '10001']) {
      expect((await post(`/control/advance?nights=${nights}`)).status).toBe(400);
    }
    expect(simulator.world.night).toBe(night + 3);
  });
});

describe('counters', () => {
  it('count every attempt and every whole answer, per page and per window', async () => {
    const url = simulator.world.listing('a/b', 3, 1).entries[0]?.url ?? '';
    const report = `/v1/url-report?url=${encodeURIComponent(url)}`;
    for (const path of [report, report, '/v1/urls/a%2Fb?skip=0&limit=2', '/v1/urls/none', '/v1']) await get(path);
    simulator.setFaults({ '500': 1 });
    await get(report);
    expect((await control('/control/requests')).body).toMatchObject({
      attempted: 6,
      answered: 4,
      by_status: { 200: 4, 404: 1, 500: 1 },
      by_request: { [`/tenant/api${report}`]: { attempted: 3, answered: 2 } },
      reports: { [url]: { attempted: 3, answered: 2 } },
      windows: { 'a%2Fb?skip=0&limit=2': { attempted: 1, answered: 1 }, none: { attempted: 1, answered: 0 } },
    });
    expect((await post('/control/reset-counters')).body).toEqual({ attempted: 0, answered: 0, by_status: {} });
    expect(simulator.requests.byRequest.size).toBe(0);
  });

  it('keep only totals if asked to', async () => {
    const frugal = await startSimulator({ websites: [{ id: 'w', pages: 1 }], countPerRequest: false });
    await fetch(`${frugal.url}/v1`, { headers: { authorization: 'Bearer demo-token' } });
    expect(frugal.requests).toMatchObject({ attempted: 1, answered: 1 });
    expect(frugal.requests.byRequest.size).toBe(0);
    await frugal.close();
  });
});

it('lives through its first nights before the first request', async () => {
  const later = await startSimulator({ websites: [{ id: 'w', pages: 50 }], nights: 4 });
  expect(later.world.night).toBe(4);
  await later.close();
});
