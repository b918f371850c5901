import { expect, it, onTestFinished, vi } from 'vitest';
import { Engine } from '../../src/base/storage/engine.js';
import { casesAtLength } from '../given/at-length.js';
import { givenNights } from '../given/nights.js';

const LIMITS: [limit: string, bytes: number][] = [
  ['1GB', 256e6],
  ['4GB', 1e9],
  ['128MB', 128e6],
];
it.each(casesAtLength(LIMITS, '4GB'))('of %s each engine gets %d bytes', async (memory_limit, bytes) => {
  const given = await givenNights();
  const open = vi.spyOn(Engine, 'open');
  onTestFinished(() => open.mockRestore());
  await given.night({ list: { a: {} }, sections: { warehouse: { memory_limit } } });
  expect(open.mock.calls.length).toBeGreaterThan(0);
  expect(open.mock.calls.map(([{ memoryLimit }]) => memoryLimit)).toEqual(open.mock.calls.map(() => bytes));
});
