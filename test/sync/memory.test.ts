import { expect, it, vi } from 'vitest';
import { Engine } from '../../src/base/storage/engine.js';
import { casesAtLength } from '../given/at-length.js';
import { givenNights } from '../given/nights.js';

const LIMITS: [limit: string, bytes: number][] = [
  ['1GB', 256e6],
  ['4GB', 1e9],
  ['128MB', 128e6],
];
it.each(casesAtLength(LIMITS, '4GB'))(
  'with a memory_limit of %s a sync gives each engine %d bytes',
  async (memory_limit, bytes) => {
    const ends: (() => void | Promise<void>)[] = [];
    const open = vi.spyOn(Engine, 'open');
    try {
      const given = await givenNights((end) => ends.push(end));
      open.mockClear();
      await given.night({ list: { a: {} }, sections: { warehouse: { memory_limit } } });
      expect(open.mock.calls.length).toBeGreaterThan(0);
      expect(open.mock.calls.map(([{ memoryLimit }]) => memoryLimit)).toEqual(open.mock.calls.map(() => bytes));
    } finally {
      open.mockRestore();
      for (const end of ends) await end();
    }
  },
);
