import fc from 'fast-check';
import { afterAll } from 'vitest';
import { endFile } from './given/folder.js';

/** The same cases in every run, so that a change that fails is the change's fault. Another number tries others. */
fc.configureGlobal({ seed: Number(process.env['INDEXHOUSE_TEST_SEED'] ?? 1) });

afterAll(endFile);
