import { afterEach, describe, expect, it } from 'vitest';
import { coverageWindowSchema } from '../../src/contract/coverage.js';
import { paginationOf } from '../../src/service/pagination.js';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../src/simulator/simulator.js';

let running: Simulator | undefined;
afterEach(async () => running?.close());

async function start(options: SimulatorOptions): Promise<Simulator> {
  running = await startSimulator(options);
  return running;
}

async function json(simulator: Simulator, path: string): Promise<unknown> {
  const answer = await fetch(simulator.url + path, { headers: { authorization: 'Bearer demo-token' } });
  expect(answer.status).toBe(200);
  return answer.json();
}

async function walk(simulator: Simulator, first: string): Promise<{ urls: unknown[]; links: string[] }> {
  const urls: unknown[] = [];
  const links = [first];
  for (let next: string | null = first; next !== null; ) {
    const window = coverageWindowSchema.parse(await json(simulator, next));
    urls.push(...window.urls);
    next = window.pagination.next_page ?? null;
    expect(window.pagination.end).toBe(next === null);
    if (next !== null) links.push(next);
  }
  return { urls, links };
}

describe('the listing', () => {
  it('follows links that never hold the prefix', async () => {
    const simulator = await start({ websites: [{ id: 'a/b c.d', pages: 5 }], prefix: '/tenant/api' });
    const { urls, links } = await walk(simulator, '/v1/urls/a%2Fb%20c.d?limit=2');
    expect(urls).toHaveLength(5);
    expect(links.slice(1)).toEqual(['/v1/urls/a%2Fb%20c.d?skip=2&limit=2', '/v1/urls/a%2Fb%20c.d?skip=4&limit=2']);
    const bare = await fetch(`${simulator.origin}/v1/urls/a%2Fb%20c.d`, {
      headers: { authorization: 'Bearer demo-token' },
    });
    expect(bare.status).toBe(404);
  });

  it('takes 100 entries where no limit is named, and at most the largest', async () => {
    const simulator = await start({ websites: [{ id: 'w', pages: 300 }], maxLimit: 120 });
    const window = coverageWindowSchema.parse(await json(simulator, '/v1/urls/w'));
    expect([window.urls.length, window.pagination.limit]).toEqual([100, 100]);
    const largest = coverageWindowSchema.parse(await json(simulator, '/v1/urls/w?limit=999999'));
    expect([largest.urls.length, largest.pagination.limit]).toEqual([120, 120]);
    expect(largest.pagination.next_page).toBe('/v1/urls/w?skip=120&limit=120');
  });
});

describe('the pagination object', () => {
  it.each([
    [0, 10, 25, { next: 10, prev: null, end: false, current: 1, total: 3 }],
    [10, 10, 25, { next: 20, prev: 0, end: false, current: 2, total: 3 }],
    [20, 10, 25, { next: null, prev: 10, end: true, current: 3, total: 3 }],
    [15, 10, 25, { next: null, prev: 5, end: true, current: 2, total: 3 }],
    [5, 10, 25, { next: 15, prev: 0, end: false, current: 1, total: 3 }],
    [0, 10, 10, { next: null, prev: null, end: true, current: 1, total: 1 }],
    [0, 10, 0, { next: null, prev: null, end: true, current: 1, total: 1 }],
    [90, 10, 25, { next: null, prev: 80, end: true, current: 10, total: 3 }],
  ])('skip %i, limit %i of %i', (skip, limit, count, { next, prev, end, current, total }) => {
    const link = (from: number | null): string | null => (from === null ? null : `/v1/urls/w?skip=${from}&limit=10`);
    expect(paginationOf('/v1/urls/w', { skip, limit }, count)).toEqual({
      next_page: link(next),
      prev_page: link(prev),
      end,
      count,
      skip,
      limit,
      current_page: current,
      total_page: total,
    });
  });
});
