import { test } from 'vitest';
import { ENDINGS } from '../given/endings.js';
import { A_FEW, playEnding } from './play-ending.js';

test.each(ENDINGS.filter(({ name }) => !A_FEW.includes(name)))(
  'if $name, every face says the same: exit code $exitCode',
  playEnding,
);
