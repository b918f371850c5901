import { expect, test } from 'vitest';
import { A_FEW, expectRecovered, givenRecovery, STEPS } from './given-recovery.js';

test('a run that died behind any step is recovered as if it had not died', async () => {
  const steps = STEPS.filter((step) => !A_FEW.includes(step));
  expect(steps).toHaveLength(STEPS.length - A_FEW.length);
  const world = await givenRecovery(steps);
  for (const step of steps) await expectRecovered(world, step);
});
