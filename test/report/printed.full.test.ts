import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHROMIUM, SKIPPED } from '../browser/browser.js';
import { run } from '../given/cli.js';
import { temporaryFolder } from '../given/folder.js';
import { givenWarehouse, indexed, out } from './given.js';

const shop = givenWarehouse([
  {
    at: '2025-03-01T02:00:00Z',
    lists: { shop: [indexed('https://shop.example/a'), indexed('https://shop.example/b')] },
  },
  { at: '2025-03-02T02:00:00Z', lists: { shop: [indexed('https://shop.example/a'), out('https://shop.example/b')] } },
]);

describe.skipIf(SKIPPED !== '')(`a report that a browser prints${SKIPPED}`, () => {
  it.each([
    ['report.pdf', '%PDF-'],
    ['report.png', '\x89PNG'],
  ])('is %s', async (name, magic) => {
    const file = join(temporaryFolder(), name);
    const env = { ...process.env, CHROME_PATH: CHROMIUM };
    const { code, stderr } = await run(['report', '--warehouse', shop.path, '--out', file], { env });
    expect([code, stderr]).toEqual([0, '']);
    const bytes = readFileSync(file);
    expect(bytes.toString('latin1', 0, magic.length)).toBe(magic);
    expect(bytes.length).toBeGreaterThan(10_000);
  });
});
