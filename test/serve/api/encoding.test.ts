import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { worldStore } from '../../../src/app/demo/simulator/simulator.js';
import { World } from '../../../src/app/demo/simulator/world.js';
import { buildServer } from '../../../src/serve/api/http.js';
import { coverageWindowSchema } from '../../../src/source/contract/coverage.js';

const HEADERS = { authorization: 'Bearer demo-token' };

describe('what is hard to encode comes back byte for byte', () => {
  it('any website id', async () => {
    // A path segment of only dots cannot be addressed by any URL.
    const usable = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((id) => id.isWellFormed() && !/^\.{1,2}$/.test(id));
    await fc.assert(
      fc.asyncProperty(usable, async (id) => {
        const world = new World({ websites: [{ id, pages: 3 }] });
        const app = buildServer(worldStore(world, [{ token: 'demo-token', label: '', websites: 'all' }]));
        await expectWebsite(app, world, id);
        await app.close();
      }),
      { numRuns: 20 },
    );
  });
});

async function expectWebsite(app: ReturnType<typeof buildServer>, world: World, id: string): Promise<void> {
  const answer = await app.inject({ url: `/v1/urls/${encodeURIComponent(id)}?skip=0&limit=2`, headers: HEADERS });
  expect([id, answer.statusCode]).toEqual([id, 200]);
  const { pagination, urls } = coverageWindowSchema.parse(answer.json());
  expect(urls).toEqual(world.listing(id, 0, 2).entries);
  expect(pagination.next_page).toBe(`/v1/urls/${encodeURIComponent(id)}?skip=2&limit=2`);
}
