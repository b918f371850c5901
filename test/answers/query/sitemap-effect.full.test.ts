import { expect, test } from 'vitest';
import { askWorlds, heldOf, PLAIN } from '../../../bench/sitemap-effect.js';

/** Few, so that chance has room: `npm run bench:sitemap-effect` asks more, in more scenarios. */
const WORLDS = 24;
const LEAST_HELD = 0.8;

test.each([0, 10])('the range of an effect of %i points holds it', async (effect) => {
  const asked = await askWorlds({ scenario: PLAIN, effect, seed: 1_000, worlds: WORLDS });
  expect(asked.filter(({ answer }) => answer?.effect_points != null).length).toBeGreaterThan(WORLDS / 2);
  expect(heldOf(asked)).toBeGreaterThanOrEqual(LEAST_HELD);
  const helped = asked.filter(({ answer }) => answer?.verdict === 'helped').length;
  if (effect === 0) expect(helped).toBeLessThan(WORLDS / 6);
  else expect(helped).toBeGreaterThan(WORLDS / 6);
});

test('a crash that hits whole directories of joined pages is not called an effect of the sitemap', async () => {
  const scenario = { ...PLAIN, crash: 'theirs', whole: 1 } as const;
  const asked = await askWorlds({ scenario, effect: 0, seed: 2_000, worlds: WORLDS });
  expect(asked.map(({ answer }) => answer?.verdict)).not.toContain('fell behind');
  expect(asked.map(({ answer }) => answer?.verdict)).toContain('cannot tell');
});
