import { expect, test } from 'vitest';
import { generatedParts, partOf, readContract, updateContract } from './generated.js';

test.each(['endings', 'commands', 'configuration', 'tables', 'analyses'])(
  'docs/contract.md tells the %s as they are',
  async (name) => {
    const parts = await generatedParts();
    if (process.env['UPDATE_GENERATED']) updateContract(parts);
    expect(partOf(readContract(), name)).toBe(parts[name]);
  },
);
