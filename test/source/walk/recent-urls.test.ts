import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecentUrls } from '../../../src/source/walk/walk-state.js';

const CAPACITY = 4;
/** Adds the page of this name, or goes back by so many entries. */
const steps = fc.array(fc.oneof(fc.record({ page: fc.nat({ max: 12 }) }), fc.record({ back: fc.nat({ max: 6 }) })), {
  maxLength: 40,
});

describe('the URLs that a walk saw last', () => {
  it('are known by their last place, the newest always, and none that was dropped', () => {
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
        for (let page = 0; page <= 12; page++) {
          const last = kept.lastIndexOf(`p${page}`);
          const known = recent.positionOf(`p${page}`);
          if (newest.includes(`p${page}`)) expect(known).toBe(last);
          else expect([undefined, ...kept.flatMap((url, at) => (url === `p${page}` ? [at] : []))]).toContain(known);
        }
      }),
    );
  });

  it('are no more than two times as many as asked for', () => {
    const recent = new RecentUrls(CAPACITY);
    for (let at = 0; at < 100; at++) recent.add(`p${at}`, at);
    const known = Array.from({ length: 100 }, (_, at) => recent.positionOf(`p${at}`)).filter((at) => at !== undefined);
    expect(known.length).toBeLessThanOrEqual(2 * CAPACITY);
    expect(known.at(-1)).toBe(99);
  });
});
