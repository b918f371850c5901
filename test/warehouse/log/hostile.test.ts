import { expect, test } from 'vitest';
import { CASES, expectNothingOutside, givenInterrupted } from './hostile.js';

const home = givenInterrupted();

test.for([
  ['tmp as a link', 'note'],
  ['the state of a website as a link', 'sync'],
  ['a date as a link', 'maintain'],
  ['the spill folder of a journal as a link', 'sync'],
  ['a staged commit with an id that leads out', 'sync'],
  ['an index with an id that leads out', 'note'],
] as const)('%s leads to nothing outside of the warehouse', async ([name, work]) => {
  const planted = CASES.find(([one]) => one === name) ?? expect.fail(`there is no case ${name}`);
  await expectNothingOutside(home(), planted, [work]);
});
