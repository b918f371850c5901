import { expect, test } from 'vitest';
import { World } from '../../../../src/app/demo/simulator/world.js';
import { NASTY_PATHS } from '../../../given/nasty-paths.js';
import { pagesOf } from '../../../given/pages-of.js';

const world = () => new World({ websites: [{ id: 'w', pages: 500, paths: NASTY_PATHS }] });

test('the same seed gives the same world, however its nights are counted', () => {
  const [a, b] = [world(), world()];
  a.advance(3);
  for (let night = 1; night <= 3; night++) {
    b.advance();
    b.listing('w', night * 7, 5);
    b.report('w', b.listing('w', 2, 1).entries[0]?.url ?? '');
  }
  expect(pagesOf(b, 'w')).toEqual(pagesOf(a, 'w'));
  expect(a.now.toISOString()).toBe('2026-01-04T02:00:00.000Z');
});
