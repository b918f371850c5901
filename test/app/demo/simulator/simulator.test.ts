import { beforeAll, expect, it } from 'vitest';
import { Faults, violate } from '../../../../src/app/demo/simulator/faults.js';
import type { Simulator } from '../../../../src/app/demo/simulator/simulator.js';
import { coverageWindowSchema } from '../../../../src/source/contract/coverage.js';
import { urlReportSchema } from '../../../../src/source/contract/report.js';
import { startSimulator } from '../../../given/client-clock.js';
import { NASTY_PATHS } from '../../../given/nasty-paths.js';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({
    websites: [{ id: 'a/b', pages: 450, paths: NASTY_PATHS }],
    prefix: '/tenant/api',
  });
});
async function control(method: string, path: string): Promise<unknown> {
  return (await fetch(`${simulator.origin}/control${path}`, { method })).json();
}

it('moves on by as many nights as requested', async () => {
  expect(await control('POST', '/advance?nights=2')).toMatchObject({ night: 2 });
  expect(await control('POST', '/advance?nights=-1')).toMatchObject({ status: 400 });
  expect(await control('GET', '')).toMatchObject({ night: 2, now: simulator.world.now.toISOString() });
});

it('draws faults from seed and number of the request alone, at their rates', () => {
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

it('breaks the contract with every violation that it draws', () => {
  const { url } = simulator.world.listing('a/b', 0, 1).entries[0] ?? { url: '' };
  const body = JSON.stringify(simulator.world.report('a/b', url));
  const spoilt = Array.from({ length: 100 }, (_, draw) => violate(body, 'report', draw));
  expect(spoilt.filter((text) => urlReportSchema.safeParse(JSON.parse(text)).success)).toEqual([]);
  expect(new Set(spoilt).size).toBeGreaterThan(10);
  const empty = violate('{"urls":[],"pagination":{}}', 'listing', 1);
  expect(coverageWindowSchema.safeParse(JSON.parse(empty)).success).toBe(false);
});
