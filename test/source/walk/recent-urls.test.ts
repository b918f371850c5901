import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecentUrls } from '../../../src/source/walk/walk-state.js';

const CAPACITY = 4;
/** Adds the page of this name, or goes back by so many entries. */
const steps = fc.array(fc.oneof(fc.record({ page: fc.nat({ max: 12 }) }), fc.record({ back: fc.nat({ max: 6 }) })), {
  maxLength: 40,
});

describe('the URLs that a walk saw last', () => {
  it('are known by their last place, the newest always, not too many, and none that was dropped', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const recent = new RecentUrls(CAPACITY);
        const kept: string[] = [];
        for (const step of all) {
          if ('page' in step) {
            recent.add(`p${step.page}`, kept.length);
            kept.push(`p${step.page}`);
          } else {
            kept.length = Math.max(0, kept.length - step.back);
            recent.dropFrom(kept.length);
          }
        }
        const addedSinceBack = all.length - 1 - all.findLastIndex((step) => 'back' in step);
        const newest = kept.slice(kept.length - Math.min(CAPACITY, addedSinceBack));
        let known = 0;
        for (let page = 0; page <= 12; page++) {
          const last = kept.lastIndexOf(`p${page}`);
          const position = recent.positionOf(`p${page}`);
          if (position !== undefined) known++;
          if (newest.includes(`p${page}`)) expect(position).toBe(last);
          else expect([undefined, ...kept.flatMap((url, at) => (url === `p${page}` ? [at] : []))]).toContain(position);
        }
        expect(known).toBeLessThanOrEqual(2 * CAPACITY);
      }),
    );
  });
});
