import type { World } from '../../src/app/demo/simulator/world.js';

/** Every page of a website as both parts of the API show it, in the listing's order. */
export function pagesOf(world: Pick<World, 'listing' | 'report'>, websiteId: string) {
  return world.listing(websiteId, 0, Number.POSITIVE_INFINITY).entries.map((coverage) => {
    const report = world.report(websiteId, coverage.url);
    if (report === null) throw new Error(`there is no report of ${coverage.url}`);
    return { coverage, report };
  });
}
